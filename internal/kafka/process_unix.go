//go:build unix && !linux

package kafka

import (
	"os"
	"syscall"
)

func brokerAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func guardAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
