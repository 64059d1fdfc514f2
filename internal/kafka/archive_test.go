package kafka

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestArchive follows an archive from its first run to one that cannot be trusted.
func TestArchive(t *testing.T) {
	rel := release{cache: t.TempDir(), jars: []string{"a.jar"}}
	java := javaRuntime{identity: "one"}
	has := func(a classArchive, flag string) bool { return strings.Contains(strings.Join(a.args(), " "), flag) }

	first := rel.openArchive(java)
	if !has(first, "-XX:ArchiveClassesAtExit=") {
		t.Fatalf("the first run does not write: %q", first.args())
	}
	if second := rel.openArchive(java); len(second.args()) != 0 {
		t.Errorf("a second run at the same time: %q", second.args())
	}
	if err := os.WriteFile(first.part, []byte("classes"), 0o644); err != nil {
		t.Fatal(err)
	}
	first.finish(false)
	again := rel.openArchive(java)
	if !has(again, "-XX:ArchiveClassesAtExit=") {
		t.Fatalf("after a run that was killed: %q", again.args())
	}
	if err := os.WriteFile(again.part, []byte("classes"), 0o644); err != nil {
		t.Fatal(err)
	}
	again.finish(true)
	if a := rel.openArchive(java); !has(a, "-XX:SharedArchiveFile="+filepath.Join(rel.cache, "classes-")) {
		t.Errorf("after a clean run: %q", a.args())
	}
	other := rel.openArchive(javaRuntime{identity: "two"})
	if !has(other, "-XX:ArchiveClassesAtExit=") {
		t.Errorf("with another Java: %q", other.args())
	}
	other.finish(true) // it has written nothing: not tried again
	if a := rel.openArchive(javaRuntime{identity: "two"}); len(a.args()) != 0 {
		t.Errorf("with a Java that writes none: %q", a.args())
	}
	if err := os.Truncate(again.file, 3); err != nil {
		t.Fatal(err)
	}
	if a := rel.openArchive(java); has(a, "SharedArchiveFile") {
		t.Errorf("a cut archive is used: %q", a.args())
	} else {
		a.finish(false)
	}
}
