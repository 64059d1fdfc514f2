package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// slf4jOf1x is the binding that fits slf4j-api 1.7, which all releases so far depend on. No binding is among Kafka's own
// dependencies, and without one there are no logs.
const slf4jOf1x = "1.7.36"

const mavenPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

const pom = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>muster</groupId><artifactId>kafka-jars</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>%s</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>%s</version></dependency>
  </dependencies>
</project>
`

// fetch lets Maven copy a release's jars into dir/libs and marks them complete. The caller holds the lock of dir.
func fetch(ctx context.Context, version, dir string, java javaRuntime, progress func(string, ...any)) error {
	mvn, err := findMaven()
	if err != nil {
		return fmt.Errorf("release %s of Kafka is not in the cache: %w", version, err)
	}
	progress("fetching the jars of Kafka %s with Maven into %s (about 45 MB, once)", version, dir)
	part := filepath.Join(dir, "libs.part")
	copyJars := func(slf4j string) ([]string, error) {
		if err := os.RemoveAll(part); err != nil {
			return nil, err
		}
		if err := runMaven(ctx, mvn, version, slf4j, dir, part); err != nil {
			return nil, err
		}
		return listJars(part)
	}
	defer os.RemoveAll(part) // what a failure leaves; nothing is there after success
	jars, err := copyJars(slf4jOf1x)
	if err != nil {
		return err
	}
	if api := jarVersion(jars, "slf4j-api-"); api != "" && !strings.HasPrefix(api, "1.") {
		// A release on a newer slf4j needs the binding of the same version.
		if jars, err = copyJars(api); err != nil {
			return err
		}
	}
	if jarVersion(jars, "kafka_2.13-") != version {
		return fmt.Errorf("%w (Maven has copied no kafka_2.13-%s.jar)", ErrDownload, version)
	}
	list := jarList(jars)
	libs := filepath.Join(dir, "libs")
	// Whatever was derived from other jars goes with them.
	stale, _ := filepath.Glob(filepath.Join(dir, "classes-*"))
	for _, path := range append(stale, libs, filepath.Join(dir, "complete"), filepath.Join(dir, "template")) {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	if err := os.Rename(part, libs); err != nil {
		return diskError("keeping the jars", err)
	}
	return writeFile(filepath.Join(dir, "complete"), list)
}

func runMaven(ctx context.Context, mvn, version, slf4j, dir, out string) error {
	work, err := os.MkdirTemp(dir, "maven-")
	if err != nil {
		return diskError("preparing Maven", err)
	}
	defer os.RemoveAll(work)
	if err := writeFile(filepath.Join(work, "pom.xml"), fmt.Sprintf(pom, version, slf4j)); err != nil {
		return err
	}
	var text bytes.Buffer
	// -U asks again for what an earlier run did not find: a release may have come out since.
	cmd := exec.CommandContext(ctx, mvn, "-B", "-q", "-U", "-f", filepath.Join(work, "pom.xml"), mavenPlugin, "-DincludeScope=runtime", "-DoutputDirectory="+out)
	cmd.Dir, cmd.Stdout, cmd.Stderr = work, &text, &text
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return mavenError(version, text.String(), err)
	}
	return nil
}

// mavenError finds out from Maven's words what went wrong.
func mavenError(version, text string, err error) error {
	artifact := "org.apache.kafka:kafka_2.13:jar:" + version
	bare := strings.ReplaceAll(text, "org.apache.kafka:kafka_2.13:pom:", "org.apache.kafka:kafka_2.13:jar:")
	said := firstError(text)
	switch {
	case strings.Contains(text, "No space left on device"):
		return fmt.Errorf("fetching Kafka %s: %w", version, ErrDiskFull)
	case strings.Contains(bare, "Could not find artifact "+artifact), strings.Contains(bare, "Failure to find "+artifact), strings.Contains(bare, artifact+" was not found in"):
		return fmt.Errorf("%w: %s (Maven says: %s); %s", ErrNoRelease, version, said, known())
	case strings.Contains(text, "JAVA_HOME"), strings.Contains(text, "Unable to locate a Java Runtime"):
		return fmt.Errorf("no Java for Maven (it says: %s): %w", said, ErrNoJava)
	}
	return fmt.Errorf("%w (Kafka %s: Maven says: %s; %v)", ErrDownload, version, said, err)
}

var terminalCodes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// firstError is the first line that says something, without the colours that Maven may put into it.
func firstError(text string) string {
	for line := range strings.Lines(terminalCodes.ReplaceAllString(text, "")) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "[ERROR]"))
		if line != "" {
			if len(line) > 400 {
				line = line[:400] + "..."
			}
			return line
		}
	}
	return "nothing"
}

func jarVersion(jars []string, prefix string) string {
	for _, jar := range jars {
		if v, ok := strings.CutPrefix(filepath.Base(jar), prefix); ok {
			return strings.TrimSuffix(v, ".jar")
		}
	}
	return ""
}

func findMaven() (string, error) {
	for _, env := range []string{"MAVEN_HOME", "M2_HOME"} {
		if home := os.Getenv(env); home != "" {
			if p, err := exec.LookPath(filepath.Join(home, "bin", "mvn")); err == nil {
				return p, nil
			}
		}
	}
	p, err := exec.LookPath("mvn")
	if errors.Is(err, exec.ErrDot) || err != nil {
		return "", ErrNoMaven
	}
	return p, nil
}
