package rdkafka

import "syscall"

// processAttr puts the process into a group of its own, where Ctrl-C does not reach it: we end it in order.
func processAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
