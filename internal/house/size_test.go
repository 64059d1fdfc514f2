package house

import (
	"fmt"
	"testing"
)

// maxLines bounds a Go file: one that grows longer has more than one concern.
const maxLines = 600

func againstSize(all []source) []string {
	var faults []string
	for _, s := range all {
		if s.lines > maxLines {
			faults = append(faults, fmt.Sprintf("%s has %d lines, more than %d: split it by concern", s.path, s.lines, maxLines))
		}
	}
	return faults
}

func TestFileSize(t *testing.T) {
	all, err := sources(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range againstSize(all) {
		t.Error(fault)
	}
}
