package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/internal/verdict"
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

// reports are the files in which a verdict can be had besides the table.
type reports struct{ json, junit, folder string }

func (r *reports) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.json, "json", "", "write the verdict as JSON to this `file`")
	cmd.Flags().StringVar(&r.junit, "junit", "", "write the verdict as JUnit XML to this `file`")
}

// folderFlag is for the commands all of whose artefacts go to one folder.
func (r *reports) folderFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.folder, "report", "", "write all that the run leaves to this `folder`, with index.html for a browser, verdict.json and verdict.txt")
}

// out is the folder for artefacts.
func (r *reports) out() string { return orElse(r.folder, outDir) }

// outputs are those that were asked for.
func (r *reports) outputs(v *verdict.Verdict) ([]output, error) {
	var outputs []output
	for _, o := range []output{{"json", r.json, v.WriteJSON}, {"junit", r.junit, v.WriteJUnit}} {
		if o.path != "" {
			outputs = append(outputs, o)
		}
	}
	if r.folder == "" {
		return outputs, nil
	}
	if err := os.MkdirAll(r.folder, 0o755); err != nil {
		return nil, unavailable(fmt.Errorf("--report: %w; nothing was judged, give a folder that can be written", err))
	}
	index := func(w io.Writer) error { return v.WriteHTML(w, r.folder) }
	for _, o := range []output{{"report", "verdict.json", v.WriteJSON}, {"report", "verdict.txt", plainly(v.WriteTable)}, {"report", "index.html", index}} {
		o.path = filepath.Join(r.folder, o.path)
		outputs = append(outputs, o)
	}
	return outputs, nil
}

// conclude writes a verdict that is closed, and ends the command with its exit code.
func conclude(cmd *cobra.Command, v *verdict.Verdict, outputs []output) error {
	written := writeAll(outputs) // before the table, which tells the exit code
	if written != nil {
		v.NotWritten()
	}
	told := v.WriteTable(plain{cmd.OutOrStdout()})
	if err := errors.Join(told, written); err != nil {
		v.NotWritten()
		fmt.Fprintf(cmd.ErrOrStderr(), "muster: the verdict is %s, but it could not be written: %v\n", v.Result, err)
	}
	if code := v.ExitCode(); code != verdict.ExitPass {
		return &codedError{code: code}
	}
	return nil
}
