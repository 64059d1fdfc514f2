package kafka

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// release is a Kafka on disk: its jars, and where what is derived from them is kept.
type release struct {
	version string
	jars    []string // absolute, in a fixed order: a class archive is bound to the class path
	cache   string   // holds the storage template, class archives and the lock
	home    string   // set when the jars are those of KAFKA_HOME
}

func (r release) classPath() string { return strings.Join(r.jars, string(os.PathListSeparator)) }

// CacheDir is where the jars of all releases are kept: $MUSTER_CACHE/kafka, else muster/kafka in the user's cache folder.
func CacheDir() (string, error) {
	root := os.Getenv("MUSTER_CACHE")
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no cache folder: %w; set MUSTER_CACHE to a folder for Kafka's jars", err)
		}
		root = filepath.Join(user, "muster")
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	return filepath.Join(abs, "kafka"), nil
}

// resolve finds the jars of a release: KAFKA_HOME if that is the release, else the cache, else Maven.
func resolve(ctx context.Context, version string, java javaRuntime, progress func(string, ...any)) (_ release, err error) {
	cache, err := CacheDir()
	if err != nil {
		return release{}, err
	}
	if home := os.Getenv("KAFKA_HOME"); home != "" {
		rel, err := fromHome(home, cache)
		if err != nil {
			return release{}, err
		}
		if rel.version == version {
			return rel, nil
		}
	}
	rel := release{version: version, cache: filepath.Join(cache, version)}
	if rel.load() {
		return rel, nil
	}
	if err := os.MkdirAll(rel.cache, 0o755); err != nil {
		return release{}, diskError("making the cache folder", err)
	}
	unlock, err := lockFile(ctx, filepath.Join(rel.cache, "lock"))
	if err != nil {
		return release{}, err
	}
	defer func() {
		unlock()
		if errors.Is(err, ErrNoRelease) {
			rel.forget()
		}
	}()
	if err := os.MkdirAll(rel.cache, 0o755); err != nil { // another process may have found that there is no such release
		return release{}, diskError("making the cache folder", err)
	}
	if rel.load() { // another process has fetched it in the meantime
		return rel, nil
	}
	if err := fetch(ctx, version, rel.cache, java, progress); err != nil {
		return release{}, err
	}
	if !rel.load() {
		return release{}, fmt.Errorf("%w (the jars of Kafka %s are not complete in %s)", ErrDownload, version, rel.cache)
	}
	return rel, nil
}

// forget removes the folder of a release that does not exist, unless somebody keeps something in it.
func (r release) forget() {
	if kept, err := os.ReadDir(r.cache); err != nil || len(kept) > 1 || len(kept) == 1 && kept[0].Name() != "lock" {
		return
	}
	_ = os.Remove(filepath.Join(r.cache, "lock"))
	_ = os.Remove(r.cache)
}

func (r release) libs() string   { return filepath.Join(r.cache, "libs") }
func (r release) marker() string { return filepath.Join(r.cache, "complete") }

// load takes the jars from the cache if all that the marker lists are there with their sizes.
func (r *release) load() bool {
	text, err := os.ReadFile(r.marker())
	if err != nil {
		return false
	}
	listed := string(text)
	found, err := listJars(r.libs())
	if err != nil || len(found) == 0 || listed != jarList(found) {
		return false
	}
	r.jars = found
	return true
}

func listJars(dir string) ([]string, error) {
	jars, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	slices.Sort(jars)
	return jars, err
}

// jarList is the text of the marker: a line for each jar with its size.
func jarList(jars []string) string {
	var sb strings.Builder
	for _, jar := range jars {
		st, err := os.Stat(jar)
		if err != nil {
			return ""
		}
		fmt.Fprintf(&sb, "%s %d\n", filepath.Base(jar), st.Size())
	}
	return sb.String()
}

// fromHome takes the jars of an unpacked Kafka.
func fromHome(home, cache string) (release, error) {
	home, err := filepath.Abs(home)
	if err != nil {
		return release{}, err
	}
	jars, err := listJars(filepath.Join(home, "libs"))
	if err != nil {
		return release{}, err
	}
	rel := release{home: home}
	for _, jar := range jars {
		name := strings.TrimSuffix(filepath.Base(jar), ".jar")
		if strings.Contains(name, "-sources") || strings.Contains(name, "-javadoc") || strings.Contains(name, "-test") {
			continue
		}
		if v, ok := strings.CutPrefix(name, "kafka_2.13-"); ok && versionShape.MatchString(v) {
			rel.version = v
		}
		rel.jars = append(rel.jars, jar)
	}
	if rel.version == "" {
		return release{}, fmt.Errorf("KAFKA_HOME=%s holds no libs/kafka_2.13-VERSION.jar: point it to an unpacked Kafka, or unset it", home)
	}
	place := sha256.Sum256([]byte(home))
	rel.cache = filepath.Join(cache, fmt.Sprintf("%s-home-%x", rel.version, place[:6]))
	if err := os.MkdirAll(rel.cache, 0o755); err != nil {
		return release{}, diskError("making the cache folder", err)
	}
	return rel, nil
}

// loggingArgs make the broker log to its standard output. The jars from Maven hold slf4j's simple binding; a distribution has
// log4j (3.x) or log4j 2 (4.x), which read a file each.
func (r release) loggingArgs(dir string) ([]string, error) {
	if r.home == "" {
		return []string{
			"-Dorg.slf4j.simpleLogger.logFile=System.out",
			"-Dorg.slf4j.simpleLogger.showDateTime=true",
			"-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
		}, nil
	}
	one, two := filepath.Join(dir, "log4j.properties"), filepath.Join(dir, "log4j2.properties")
	if err := writeFile(one, log4j1); err != nil {
		return nil, err
	}
	if err := writeFile(two, log4j2); err != nil {
		return nil, err
	}
	return []string{"-Dlog4j.configuration=file:" + one, "-Dlog4j2.configurationFile=" + two}, nil
}

const log4j1 = `log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d [%t] %p %c - %m%n
`

const log4j2 = `rootLogger.level=INFO
rootLogger.appenderRefs=out
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d [%t] %p %c - %m%n
`
