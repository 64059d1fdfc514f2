//go:build !linux

package rdkafka

import "syscall"

func processAttr() *syscall.SysProcAttr { return nil }
