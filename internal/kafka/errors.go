package kafka

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// Errors that tell a caller what is missing. Each says what to do next; all mean that the environment, not a coordinator under
// judgement, is at fault.
var (
	ErrNoJava      = errors.New("no Java: install a JDK or JRE 17 or later (Debian: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk) or set JAVA_HOME")
	ErrOldJava     = errors.New("this Java is too old for the release: install 17 or later, or set JAVA_HOME to one")
	ErrNoMaven     = errors.New("no Maven to fetch Kafka with: install it (Debian: apt-get install maven; macOS: brew install maven), or set KAFKA_HOME to an unpacked Kafka of the same release")
	ErrNoRelease   = errors.New("no such Kafka release")
	ErrUnsupported = errors.New("releases before 3.3.0 need ZooKeeper, which is not started here: use 3.3.0 or later")
	ErrDownload    = errors.New("downloading Kafka failed: check the network and Maven's settings, then run the same command again")
	ErrDiskFull    = errors.New("no space left on the disk: free some, or point TMPDIR and MUSTER_CACHE to a larger one")
)

// PortError tells that a port cannot be listened on.
type PortError struct {
	Port int
	Err  error
}

func (e *PortError) Error() string {
	if e.Port == 0 {
		return fmt.Sprintf("no free loopback port: %v", e.Err)
	}
	return fmt.Sprintf("port %d on 127.0.0.1 cannot be used: %v; give another one, or 0 for a free one", e.Port, e.Err)
}

func (e *PortError) Unwrap() error { return e.Err }

// BootError tells that a broker did not come to serve groups, or ceased to.
type BootError struct {
	Version string
	LogFile string
	Tail    string // the last lines of the log
	Err     error
}

func (e *BootError) Error() string {
	s := fmt.Sprintf("Kafka %s does not run: %v", e.Version, e.Err)
	if e.Tail != "" {
		s += "\nthe end of its log:\n  " + strings.ReplaceAll(e.Tail, "\n", "\n  ")
	}
	return s + "\nits whole log: " + e.LogFile
}

func (e *BootError) Unwrap() error { return e.Err }

var versionShape = regexp.MustCompile(`^(\d{1,3})\.(\d{1,3})\.(\d{1,3})(-[A-Za-z0-9.]+)?$`)

// checkVersion refuses what cannot be a release, before anything is asked of the network or used in a path.
func checkVersion(v string) error {
	m := versionShape.FindStringSubmatch(v)
	if m == nil {
		return fmt.Errorf("%w: %q does not look like one (wanted as in 4.3.1)", ErrNoRelease, v)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < 3 || major == 3 && minor < 3 {
		return fmt.Errorf("release %s: %w", v, ErrUnsupported)
	}
	return nil
}

func diskError(doing string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%s: %w (%v)", doing, ErrDiskFull, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// explainLog turns the known causes of a failed start into their errors; nil if the log shows none of them.
func explainLog(log, version string, port int) error {
	switch {
	case strings.Contains(log, "No space left on device"), strings.Contains(log, "Disk quota exceeded"):
		return fmt.Errorf("starting Kafka %s: %w", version, ErrDiskFull)
	case strings.Contains(log, "UnsupportedClassVersionError"):
		return fmt.Errorf("starting Kafka %s: %w", version, ErrOldJava)
	case strings.Contains(log, "Unable to locate a Java Runtime"):
		return ErrNoJava
	case strings.Contains(log, "Address already in use"), strings.Contains(log, "java.net.BindException"):
		return &PortError{Port: port, Err: errors.New("address already in use")}
	}
	return nil
}
