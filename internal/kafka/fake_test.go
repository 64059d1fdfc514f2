//go:build unix

package kafka

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakes is a folder that is all of PATH, with scripts in place of Java and Maven, and a cache of its own.
type fakes struct {
	t   *testing.T
	bin string
}

func newFakes(t *testing.T) fakes {
	t.Helper()
	f := fakes{t, t.TempDir()}
	t.Setenv("PATH", f.bin)
	t.Setenv("MUSTER_CACHE", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	for _, env := range []string{"JAVA_HOME", "KAFKA_HOME", "MAVEN_HOME", "M2_HOME"} {
		t.Setenv(env, "")
	}
	for _, tool := range []string{"sh", "sleep", "rm", "mkdir"} {
		for _, dir := range []string{"/bin", "/usr/bin"} {
			if _, err := os.Stat(filepath.Join(dir, tool)); err == nil {
				if err := os.Symlink(filepath.Join(dir, tool), filepath.Join(f.bin, tool)); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
	}
	return f
}

func (f fakes) script(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.bin, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		f.t.Fatal(err)
	}
}

// maven makes a Maven that copies the jars of a release, and counts its runs.
func (f fakes) maven(before string) (runs func() int) {
	count := filepath.Join(f.t.TempDir(), "runs")
	f.script("mvn", `echo run >> `+count+`
`+before+`
for a in "$@"; do case "$a" in -DoutputDirectory=*) out=${a#-DoutputDirectory=};; esac; done
mkdir -p "$out"
for j in kafka_2.13-4.3.1 kafka-clients-4.3.1 slf4j-api-1.7.36 slf4j-simple-1.7.36; do echo $j > "$out/$j.jar"; done
`)
	return func() int {
		text, _ := os.ReadFile(count)
		return strings.Count(string(text), "run")
	}
}

// java makes a Java whose storage tool works, and whose broker does as told.
func (f fakes) java(broker string) {
	f.script("java", `case " $* " in
*" kafka.tools.StorageTool "*)
  while read -r line; do case "$line" in log.dirs=*) dir=${line#log.dirs=};; esac; done < "$(for a in "$@"; do last=$a; done; echo "$last")"
  mkdir -p "$dir"
  echo "cluster.id=AAAAAAAAAAAAAAAAAAAAAA" > "$dir/meta.properties"
  exit 0;;
esac
`+broker)
}

func start(t *testing.T, opts Options) error {
	t.Helper()
	if opts.Version == "" {
		opts.Version = "4.3.1"
	}
	b, err := Start(testContext(t, 20*time.Second), opts)
	if err == nil {
		t.Error("a broker started")
		_ = b.Stop(context.Background())
	}
	return err
}

// nothingLeft looks at the temporary folder.
func nothingLeft(t *testing.T, but ...string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
	if err != nil || len(left) != len(but) {
		t.Errorf("left in the temporary folder: %q, want %q (%v)", left, but, err)
	}
}

func TestVersions(t *testing.T) {
	newFakes(t)
	for version, want := range map[string]error{
		"": ErrNoRelease, "latest": ErrNoRelease, "4.3": ErrNoRelease, "../../etc": ErrNoRelease, "4.3.1/..": ErrNoRelease, "v4.3.1": ErrNoRelease,
		"9.9.9": ErrNoRelease, "2.3.1": ErrUnsupported, "0.11.0": ErrUnsupported,
		"4.0.2+java": ErrNoRelease, "3.9.2+scala": ErrNoRelease, "3.9+java": ErrNoRelease,
		"2.4.0": ErrNoJava, "3.9.2+java": ErrNoJava, "3.3.0": ErrNoJava, "4.3.1": ErrNoJava, "4.4.0-rc1": ErrNoJava,
	} {
		if _, err := Start(context.Background(), Options{Version: version}); !errors.Is(err, want) {
			t.Errorf("%q: error %v, want %v", version, err, want)
		}
	}
}

func TestNothingInstalled(t *testing.T) {
	f := newFakes(t)
	if err := start(t, Options{}); !errors.Is(err, ErrNoJava) {
		t.Errorf("without Java: %v", err)
	}
	if err := Available(""); !errors.Is(err, ErrNoJava) {
		t.Errorf("Available without Java: %v", err)
	}
	f.java("exit 1")
	if err := start(t, Options{}); !errors.Is(err, ErrNoMaven) {
		t.Errorf("without Maven: %v", err)
	}
	if err := Available("4.3.1"); !errors.Is(err, ErrNoMaven) {
		t.Errorf("Available without Maven: %v", err)
	}
	f.maven("")
	if err := Available("4.3.1"); err != nil {
		t.Errorf("Available with both: %v", err)
	}
	_ = start(t, Options{}) // fills the cache
	if err := os.Remove(filepath.Join(f.bin, "mvn")); err != nil {
		t.Fatal(err)
	}
	if err := Available("4.3.1"); err != nil {
		t.Errorf("Available from the cache: %v", err)
	}
	if err := Available("4.3.1" + JavaCoordinator); err != nil {
		t.Errorf("Available with another coordinator, from the same jars: %v", err)
	}
	if err := Available("4.4.0"); !errors.Is(err, ErrNoMaven) {
		t.Errorf("Available of another release: %v", err)
	}
}

// TestMavenErrors has Maven fail with the words it uses.
func TestMavenErrors(t *testing.T) {
	for name, c := range map[string]struct {
		says string
		want error
	}{
		"no such release":     {"\x1b[0m\x1b[0m[ERROR] Failed to execute goal on project x: Could not resolve dependencies for project x:x:jar:1: Could not find artifact org.apache.kafka:kafka_2.13:jar:4.3.1 in central (https://repo.maven.apache.org/maven2) -> [Help 1]", ErrNoRelease},
		"not found before":    {"[ERROR] ... Failure to find org.apache.kafka:kafka_2.13:jar:4.3.1 in https://repo.maven.apache.org/maven2 was cached in the local repository", ErrNoRelease},
		"not found (3.9)":     {"[ERROR] ... dependency: org.apache.kafka:kafka_2.13:jar:4.3.1 (compile)\n[ERROR] 	org.apache.kafka:kafka_2.13:jar:4.3.1 was not found in https://repo.maven.apache.org/maven2 during a previous attempt.", ErrNoRelease},
		"no pom":              {"[ERROR] ... Could not find artifact org.apache.kafka:kafka_2.13:pom:4.3.1 in central", ErrNoRelease},
		"other release":       {"[ERROR] ... Could not find artifact org.apache.kafka:kafka_2.13:jar:4.3.10 in central", ErrNoRelease},
		"no network":          {"[ERROR] Plugin ... could not be resolved: Could not transfer artifact ... from/to central: repo.maven.apache.org: Name or service not known", ErrDownload},
		"another one missing": {"[ERROR] ... Could not find artifact org.slf4j:slf4j-simple:jar:1.7.36 in mirror", ErrDownload},
		"disk full":           {"[ERROR] Could not transfer artifact ...: No space left on device -> [Help 1]", ErrDiskFull},
		"no Java":             {"The JAVA_HOME environment variable is not defined correctly", ErrNoJava},
		"silence":             {"", ErrDownload},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakes(t)
			f.java("exit 1")
			f.script("mvn", "while read -r l; do echo \"$l\"; done <<'END'\n"+c.says+"\nEND\nexit 1\n")
			err := start(t, Options{})
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if first, _, _ := strings.Cut(c.says, "\n"); first != "" && c.want == ErrNoRelease && !strings.Contains(err.Error(), first[strings.Index(first, "[ERROR]")+8:]) {
				t.Errorf("error %v does not pass on Maven's words", err)
			}
			nothingLeft(t)
			folder := filepath.Join(os.Getenv("MUSTER_CACHE"), "kafka", "4.3.1")
			if _, stat := os.Stat(folder); c.want == ErrNoRelease && stat == nil {
				t.Errorf("%s is left, of a release that does not exist", folder)
			}
			if c.want == ErrNoRelease && !strings.Contains(err.Error(), " 4.4.0") {
				t.Errorf("%v does not say which releases there are", err)
			}
			left, _ := filepath.Glob(filepath.Join(os.Getenv("MUSTER_CACHE"), "kafka", "4.3.1", "maven-*"))
			if len(left) != 0 {
				t.Errorf("left in the cache: %q", left)
			}
		})
	}
}

