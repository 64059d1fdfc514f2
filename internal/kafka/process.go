package kafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// process is a running broker with its guard. It is waited for by one goroutine for as long as it lives.
type process struct {
	cmd    *exec.Cmd
	guard  *guard
	exited chan struct{}
	err    error // of Wait; read it only after exited is closed
}

// startProcess starts the command in a process group of its own, so that Ctrl-C reaches us alone and we end it in order. The
// kernel ends it should we die (where the kernel can do that), and the guard does so everywhere, and removes the folder.
func startProcess(path string, args []string, dir string, log *os.File, removable string) (*process, error) {
	p := &process{cmd: exec.Command(path, args...), exited: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, log, log
	p.cmd.SysProcAttr = brokerAttr()
	started := make(chan error)
	go func() {
		// The parent-death signal fires when the starting *thread* ends, so the thread must be kept until the process is gone.
		// It is not unlocked: it ends with the goroutine.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	g, err := startGuard(p.cmd.Process.Pid, removable)
	if err != nil {
		_ = p.cmd.Process.Kill()
		<-p.exited
		return nil, err
	}
	p.guard = g
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *process) waitErr() error { return p.err }

// kill ends the process at once and waits until it is gone.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing process %d: %w", p.pid(), err)
	}
	<-p.exited
	return p.guard.dismiss()
}

// terminate asks the process to end, and ends it by force when the context does. It says whether the end was an orderly one.
func (p *process) terminate(ctx context.Context) (clean bool, err error) {
	if p.ended() {
		return false, p.guard.dismiss()
	}
	if err := terminate(p.cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return false, errors.Join(fmt.Errorf("stopping process %d: %w", p.pid(), err), p.kill())
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
		return false, p.kill()
	}
	return orderly(p.cmd.ProcessState), p.guard.dismiss()
}

// orderly tells an end that the Java shut itself down for from one by a signal that it did not survive.
func orderly(st *os.ProcessState) bool {
	const byTerm = 128 + int(syscall.SIGTERM) // how a JVM says that it ended in answer to SIGTERM
	return st.ExitCode() == byTerm || st.ExitCode() == 0
}
