package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/conformance/targets/kfake"
)

// serveCommand serves what is no broker of its own, for people who want to look at it with their clients.
func serveCommand() *cobra.Command {
	port := 0
	cmd := &cobra.Command{
		Use:   "serve kfake|impl",
		Short: "Serve kfake or the reference coordinator on a port until interrupted",
		Long: "Serve listens on 127.0.0.1, prints the address and serves franz-go's fake cluster (kfake) or Muster's reference coordinator (impl) until it is interrupted.\n" +
			"Its settings make groups testable, as those of muster kafka start do: no initial rebalance delay, sessions from 10 ms. A real Kafka is run by muster kafka start.",
		Example: "  muster serve kfake --port 9092\n  muster serve impl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if port < 0 || port > 65535 {
				return usage("--port %d: want a port from 1 to 65535, or 0 for a free one", port)
			}
			return serve(cmd, args[0], port)
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "port on 127.0.0.1; 0 picks a free one")
	return cmd
}

func serve(cmd *cobra.Command, name string, port int) error {
	p := newProgress(cmd.ErrOrStderr())
	var addr string
	var stop func() error
	var err error
	switch name {
	case "kfake":
		var end func()
		addr, end, err = kfake.Listen(port)
		stop = func() error { end(); return nil }
	case "impl":
		addr, stop, err = embedded.Listen(port, embedded.Options{Report: func(err error) { p.say("%v", err) }})
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
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), addr); err != nil {
		stop()
		return unavailable(err)
	}
	p.say("%s serves groups at %s. Interrupt to stop it; in another terminal: muster verify %s", name, addr, addr)
	<-cmd.Context().Done()
	return unavailable(stop())
}