// TestCache downloads once for many, and again when what is there is not whole.
func TestCache(t *testing.T) {
	f := newFakes(t)
	f.java("exit 1")
	runs := f.maven("sleep 0.2")
	java, err := findJava()
	if err != nil {
		t.Fatal(err)
	}
	get := func() (release, error) {
		return resolve(testContext(t, 10*time.Second), "4.3.1", java, func(string, ...any) {})
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if rel, err := get(); err != nil || len(rel.jars) != 4 {
				t.Errorf("%d jars, error %v", len(rel.jars), err)
			}
		})
	}
	wg.Wait()
	if n := runs(); n != 1 {
		t.Errorf("Maven ran %d times for four at once", n)
	}
	rel, err := get()
	if err != nil {
		t.Fatal(err)
	}
	for i, damage := range []func() error{
		func() error { return os.Remove(rel.jars[0]) },
		func() error { return os.Truncate(rel.jars[1], 1) },
		func() error { return os.Remove(rel.marker()) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, err := get(); err != nil {
			t.Errorf("damage %d: %v", i, err)
		}
		if n := runs(); n != i+2 {
			t.Errorf("damage %d: Maven ran %d times in all, want %d", i, n, i+2)
		}
	}
	// A download that ends half way leaves no marker, and says so.
	if err := os.Remove(rel.marker()); err != nil {
		t.Fatal(err)
	}
	f.script("mvn", "exit 0\n")
	if _, err := get(); !errors.Is(err, ErrDownload) {
		t.Errorf("Maven that copies nothing: %v", err)
	}
}

