// Package cputime tells how much of the processor this process has had: what a benchmark goes by on a machine that others use, too.
package cputime

import (
	"syscall"
	"time"
)

// Used is what this process has had so far, in user mode and in the kernel; 0 where the system does not tell.
func Used() time.Duration { return of(syscall.RUSAGE_SELF) }

// Children is what its children that have ended have had.
func Children() time.Duration { return of(syscall.RUSAGE_CHILDREN) }

func of(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
