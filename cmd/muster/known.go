package main

import (
	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/internal/verdict"
)

// knownLists are the lists of known failures that a command takes and writes.
type knownLists struct{ given, write string }

func (k *knownLists) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.given, "known", "", "`file` that lists known failures, which do not count")
	cmd.Flags().StringVar(&k.write, "write-known", "", "write such a list of this run's failures to this `file`")
}

// read reads the list that is given, nil without one.
func (k *knownLists) read() (*verdict.KnownList, error) {
	if k.given == "" {
		return nil, nil
	}
	all, err := conformance.Scenarios()
	if err != nil {
		return nil, unavailable(err)
	}
	known, err := verdict.ReadKnown(k.given, scenarioNames(all))
	if err != nil {
		return nil, usage("--known: %v", err)
	}
	return known, nil
}

// outputs is the list that was asked for.
func (k *knownLists) outputs(v *verdict.Verdict) []output {
	if k.write == "" {
		return nil
	}
	return []output{{"write-known", k.write, v.WriteKnown}}
}
