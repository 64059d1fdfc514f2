package main

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/kfake"
	"github.com/muster-kafka/muster/impl/core"
	demand "github.com/muster-kafka/muster/impl/faults"
	"github.com/muster-kafka/muster/impl/server"
	"github.com/muster-kafka/muster/impl/store"
	"github.com/muster-kafka/muster/internal/input"
)

// maxNodes bounds a cluster in one process.
const maxNodes = 20

// serveFlags are what serve is told.
type serveFlags struct {
	listen, admin, faults string
	port, nodes           int
	data                  dataFlags
}

// serveCommand serves the reference coordinator, and kfake, for people who want to look at them with their clients.
func serveCommand() *cobra.Command {
	f := serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve [impl|kfake]",
		Short: "Serve the reference coordinator (impl), or kfake, to your own clients until interrupted",
		Long: "Serve listens on this machine and serves Muster's reference coordinator to real clients until it is interrupted; topics, records and transactions come from franz-go's fake\n" +
			"cluster (kfake). It prints the addresses of its nodes. Faults on demand, several nodes, metrics: docs/serve.md.\n" +
			"serve kfake serves kfake alone. Both make groups testable, as muster kafka start does: no initial rebalance delay, sessions from 10 ms. A real Kafka is run by muster kafka start.",
		Example: "  muster serve\n  muster serve --nodes 3 --faults faults.txt --admin 127.0.0.1:9644\n  muster serve --data groups --durability fsync\n  muster serve kfake --port 0",
		Args:    takes(0, 1, "one coordinator to serve, impl or kfake, or nothing for impl"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "impl"
			if len(args) == 1 {
				name = args[0]
			}
			return serve(cmd, name, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:9092", "`HOST:PORT` of the first node, on this machine; those of the others follow port by port. Port 0 picks free ones")
	flags.IntVar(&f.port, "port", 9092, "short for --listen 127.0.0.1:PORT")
	flags.IntVar(&f.nodes, "nodes", 1, fmt.Sprintf("how many nodes, 1 to %d; not with kfake", maxNodes))
	flags.StringVar(&f.faults, "faults", "", "`FILE` that says what is to happen to which request (docs/serve.md); not with kfake")
	flags.StringVar(&f.admin, "admin", "", "`HOST:PORT` on this machine for GET /metrics, /groups and /faults; not with kfake")
	f.data.add(cmd)
	cmd.MarkFlagsMutuallyExclusive("listen", "port")
	return cmd
}

func serve(cmd *cobra.Command, name string, f serveFlags) error {
	if cmd.Flags().Changed("port") {
		if f.port < 0 || f.port > 65535 {
			return usage("--port %d: want a port from 1 to 65535, or 0 for a free one", f.port)
		}
		f.listen = net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port))
	}
	if err := local("--listen", f.listen); err != nil {
		return err
	}
	p := newProgress(cmd.ErrOrStderr())
	var s served
	var err error
	switch name {
	case "kfake":
		for _, only := range []string{"nodes", "faults", "admin"} {
			if cmd.Flags().Changed(only) {
				return usage("--%s is for the reference coordinator (muster serve), not for kfake", only)
			}
		}
		s, err = serveFake(cmd, f)
	case "impl":
		s, err = serveReference(cmd, f, p)
	default:
		hint := ""
		if near := conformance.Nearest(name, []string{"kfake", "impl"}); near != "" {
			hint = fmt.Sprintf("; do you mean %s?", near)
		}
		return usage("%q cannot be served: want kfake or impl%s; muster kafka start VERSION runs a real Kafka", name, hint)
	}
	if err != nil {
		return unavailable(err)
	}
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), s.addrs); err != nil {
		return unavailable(errors.Join(err, s.stop()))
	}
	first, _, _ := strings.Cut(s.addrs, ",")
	p.say("%s serves groups at %s. Interrupt to stop it; in another terminal: muster verify %s", name, s.addrs, first)
	<-cmd.Context().Done()
	return unavailable(s.stop())
}

// served is what is being served.
type served struct {
	addrs string // of its nodes, as clients take them
	stop  func() error
}

// local refuses an address that others could come to: nobody is asked who they are.
func local(flag, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return usage("%s %s: want HOST:PORT, such as 127.0.0.1:9092", flag, addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return usage("%s %s: want a port from 1 to 65535, or 0 for a free one", flag, addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usage("%s %s: only addresses of this machine are served, such as 127.0.0.1, since nobody is asked who they are", flag, addr)
	}
	return nil
}

func serveFake(cmd *cobra.Command, f serveFlags) (served, error) {
	if err := f.data.valid(cmd); err != nil {
		return served{}, err
	}
	host, port, _ := net.SplitHostPort(f.listen)
	if host != "127.0.0.1" && host != "localhost" {
		return served{}, usage("--listen %s: kfake listens on 127.0.0.1 only", f.listen)
	}
	n, _ := strconv.Atoi(port)
	addr, end, err := kfake.Listen(n, kfake.Kept{Dir: f.data.dir, Sync: f.data.durability == string(store.Fsync), Log: cmd.ErrOrStderr()})
	return served{addr, func() error { end(); return nil }}, err
}

// heapFloor is how much memory the reference coordinator has at least, as the garbage collector sees it. Nobody touches it, so the system has not to give it:
// it lets as much garbage come together before there is a collection. Those of a server of few groups would else be there every few milliseconds.
const heapFloor = 32 << 20

func serveReference(cmd *cobra.Command, f serveFlags, p *progress) (served, error) {
	if f.nodes < 1 || f.nodes > maxNodes {
		return served{}, usage("--nodes %d: want 1 to %d", f.nodes, maxNodes)
	}
	o := server.ClusterOptions{
		Addr: f.listen, Nodes: f.nodes, Admin: f.admin, Report: func(err error) { p.say("%v", err) },
		Settings: core.Settings{MinSessionTimeout: 10 * time.Millisecond, Transactions: true},
	}
	if f.admin != "" {
		if err := local("--admin", f.admin); err != nil {
			return served{}, err
		}
	}
	if f.faults != "" {
		text, err := input.Read(cmd.Context(), f.faults, input.Text)
		if err != nil {
			return served{}, usage("--faults %s: %w", f.faults, err)
		}
		if o.Faults, err = demand.Parse(f.faults, string(text), server.Faultable(), f.nodes); err != nil {
			return served{}, usage("%w\nmuster: what a line may say is in docs/serve.md", err)
		}
	}
	c, stop, err := startKept(cmd, o, &f.data, p)
	if err != nil {
		return served{}, err
	}
	if at := c.AdminAddr(); at != "" {
		p.say("metrics, groups and faults are at http://%s/metrics, /groups and /faults", at)
	}
	floor := make([]byte, heapFloor)
	return served{strings.Join(c.Addrs(), ","), func() error {
		err := stop()
		runtime.KeepAlive(floor)
		for _, s := range o.Faults.Status() {
			if s.Happened == 0 {
				p.say("%s:%d: never happened: %s", f.faults, s.Line, s.Text)
			}
		}
		return err
	}}, nil
}
