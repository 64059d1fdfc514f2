package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

const preface = `<!-- Written by make bench-serve. Do not edit. -->

# How fast muster serve is

` + "`muster serve`" + ` beside franz-go's fake cluster and real Kafka: the same requests to each of them in turn, in one run. All run at the same time on the same machine as
the client; only one of them is asked something at a time. The client knows no more of the protocol than it has to, so that it is not what is measured: each line says how many
connections it has, and how many requests are on their way on each. It looks at every answer, and the run ends where one is wrong.

Compare within a line of one run, nothing else: on a machine that is busy with other work, as the one below may have been, all numbers are lower and lie further apart. On a quiet machine:

    make bench-serve

`

// page is docs/bench-serve.md.
func (r *report) page() string {
	var b strings.Builder
	b.WriteString(preface)
	fmt.Fprintf(&b, "%s, Go %s, %s/%s, %d processors, load average %s before the run and %s after; other processes had %.0f %% of the processors in between. ",
		r.begun.UTC().Format(time.DateOnly), strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), r.load, loadAverage(), 100*r.foreign)
	fmt.Fprintf(&b, "Medians of %d measurements of %v for each number, after one that does not count: one server after the other, and again from the first. ", r.o.rounds, r.o.time)
	fmt.Fprintf(&b, "To append 512 bytes to a file and sync it takes %v there.\n\n", r.fsync.Round(10*time.Microsecond))
	b.WriteString("| server | what it is |\n| --- | --- |\n")
	for _, s := range r.servers {
		fmt.Fprintf(&b, "| %s | %s |\n", s.name, s.what+r.versionOf(s))
	}
	b.WriteString("\n## The numbers\n\n" + r.header("line", "unit"))
	for _, l := range r.measured() {
		fmt.Fprintf(&b, "| %s | %s |", l.name, l.unit)
		for i := range r.servers {
			v, _ := r.median(l, i)
			fmt.Fprintf(&b, " %s |", number(v))
		}
		for i := range r.servers[1:] {
			fmt.Fprintf(&b, " %s |", r.against(l, i+1))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\nA ratio says how many times better %s is in that line. For milliseconds, less is better.\n", r.servers[0].name)
	b.WriteString(r.behind())
	b.WriteString("\n## What a request costs\n\nThe server's own processor time for each request of the line, in microseconds. Other work on the machine hardly changes it.\n\n" + r.header("line", "requests"))
	for _, l := range r.measured() {
		if l.lower {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |", l.name, l.each)
		for i := range r.servers {
			_, cost := r.median(l, i)
			fmt.Fprintf(&b, " %.1f |", cost.Seconds()*1e6)
		}
		_, ours := r.median(l, 0)
		for i := range r.servers[1:] {
			_, theirs := r.median(l, i+1)
			fmt.Fprintf(&b, " %.1fx |", float64(theirs)/float64(max(ours, 1)))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n## The lines\n\n")
	for _, l := range r.measured() {
		fmt.Fprintf(&b, "- **%s**: %s\n", l.name, l.what)
	}
	b.WriteString(epilogue)
	return b.String()
}

const epilogue = `
## What limits it

- Writes (commit, groups created, lifetimes, rebalances): kfake keeps nothing of a group, and here each write is in the log before it is answered; "kfake kept", which keeps offsets and the
  settings of groups in files, though not their members, is the fairer one to compare with. Under ` + "`os`" + ` the goroutine that
  has read a request does what the coordinator has to do and writes the log, with one system call; where several write at a time, one of them does it for all.
  Pebble, which keeps the tables, hears of several writes at a time, and costs about as much again. With ` + "`fsync`" + ` a commit changes goroutines three times (to the log's
  writer, to Pebble's flusher, and back). Half of what a commit costs are the system calls that bring the request and take the answer, as with kfake; a sixth is the journal and Pebble.
- A group that is created costs more than with kfake: besides the write it has timers, in the coordinator and in the queue of the server, and numbers for ` + "`/metrics`" + `; each is a map of all
  groups, which are more than the processor's caches have room for.
- Rebalances of one group: its members all ask to join, all are told, all sync, and all are told, and each of these waits for the one before. What the client does in them is
  the same for every server, and with muster serve it is two fifths of all processor time. So there are fewer than twice as many as with Kafka, although each costs less than half
  (the second table).
- The 99th percentile flat out: 500 connections always have a request on its way. Go asks the network for more only once nobody has anything to do, so a heartbeat once waited for about as
  many others. From 64 busy connections on their requests wait for each other now, and one processor is kept for what is quick (` + "`impl/server/gate.go`" + `).

## Without a network

    go test -run '^$' -bench Beat ./impl/core   # heartbeats through the coordinator alone, and what they allocate
    go test -run '^$' -bench Day -benchtime 1x ./impl/sim   # 24 hours of ten groups on virtual time
    MUSTER_BENCH=1 go test -run '^TestVirtualLifetimes$' -v ./impl/server   # lifetimes of groups on virtual time over a network in memory, beside kfake
    make bench-store   # the log alone, a load of 100,000 groups, and their memory

` + "`make bench-serve`" + ` prints these too.
`

// header is that of a table with a column for each server and one for each that the first one is compared with.
func (r *report) header(first, second string) string {
	head, rule := "| "+first+" | "+second+" |", "| --- | --- |"
	for _, s := range r.servers {
		head += " " + s.name + " |"
		rule += " ---: |"
	}
	for _, s := range r.servers[1:] {
		head += " to " + s.name + " |"
		rule += " ---: |"
	}
	return head + "\n" + rule + "\n"
}

func (r *report) measured() (some []line) {
	for _, l := range lines {
		if r.samples[l.name] != nil {
			some = append(some, l)
		}
	}
	return some
}

// behind names the lines in which the first server is not ahead of all that keep no more than it does.
func (r *report) behind() string {
	var names []string
	for _, l := range r.measured() {
		ours, _ := r.median(l, 0)
		for i, s := range r.servers {
			theirs, _ := r.median(l, i)
			if i > 0 && s.name != "muster fsync" && (theirs > ours) != l.lower && theirs != ours {
				names = append(names, l.name+" (to "+s.name+")")
			}
		}
	}
	if len(names) == 0 {
		return "It is ahead in every line.\n"
	}
	return "**It is not ahead in**: " + strings.Join(names, ", ") + ".\n"
}

// versionOf is what is known of a server's version.
func (r *report) versionOf(s *server) string {
	switch s.name {
	case "kfake":
		if info, ok := debug.ReadBuildInfo(); ok {
			for _, m := range info.Deps {
				if strings.HasSuffix(m.Path, "/kfake") {
					return ", " + m.Version
				}
			}
		}
	case "kafka":
		return ""
	default:
		if out, err := exec.Command(r.o.muster, "version").Output(); err == nil {
			first, _, _ := strings.Cut(string(out), "\n")
			return ", " + first
		}
	}
	return ""
}
