//go:build !unix

package kafka

import (
	"errors"
	"os"
	"syscall"
)

func brokerAttr() *syscall.SysProcAttr { return nil }

func guardAttr() *syscall.SysProcAttr { return nil }

func terminate(p *os.Process) error { return p.Kill() } // there is no gentler way

func freeze(*os.Process) error { return errors.ErrUnsupported }

func thaw(*os.Process) error { return errors.ErrUnsupported }
