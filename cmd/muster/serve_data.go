package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/impl/server"
	"github.com/muster-kafka/muster/impl/store"
)

// dataFlags say where groups and offsets are kept.
type dataFlags struct{ dir, durability string }

func (f *dataFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "data", "", "`DIR` that groups and offsets are kept in, and topics and records too, made if need be; without it they are gone with the process")
	cmd.Flags().StringVar(&f.durability, "durability", string(store.OS),
		"what is answered survives the end of the process and is on the disk within a second (`os`), or survives the end of the machine too (fsync); with --data")
}

// valid refuses flags that make no sense.
func (f *dataFlags) valid(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	switch d := store.Durability(f.durability); {
	case f.dir == "" && changed("data"):
		return usage("--data names no folder: leave it out to keep nothing")
	case f.dir == "" && changed("durability"):
		return usage("--durability is of what is kept: name a folder with --data")
	case d != store.OS && d != store.Fsync:
		return usage("--durability %s: want os or fsync", f.durability)
	}
	return nil
}

// open returns the log, nil where there is no folder for it, and what is to be told of the folder.
func (f *dataFlags) open(cmd *cobra.Command, report func(error)) (disk *store.Disk, remark string, err error) {
	if err := f.valid(cmd); err != nil || f.dir == "" {
		return nil, "", err
	}
	h := halves{f.dir}
	if remark, err = h.check(); err != nil {
		return nil, "", err
	}
	disk, err = store.Open(store.Options{Dir: h.groups(), Durability: store.Durability(f.durability), Report: report})
	return disk, remark, err
}

// startKept starts a cluster on what is kept, and waits until that is loaded. What is damaged is not served.
func startKept(cmd *cobra.Command, o server.ClusterOptions, f *dataFlags, p *progress) (*server.Cluster, func() error, error) {
	h := halves{f.dir}
	disk, remark, err := f.open(cmd, o.Report)
	if err != nil {
		return nil, nil, h.without(err)
	}
	end := func() error { return nil }
	if disk != nil {
		o.Log, end = disk, disk.Close
		o.Records, o.Sync = h.records(), f.durability == string(store.Fsync)
	}
	c, err := server.StartCluster(o)
	if err != nil {
		return nil, nil, errors.Join(h.without(err), end())
	}
	loaded, err := c.AwaitLoad(cmd.Context())
	if err == nil && disk != nil {
		err = h.begun()
	}
	if err != nil {
		return nil, nil, errors.Join(h.without(err), c.Close(), end())
	}
	if remark != "" {
		p.say("%s", remark)
	}
	if disk != nil {
		p.say("%s", tellLoaded(f.dir, loaded))
	}
	return c, func() error { return errors.Join(c.Close(), end()) }, nil
}

func tellLoaded(dir string, l store.Loaded) string {
	text := fmt.Sprintf("%d records of groups and offsets loaded from %s", l.Records, dir)
	if l.Unknown > 0 {
		text += fmt.Sprintf("; %d of other kinds of groups passed over", l.Unknown)
	}
	return text
}
