package model_test

import (
	"testing"

	"github.com/muster-kafka/muster/conformance"
)

// The specification accepts every recorded text.
func TestScenarios(t *testing.T) {
	for _, name := range []string{"model", "model:4.0.2", "model:3.9.2", "model:reference"} {
		t.Run(name, func(t *testing.T) {
			conformance.RunSuite(t, open(t, name, nil), conformance.Suite{Slow: true, OutDir: t.TempDir()})
		})
	}
}
