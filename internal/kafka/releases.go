package kafka

import (
	"fmt"
	"strconv"
	"strings"
)

// Releases are those that behaviour is compared on, oldest first: the last patch of every minor release from 2.4, the first whose
// jars for Scala 2.13 are published, and 3.9 with its Java coordinator too.
var Releases = []string{
	"2.4.1", "2.5.1", "2.6.3", "2.7.2", "2.8.2",
	"3.0.2", "3.1.2", "3.2.3", "3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2", "3.8.1", "3.9.2", "3.9.2" + JavaCoordinator,
	"4.0.2", "4.1.2", "4.2.2", "4.3.1", "4.4.0",
}

// JavaCoordinator after a version switches on the coordinator that came by default with 4.0: "3.9.2+java". Only 3.9 can be told so.
const JavaCoordinator = "+java"

// javaSettings are what 3.9 wants for it.
var javaSettings = map[string]string{
	"group.coordinator.new.enable":          "true",
	"group.coordinator.rebalance.protocols": "classic,consumer",
}

// kind is what a version's name asks for.
type kind struct {
	jars      string // the release itself, as Maven calls it
	zookeeper bool   // its cluster is kept by ZooKeeper: broker and controller cannot be one process
	asksIDs   bool   // with ZooKeeper: its broker asks the controller, which is itself, for producer ids
	java      bool   // the Java coordinator is to be switched on
}

// parseVersion refuses what cannot be a release, before anything is asked of the network or used in a path.
func parseVersion(v string) (kind, error) {
	var k kind
	k.jars, k.java = strings.CutSuffix(v, JavaCoordinator)
	m := versionShape.FindStringSubmatch(k.jars)
	if m == nil {
		return k, fmt.Errorf("%w: %q does not look like one (wanted as in 4.3.1)", ErrNoRelease, v)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if k.java && (major != 3 || minor != 9) {
		return k, fmt.Errorf("%w: %q: only 3.9 has a choice of coordinators", ErrNoRelease, v)
	}
	if major < 2 || major == 2 && minor < 4 {
		return k, fmt.Errorf("release %s: %w", v, ErrUnsupported)
	}
	if newest := majorOf(Releases[len(Releases)-1]); major > newest+1 {
		return k, fmt.Errorf("%w: %s; %s", ErrNoRelease, v, known())
	}
	k.zookeeper = major < 3 || major == 3 && minor < 3
	k.asksIDs = k.zookeeper && major == 3
	return k, nil
}

func majorOf(release string) int {
	major, _, _ := strings.Cut(release, ".")
	n, _ := strconv.Atoi(major)
	return n
}

// known says which releases there are, for whoever has named another one. Other patches of these exist too, and newer releases may.
func known() string {
	return "known are, the last patch of each minor release: " + strings.Join(Releases, " ")
}
