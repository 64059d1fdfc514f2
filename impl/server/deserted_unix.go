//go:build unix

package server

import (
	"net"
	"syscall"
)

// deserted says whether the client of a connection has closed it, without taking anything from what it has sent. Where there is more to read nobody knows yet.
func deserted(c net.Conn) bool {
	s, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	n := 1
	if raw.Control(func(fd uintptr) { n, _, err = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK) }) != nil {
		return false
	}
	return n == 0 && err == nil || err == syscall.ECONNRESET
}
