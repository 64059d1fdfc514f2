package kafka

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// guard is a small shell that outlives us, however we end (a panic, a test's timeout, SIGKILL): it reads from a pipe whose other
// end only we hold. A line means that all is well; the end of the file without one means that we are gone, and it ends the
// broker and removes its temporary folder. It sits in a process group of its own, where Ctrl-C does not reach it.
type guard struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// guardScript gets the broker's pid and the folder to remove, which may be empty. The kill comes first and again, since what a dying
// process still writes would bring the folder back; the number of tries bounds it all.
const guardScript = `trap '' INT HUP TERM
read -r word && exit 0
i=0
while [ $i -lt 50 ]; do
  kill -9 "$1" 2>/dev/null
  sleep 0.1
  [ -z "$2" ] && exit 0
  rm -rf "$2"
  [ -e "$2" ] || exit 0
  i=$((i+1))
done`

func startGuard(pid int, dir string) (*guard, error) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		return &guard{}, nil // no shell, no guard: Stop still cleans up
	}
	cmd := exec.Command(sh, "-c", guardScript, "muster-kafka-guard", strconv.Itoa(pid), dir)
	cmd.Dir = os.TempDir()
	cmd.SysProcAttr = guardAttr()
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the guard of the broker: %w", err)
	}
	return &guard{cmd: cmd, pipe: pipe}, nil
}

// dismiss ends the guard after the broker has ended; more than once does nothing.
func (g *guard) dismiss() error {
	if g.cmd == nil {
		return nil
	}
	cmd := g.cmd
	g.cmd = nil
	_, werr := io.WriteString(g.pipe, "done\n")
	return errors.Join(werr, g.pipe.Close(), cmd.Wait())
}
