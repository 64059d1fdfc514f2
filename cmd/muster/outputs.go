package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// output is a file that the run will be written to at its end.
type output struct {
	flag, path string
	write      func(io.Writer) error
}

// writable opens each file once before anything is judged: a path that cannot be written should not cost a run.
func writable(outputs []output) error {
	for _, o := range outputs {
		f, err := os.OpenFile(o.path, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return unavailable(fmt.Errorf("--%s: %w; nothing was judged, give a path that can be written", o.flag, err))
		}
		f.Close()
	}
	return nil
}

// writeAll writes the files; one that fails does not keep the others from being written.
func writeAll(outputs []output) error {
	var errs []error
	for _, o := range outputs {
		if err := writeFile(o); err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w; the verdict above stands, free some space or give another path", o.flag, err))
		}
	}
	return errors.Join(errs...)
}

func writeFile(o output) error {
	f, err := os.Create(o.path)
	if err != nil {
		return err
	}
	return errors.Join(o.write(f), f.Close())
}
