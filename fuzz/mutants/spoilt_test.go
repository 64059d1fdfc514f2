package mutants

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/spoil"
)

// spoilt makes one answer of each recorded history wrong, in turn and in every way that there is, and tells of each whether the judge of histories
// refuses it. What is drawn on the way depends on the key alone. pick says which to try; nil is all.
func spoilt(ctx context.Context, pick func(key string) bool, tell func(key, change string, verdict linearize.Verdict)) error {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		return err
	}
	for _, file := range files {
		h, problems, err := history.ReadFile(ctx, file)
		if err != nil || len(problems) > 0 {
			return fmt.Errorf("%s: %w %v", file, err, problems)
		}
		for i := range h.Calls {
			for _, change := range spoil.Changes {
				key := fmt.Sprintf("%s call %d: %s", filepath.Base(file), h.Calls[i].ID, change.Name)
				sum := fnv.New64a()
				_, _ = sum.Write([]byte(key))
				wrong, err := change.History(rand.New(rand.NewPCG(sum.Sum64(), 1)), h, i)
				if err != nil {
					return err
				}
				if wrong == nil || pick != nil && !pick(key) {
					continue
				}
				v, err := linearize.Check(ctx, wrong, linearize.Limits{Timeout: 20 * time.Second})
				if err != nil {
					return fmt.Errorf("%s: %w", key, err)
				}
				tell(key, change.Name, v)
			}
		}
	}
	return nil
}
