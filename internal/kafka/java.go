package kafka

import (
	"os"
	"os/exec"
	"path/filepath"
)

// jvmFlags keep a broker small and quick to start; it is judged on what it answers, not on how fast.
var jvmFlags = []string{
	"-Xmx384m",
	"-XX:+UseSerialGC",
	"-XX:TieredStopAtLevel=1",
	"-XX:-UsePerfData", // leaves no file in the temporary folder
	"-Djava.awt.headless=true",
}

// javaRuntime is the java command and what tells it from another one.
type javaRuntime struct {
	path     string
	identity string // changes when the Java is replaced
}

// findJava takes the one of JAVA_HOME, else the first on PATH.
func findJava() (javaRuntime, error) {
	path := ""
	if home := os.Getenv("JAVA_HOME"); home != "" {
		if p, err := exec.LookPath(filepath.Join(home, "bin", "java")); err == nil {
			path = p
		}
	}
	if path == "" {
		p, err := exec.LookPath("java")
		if err != nil {
			return javaRuntime{}, ErrNoJava
		}
		path = p
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return javaRuntime{}, ErrNoJava
	}
	st, err := os.Stat(real)
	if err != nil {
		return javaRuntime{}, ErrNoJava
	}
	return javaRuntime{path: path, identity: real + " " + st.ModTime().UTC().String()}, nil
}
