package clients

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// pythonProgram installs what python/requirements.txt pins into a virtual environment.
func pythonProgram(file string) func(*workshop) ([]string, error) {
	return func(w *workshop) ([]string, error) {
		python, err := tool("python3", "python3-venv")
		if err != nil {
			return nil, err
		}
		dir, err := w.installed("python", []string{"python/requirements.txt"}, func(dir string) error {
			if err := do(dir, python, "-m", "venv", "venv"); err != nil {
				return errors.Join(missing{"a python3 that can make a virtual environment", "python3-venv"}, err)
			}
			requirements, err := filepath.Abs("python/requirements.txt")
			if err != nil {
				return err
			}
			return do(dir, "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements)
		})
		return []string{filepath.Join(dir, "venv/bin/python"), "-B", filepath.Join("python", file)}, err
	}
}

// jvm keeps a program small and quick to start.
var jvm = []string{"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"}

// javaMain installs the jars that java/pom.xml pins, compiles the programs of that folder, and runs a class.
func javaMain(class string) func(*workshop) ([]string, error) {
	return func(w *workshop) ([]string, error) {
		java, err := tool("java", "openjdk-17-jdk-headless")
		if err != nil {
			return nil, err
		}
		javac, err := tool("javac", "openjdk-17-jdk-headless")
		if err != nil {
			return nil, err
		}
		jars, err := w.installed("java", []string{"java/pom.xml"}, func(dir string) error {
			mvn, err := tool("mvn", "maven")
			if err != nil {
				return err
			}
			return do("java", mvn, "-B", "-q", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+dir)
		})
		if err != nil {
			return nil, err
		}
		path := filepath.Join(jars, "*")
		classes := filepath.Join(w.built, "classes")
		if _, err := os.Stat(classes); err != nil {
			if err := do(".", javac, "-cp", path, "-d", classes, "java/Member.java", "java/Admin.java"); err != nil {
				return nil, err
			}
		}
		return append(append([]string{java}, jvm...), "-cp", classes+string(os.PathListSeparator)+path, class), nil
	}
}

// nodeProgram installs what node/package-lock.json pins.
func nodeProgram(file string) func(*workshop) ([]string, error) {
	return func(w *workshop) ([]string, error) {
		node, err := tool("node", "nodejs")
		if err != nil {
			return nil, err
		}
		dir, err := w.installed("node", []string{"node/package.json", "node/package-lock.json"}, func(dir string) error {
			npm, err := tool("npm", "npm")
			if err != nil {
				return err
			}
			for _, name := range []string{"package.json", "package-lock.json"} {
				text, err := os.ReadFile(filepath.Join("node", name))
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
					return err
				}
			}
			return do(dir, npm, "ci", "--silent", "--no-audit", "--no-fund")
		})
		if err != nil {
			return nil, err
		}
		env, err := exec.LookPath("env")
		return []string{env, "NODE_PATH=" + filepath.Join(dir, "node_modules"), node, filepath.Join("node", file)}, err
	}
}

// cgoProgram builds a program of this module that needs a C compiler.
func cgoProgram(folder string) func(*workshop) ([]string, error) {
	return func(w *workshop) ([]string, error) {
		if _, err := tool("cc", "gcc libc6-dev"); err != nil {
			return nil, err
		}
		return goProgram(folder)(w)
	}
}

// kcatProgram builds what lets kcat, which is of the machine, speak with the test.
func kcatProgram(w *workshop) ([]string, error) {
	if _, err := tool("kcat", "kcat"); err != nil {
		return nil, err
	}
	return goProgram("kcat")(w)
}
