package mutants

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/internal/files"
)

// Judged is what became of a mutant.
type Judged struct {
	Judge   string  // the first that noticed it; empty for a survivor
	Seconds float64 // of the processor, until it did
	Detail  string  // what it found
}

// OwnTests stands for the unit tests of the part that is changed, which are no judge: they are asked when no judge has noticed, and counted apart.
const OwnTests = "own tests"

// Open stands for nobody yet: the cheap judges have not noticed, and the others have not been asked.
const Open = "?"

// judgedFile keeps which judge noticed which mutant, by the digest of its key, "-" where none did, Open where not all have been asked.
const judgedFile = "judged.txt"

const judgedHead = "# Which judge noticed which mutant, by the digest of its key; - is none, ? none so far. Written by make mutants and make mutants-new.\n"

func readJudged(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		digest, judge, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("%s:%d: %q is not a digest and a judge", file, i+1, line)
		}
		all[digest] = strings.TrimPrefix(judge, "-")
	}
	return all, nil
}

func writeJudged(file string, all map[string]string) error {
	var b strings.Builder
	b.WriteString(judgedHead)
	for _, digest := range slices.Sorted(maps.Keys(all)) {
		judge := all[digest]
		if judge == "" {
			judge = "-"
		}
		fmt.Fprintf(&b, "%s %s\n", digest, judge)
	}
	return files.Save(file, func(w io.Writer) error {
		_, err := io.WriteString(w, b.String())
		return err
	})
}