// TestBootErrors has the broker end with the words of a JVM.
func TestBootErrors(t *testing.T) {
	for name, c := range map[string]struct {
		says string
		want error
	}{
		"old Java":  {"Error: LinkageError occurred\njava.lang.UnsupportedClassVersionError: kafka/Kafka has been compiled by a more recent version", ErrOldJava},
		"disk full": {"java.io.IOException: No space left on device", ErrDiskFull},
		"no Java":   {"The operation couldn't be completed. Unable to locate a Java Runtime.", ErrNoJava},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakes(t)
			f.maven("")
			f.java("echo \"" + c.says + "\"; exit 1")
			if err := start(t, Options{}); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			nothingLeft(t)
		})
	}
	t.Run("unknown reason", func(t *testing.T) {
		f := newFakes(t)
		f.maven("")
		f.java("echo first; echo the reason; exit 1")
		err := start(t, Options{})
		var boot *BootError
		if !errors.As(err, &boot) {
			t.Fatalf("error %v", err)
		}
		text, rerr := os.ReadFile(boot.LogFile)
		if rerr != nil || !strings.Contains(string(text), "the reason") || !strings.Contains(err.Error(), "the reason") {
			t.Errorf("error %v; its log: %q, %v", err, text, rerr)
		}
		nothingLeft(t, boot.LogFile)
	})
	t.Run("taken port", func(t *testing.T) {
		f := newFakes(t)
		f.maven("")
		tries := filepath.Join(t.TempDir(), "tries")
		f.java("echo try >> " + tries + "; echo 'java.net.BindException: Address already in use'; exit 1")
		var port *PortError
		if err := start(t, Options{}); !errors.As(err, &port) {
			t.Errorf("error %v, want a PortError", err)
		}
		text, _ := os.ReadFile(tries)
		if n := strings.Count(string(text), "try"); n != portTries {
			t.Errorf("%d tries, want %d", n, portTries)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		taken := l.Addr().(*net.TCPAddr).Port
		if err := start(t, Options{Port: taken}); !errors.As(err, &port) || !strings.Contains(err.Error(), strconv.Itoa(taken)) {
			t.Errorf("error %v, want a PortError for %d", err, taken)
		}
		nothingLeft(t)
	})
	t.Run("given up", func(t *testing.T) {
		f := newFakes(t)
		f.maven("")
		pidFile := filepath.Join(t.TempDir(), "pid")
		f.java("echo $$ > " + pidFile + "; exec sleep 60")
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := Start(ctx, Options{Version: "4.3.1"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if pid := readPid(t, pidFile); alive(pid) {
			t.Errorf("process %d is left", pid)
		}
		nothingLeft(t)
	})
	t.Run("fixed setting", func(t *testing.T) {
		f := newFakes(t)
		f.maven("")
		f.java("exit 1")
		if err := start(t, Options{Settings: map[string]string{"listeners": "x"}}); err == nil || !strings.Contains(err.Error(), "listeners cannot be changed") {
			t.Errorf("error %v", err)
		}
		nothingLeft(t)
	})
}

// TestZooKeeperErrors has the ZooKeeper of an old release fail before the broker is started.
func TestZooKeeperErrors(t *testing.T) {
	old := func(t *testing.T, zookeeper string) fakes {
		f := newFakes(t)
		f.script("mvn", `for a in "$@"; do case "$a" in -DoutputDirectory=*) out=${a#-DoutputDirectory=};; esac; done
mkdir -p "$out"
for j in kafka_2.13-2.8.2 slf4j-api-1.7.36; do echo $j > "$out/$j.jar"; done
`)
		f.script("java", `case " $* " in *QuorumPeerMain*) `+zookeeper+`;; esac
echo "a broker without ZooKeeper"; exit 1`)
		return f
	}
	t.Run("it ends", func(t *testing.T) {
		old(t, `echo "the reason of ZooKeeper"; exit 1`)
		err := start(t, Options{Version: "2.8.2"})
		var boot *BootError
		if !errors.As(err, &boot) || !strings.Contains(err.Error(), "its ZooKeeper ended") || !strings.Contains(boot.Tail, "the reason of ZooKeeper") {
			t.Fatalf("error %v", err)
		}
		nothingLeft(t, boot.LogFile)
	})
	t.Run("taken port", func(t *testing.T) {
		old(t, `echo "java.net.BindException: Address already in use"; exit 1`)
		var port *PortError
		if err := start(t, Options{Version: "2.8.2"}); !errors.As(err, &port) {
			t.Errorf("error %v, want a PortError", err)
		}
		nothingLeft(t)
	})
	t.Run("given up", func(t *testing.T) {
		pidFile := filepath.Join(t.TempDir(), "pid")
		old(t, `echo $$ > `+pidFile+`; exec sleep 60`)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := Start(ctx, Options{Version: "2.8.2"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if pid := readPid(t, pidFile); alive(pid) {
			t.Errorf("process %d is left", pid)
		}
		nothingLeft(t)
	})
	t.Run("fixed setting", func(t *testing.T) {
		old(t, "exit 1")
		err := start(t, Options{Version: "2.8.2", Settings: map[string]string{"zookeeper.connect": "x"}})
		if err == nil || !strings.Contains(err.Error(), "zookeeper.connect cannot be changed") {
			t.Errorf("error %v", err)
		}
		nothingLeft(t)
	})
}

// TestJavaCoordinator looks at what "+java" asks of 3.9.
func TestJavaCoordinator(t *testing.T) {
	for version, want := range map[string]string{"3.9.2": "", "3.9.2+java": "true"} {
		k, err := parseVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		b := &Broker{kind: k, dir: t.TempDir(), ports: ports{client: 1, controller: 2}}
		if err := b.writeProperties(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(b.propertiesFile())
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(text), "group.coordinator.new.enable=true"); got != (want != "") || k.jars != "3.9.2" {
			t.Errorf("%s: jars of %s, Java coordinator %v", version, k.jars, got)
		}
	}
	for _, version := range Releases {
		if _, err := parseVersion(version); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// TestProducerIDs looks at which releases are kept from asking themselves for producer ids with their one thread.
func TestProducerIDs(t *testing.T) {
	for version, want := range map[string]bool{"2.8.2": false, "3.0.2": true, "3.2.3": true, "3.3.2": false} {
		for _, plain := range []bool{false, true} {
			k, err := parseVersion(version)
			if err != nil {
				t.Fatal(err)
			}
			b := &Broker{kind: k, dir: t.TempDir(), ports: ports{client: 1, controller: 2}, opts: Options{Plain: plain}}
			if err := b.writeProperties(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(b.propertiesFile())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(text), "inter.broker.protocol.version=2.8"); got != (want && !plain) {
				t.Errorf("%s, plain %v: the older protocol %v", version, plain, got)
			}
		}
	}
}

func TestHome(t *testing.T) {
	f := newFakes(t)
	f.java("echo the broker of KAFKA_HOME; exit 1")
	home := t.TempDir()
	t.Setenv("KAFKA_HOME", home)
	if err := start(t, Options{}); err == nil || !strings.Contains(err.Error(), "holds no libs/kafka_2.13-VERSION.jar") {
		t.Errorf("an empty KAFKA_HOME: %v", err)
	}
	if err := os.Mkdir(filepath.Join(home, "libs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, jar := range []string{"kafka_2.13-4.3.1.jar", "kafka-clients-4.3.1.jar"} {
		if err := os.WriteFile(filepath.Join(home, "libs", jar), []byte(jar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := start(t, Options{}); err == nil || !strings.Contains(err.Error(), "the broker of KAFKA_HOME") {
		t.Errorf("KAFKA_HOME of the release: %v", err)
	}
	if err := start(t, Options{Version: "4.4.0"}); !errors.Is(err, ErrNoMaven) {
		t.Errorf("KAFKA_HOME of another release: %v", err)
	}
}

func TestProperties(t *testing.T) {
	got := formatProperties(map[string]string{"b": `x=y:z \ #`, "a": "1"})
	want := `a=1` + "\n" + `b=x\=y\:z\ \\\ \#` + "\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func readPid(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
