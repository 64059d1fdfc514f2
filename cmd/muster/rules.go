package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/internal/coverage"
	"github.com/muster-kafka/muster/model/classic"
)

type rulesOptions struct {
	json     string
	coverage bool
}

func rulesCommand() *cobra.Command {
	var o rulesOptions
	cmd := &cobra.Command{
		Use:   "rules [FILTER]",
		Short: "List the rules, and with --coverage which of them have been put to the test in which states",
		Long: "Rules lists the rules of the specification whose ids contain FILTER, or all: id, class, the Kafka releases that follow it, and statement.\n" +
			"With --coverage each rule's cells follow, for each release: the state in which it decided and what came of it, how often exploration took it,\n" +
			"how many scenarios visit it, and one that a broker has been seen to follow. That takes a few seconds.",
		Example: "  muster rules sync\n  muster rules --coverage join.pending\n  muster rules --json rules.json",
		Args:    takes(0, 1, "one FILTER, or nothing for all rules"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, strings.Join(args, "")) },
	}
	cmd.Flags().StringVar(&o.json, "json", "", "write them to this `file` as JSON instead; - is the standard output")
	cmd.Flags().BoolVar(&o.coverage, "coverage", false, "with the cells of each rule")
	return cmd
}

// ruleJSON is a rule as --json writes it.
type ruleJSON struct {
	ID        string                `json:"id"`
	Class     string                `json:"class"`
	Releases  string                `json:"releases"`
	Statement string                `json:"statement"`
	Source    string                `json:"source"`
	Suffers   string                `json:"suffers"`
	Cells     map[string][]cellJSON `json:"cells,omitempty"` // by release
}

type cellJSON struct {
	State     string   `json:"state"`
	Outcome   string   `json:"outcome"`
	Explored  int      `json:"explored"`
	Scenarios []string `json:"scenarios"`
	Witness   string   `json:"witness,omitempty"`
	Exempt    string   `json:"exempt,omitempty"`
}

func (o *rulesOptions) run(cmd *cobra.Command, filter string) error {
	var rules []ruleJSON
	for _, r := range classic.Rules() {
		if strings.Contains(r.ID, filter) {
			rules = append(rules, ruleJSON{r.ID, r.Class.String(), r.Releases, r.Sentence, r.Source, r.Suffers, nil})
		}
	}
	if len(rules) == 0 {
		return usage("no rule's id contains %q; muster rules lists them all", filter)
	}
	if o.coverage {
		scenarios, err := conformance.Scenarios()
		if err != nil {
			return unavailable(err)
		}
		table, err := coverage.Compute(cmd.Context(), scenarios)
		if err != nil {
			return unavailable(err)
		}
		exempt, err := coverage.Exemptions()
		if err != nil {
			return unavailable(err)
		}
		for i := range rules {
			rules[i].Cells = cellsOf(table, exempt, rules[i].ID)
		}
	}
	if o.json == "" {
		return unavailable(printRules(cmd.OutOrStdout(), rules))
	}
	text, err := json.MarshalIndent(rules, "", " ")
	if err != nil {
		return unavailable(err)
	}
	if text = append(text, '\n'); o.json == "-" {
		_, err = cmd.OutOrStdout().Write(text)
	} else if err = os.WriteFile(o.json, text, 0o644); err != nil {
		err = fmt.Errorf("--json: %w; give a path that can be written, or - for the standard output", err)
	}
	return unavailable(err)
}

func cellsOf(table *coverage.Table, exempt []coverage.Exemption, rule string) map[string][]cellJSON {
	cells := map[string][]cellJSON{}
	for _, release := range coverage.Releases {
		for _, r := range table.Of(release) {
			if r.Rule.String() != rule {
				continue
			}
			c := cellJSON{r.State.String(), r.Outcome.String(), r.Reached, r.Scenarios, r.Witness, ""}
			if c.Scenarios == nil {
				c.Scenarios = []string{}
			}
			if r.Witness == "" {
				c.Exempt = coverage.Why(exempt, release, r.Cell)
			}
			cells[release] = append(cells[release], c)
		}
	}
	return cells
}

func printRules(w io.Writer, rules []ruleJSON) error {
	var b strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&b, "%s (%s, Kafka %s)\n  %s\n", r.ID, r.Class, r.Releases, r.Statement)
		for _, release := range coverage.Releases {
			if len(r.Cells[release]) > 0 {
				fmt.Fprintf(&b, "  %-7s %-19s %-7s %9s %9s  %s\n", release, "STATE", "OUTCOME", "EXPLORED", "SCENARIOS", "ON A BROKER")
			}
			for _, c := range r.Cells[release] {
				seen := c.Witness
				if seen == "" {
					seen = "never: " + c.Exempt
				}
				fmt.Fprintf(&b, "  %-7s %-19s %-7s %9d %9d  %s\n", "", c.State, c.Outcome, c.Explored, len(c.Scenarios), seen)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// witnessCommand is for those who work on Muster: it makes scenarios for cells that no broker has been seen in.
func witnessCommand() *cobra.Command {
	dir := "conformance/scenarios"
	cmd := &cobra.Command{
		Use:   "witness",
		Short: "Make scenarios for the cells of muster rules --coverage that no broker has been seen in",
		Long: "Witness looks for the shortest ways to cells that no scenario visits on a broker, and writes them as scenarios without text, cells-*.txt. Record\n" +
			"that from real brokers (muster run --rewrite), read it, and add what the reference does where it differs. It takes a minute.",
		Args:   takesNothing(),
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			scenarios, err := conformance.Load(dir)
			if err != nil {
				return unavailable(err)
			}
			table, err := coverage.Compute(cmd.Context(), scenarios)
			if err != nil {
				return unavailable(err)
			}
			files, left, err := coverage.Generate(cmd.Context(), table, scenarios)
			if err != nil {
				return unavailable(err)
			}
			out := cmd.OutOrStdout()
			for _, f := range files {
				path := filepath.Join(dir, f.Name+".txt")
				if err := os.WriteFile(path, []byte(f.Text), 0o644); err != nil {
					return unavailable(err)
				}
				fmt.Fprintf(out, "wrote %s\n", path)
			}
			for _, release := range coverage.Releases {
				for _, c := range left[release] {
					fmt.Fprintf(out, "%s: no way found to %s\n", release, c)
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", dir, "the `folder` of scenarios to read and to write to")
	return cmd
}
