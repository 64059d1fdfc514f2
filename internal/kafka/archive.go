package kafka

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// classArchive is a JVM's own archive of loaded classes, which takes a third off the start. The first broker of a release writes
// it as it ends; later ones read it.
type classArchive struct {
	file   string // where it is, or will be
	read   bool
	part   string // set while the running broker is to write it
	unlock func()
}

// openArchive reads the archive that fits these jars and this Java if there is one, else lets this broker write it, unless another
// one is about to.
func (r release) openArchive(java javaRuntime) classArchive {
	key := sha256.Sum256([]byte(java.identity + "\n" + strings.Join(jvmFlags, " ") + "\n" + r.classPath()))
	a := classArchive{file: filepath.Join(r.cache, fmt.Sprintf("classes-%x.jsa", key[:8]))}
	if a.valid() {
		a.read = true
		return a
	}
	unlock, held, err := tryLock(filepath.Join(r.cache, "archive.lock"))
	if err != nil || !held {
		return a
	}
	if _, err := os.Stat(a.file + ".off"); err == nil {
		unlock() // this Java cannot write one
		return a
	}
	a.unlock, a.part = unlock, a.file+".part"
	return a
}

func (a classArchive) args() []string {
	quiet := []string{"-Xlog:disable", "-Xlog:all=error:stdout"} // an archive that does not fit is only worth a warning
	switch {
	case a.read:
		return append([]string{"-Xshare:auto", "-XX:SharedArchiveFile=" + a.file}, quiet...)
	case a.part != "":
		return append([]string{"-XX:ArchiveClassesAtExit=" + a.part}, quiet...)
	}
	return nil
}

// valid compares the archive's size with the one noted when it was complete: a JVM maps the file without reading all of it.
func (a classArchive) valid() bool {
	note, err := os.ReadFile(a.file + ".size")
	if err != nil {
		return false
	}
	st, err := os.Stat(a.file)
	return err == nil && strings.TrimSpace(string(note)) == strconv.FormatInt(st.Size(), 10)
}

// finish keeps what the broker has written, if its end was an orderly one.
func (a *classArchive) finish(clean bool) {
	if a.part == "" {
		return
	}
	defer a.unlock()
	part := a.part
	a.part = ""
	st, err := os.Stat(part)
	if !clean || err != nil || st.Size() == 0 {
		_ = os.Remove(part)
		if clean {
			_ = os.WriteFile(a.file+".off", nil, 0o644)
		}
		return
	}
	// The archive is only a matter of speed: if it cannot be kept, the next broker starts without it.
	if os.Rename(part, a.file) == nil {
		_ = os.WriteFile(a.file+".size", []byte(strconv.FormatInt(st.Size(), 10)), 0o644)
	}
}
