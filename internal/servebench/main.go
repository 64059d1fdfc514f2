// Command servebench measures muster serve beside kfake and real Kafka, in one run, and writes docs/bench-serve.md.
//
//	go run ./internal/servebench [--out FILE] [--rounds N] [--time D] [--only LINE,...] [--servers NAME,...]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

type options struct {
	out, muster, kafka, only, servers string
	rounds                            int
	time                              time.Duration
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == probeCommand {
		d, err := time.ParseDuration(os.Args[3])
		if err == nil {
			err = timeBeats(os.Stdout, os.Args[2], d)
		}
		end(err)
		return
	}
	var o options
	flag.StringVar(&o.out, "out", "", "`FILE` to write the page to; without it only the table is printed")
	flag.StringVar(&o.muster, "muster", "bin/muster", "the muster command")
	flag.StringVar(&o.kafka, "kafka", "4.3.1", "the release of Kafka")
	flag.StringVar(&o.only, "only", "", "lines to measure, by their beginnings, separated by commas; all by default")
	flag.StringVar(&o.servers, "servers", "", "servers to measure, separated by commas, such as `muster os,kfake`; all by default")
	flag.IntVar(&o.rounds, "rounds", 5, "how often each line is measured on each server")
	flag.DurationVar(&o.time, "time", 2*time.Second, "how long, each time")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	end(bench(ctx, o))
}

func end(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "servebench: %v\n", err)
		os.Exit(1)
	}
}

// chosen reports whether a name is on a list; an empty list has all.
func chosen(list, name string) bool {
	return list == "" || slices.ContainsFunc(strings.Split(list, ","), func(s string) bool { return strings.HasPrefix(name, strings.TrimSpace(s)) })
}

// bench starts all servers, measures each line on each of them in turn, round after round, and tells the medians.
func bench(ctx context.Context, o options) (err error) {
	var servers []*server
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.stop())
		}
	}()
	for _, starter := range starters {
		if !chosen(o.servers, starter.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "starting %s\n", starter.name)
		s, err := starter.start(ctx, o)
		if err != nil {
			return fmt.Errorf("%s: %w", starter.name, err)
		}
		s.name = starter.name
		servers = append(servers, s)
		if err := s.prepare(); err != nil {
			return err
		}
	}
	r := newReport(o, servers)
	for _, l := range lines {
		if !chosen(o.only, l.name) {
			continue
		}
		for round := range o.rounds + 1 {
			for i, s := range servers {
				if err := ctx.Err(); err != nil {
					return err
				}
				d := o.time
				if round == 0 { // warms up, and does not count
					d = max(o.time, 2*time.Second)
				}
				before := spent(s.pid)
				got, err := l.measure(ctx, s.addr, d)
				if err != nil {
					return fmt.Errorf("%s on %s: %w", l.name, s.name, err)
				}
				r.take(l, i, round, got, spent(s.pid)-before)
				if got.after != nil {
					if err := got.after(); err != nil {
						return fmt.Errorf("%s on %s, when it was over: %w", l.name, s.name, err)
					}
				}
			}
		}
		fmt.Print(r.text(l))
	}
	if err := r.finish(); err != nil {
		return err
	}
	fmt.Print(r.foot())
	if o.out == "" {
		return nil
	}
	return os.WriteFile(o.out, []byte(r.page()), 0o644)
}
