package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is what has been measured.
type report struct {
	o       options
	servers []*server
	samples map[string][][]sample // by line, then server
	begun   time.Time
	busy    time.Duration // of everybody, when it began
	own     time.Duration
	served  time.Duration // by the servers
	load    string        // when it began
	fsync   time.Duration
	foreign float64 // share of the processors that others had
}

type sample struct {
	value float64
	cost  time.Duration // of the server's processor time for a request
}

func newReport(o options, servers []*server) *report {
	return &report{o: o, servers: servers, samples: map[string][][]sample{}, begun: time.Now(), busy: busy(), own: own(), served: total(servers), load: loadAverage()}
}

func total(servers []*server) (all time.Duration) {
	for _, s := range servers {
		all += spent(s.pid)
	}
	return all
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:1], " ")
}

// take keeps a result; that of the first round is thrown away.
func (r *report) take(l line, server, round int, got result, cost time.Duration) {
	if round == 0 {
		return
	}
	if r.samples[l.name] == nil {
		r.samples[l.name] = make([][]sample, len(r.servers))
	}
	r.samples[l.name][server] = append(r.samples[l.name][server], sample{got.value, cost / time.Duration(max(got.requests, 1))})
}

func (r *report) finish() (err error) {
	elapsed := time.Since(r.begun)
	others := busy() - r.busy - (own() - r.own) - (total(r.servers) - r.served)
	r.foreign = max(0, others.Seconds()/elapsed.Seconds()/float64(runtime.NumCPU()))
	r.fsync, err = syncLatency()
	return err
}

func (r *report) median(l line, server int) (value float64, cost time.Duration) {
	all := r.samples[l.name][server]
	var values []float64
	var costs []time.Duration
	for _, s := range all {
		values, costs = append(values, s.value), append(costs, s.cost)
	}
	slices.Sort(values)
	slices.Sort(costs)
	return values[len(values)/2], costs[len(costs)/2]
}

// against is how many times better the first server is than another one.
func (r *report) against(l line, server int) string {
	ours, _ := r.median(l, 0)
	theirs, _ := r.median(l, server)
	ratio := ours / theirs
	if l.lower {
		ratio = theirs / ours
	}
	return fmt.Sprintf("%.1fx", ratio)
}

func number(v float64) string {
	switch {
	case v >= 10_000:
		return fmt.Sprintf("%.1fk", v/1000)
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

func (r *report) text(l line) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s", l.name)
	for i, s := range r.servers {
		v, cost := r.median(l, i)
		fmt.Fprintf(&b, "  %s %s %s", s.name, number(v), l.unit)
		if !l.lower {
			fmt.Fprintf(&b, " (%.1f us)", cost.Seconds()*1e6)
		}
		if i > 0 {
			fmt.Fprintf(&b, " %s", r.against(l, i))
		}
	}
	return b.String() + "\n"
}

func (r *report) foot() string {
	return fmt.Sprintf("load average %s before and %s after; other processes had %.0f %% of %d processors; fsync of 512 bytes takes %s\n",
		r.load, loadAverage(), 100*r.foreign, runtime.NumCPU(), r.fsync.Round(time.Microsecond))
}
