package kafka

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// oneNode is what a single node cannot do without: internal topics have as many replicas as there are brokers.
var oneNode = map[string]string{
	"offsets.topic.replication.factor":                 "1",
	"transaction.state.log.replication.factor":         "1",
	"transaction.state.log.min.isr":                    "1",
	"share.coordinator.state.topic.replication.factor": "1",
	"share.coordinator.state.topic.min.isr":            "1",
}

// testable makes groups quick to test and the broker small, and leaves all rules of the protocol as they are.
var testable = map[string]string{
	"group.initial.rebalance.delay.ms": "0",
	"group.min.session.timeout.ms":     "10",

	// One partition of each internal topic: one coordinator, and little to create at the first request.
	"offsets.topic.num.partitions":                 "1",
	"transaction.state.log.num.partitions":         "1",
	"share.coordinator.state.topic.num.partitions": "1",

	// One thread of each kind: requests that were sent in an order are taken in that order, whatever their connections.
	// A parked request holds none of them.
	"num.network.threads":       "1",
	"num.io.threads":            "1",
	"group.coordinator.threads": "1",

	// Many clients connect at a time, also while the broker stands still. With room for 50 (which is all that releases before 3.2 have) the others are not
	// heard before their kernel tries again, a second later.
	"socket.listen.backlog.size": "1024",

	// A restart after a kill has to wait until the controller has given up on the former life of the broker.
	"broker.session.timeout.ms":    "3000",
	"broker.heartbeat.interval.ms": "500",
	"zookeeper.session.timeout.ms": "6000",

	// Otherwise groups that are Empty and have no offsets go every ten minutes, which no client can know of.
	"offsets.retention.check.interval.ms": "86400000",

	"auto.create.topics.enable":         "false",
	"log.cleaner.threads":               "1",
	"log.cleaner.dedupe.buffer.size":    "2097152", // 128 MiB otherwise, taken at the start
	"num.recovery.threads.per.data.dir": "1",
	"background.threads":                "2",
}

// oneThreadIDs is for releases whose InitProducerId holds its thread until the controller has given out producer ids. With one thread the
// controller, which is the same broker, could not do so, and all requests would wait for half a minute. Up to 2.8 ZooKeeper was asked.
var oneThreadIDs = map[string]string{"inter.broker.protocol.version": "2.8"}

// DefaultSettings are the broker settings that Start uses where Options say nothing. A release ignores those that it does not know.
func DefaultSettings() map[string]string {
	m := maps.Clone(oneNode)
	maps.Copy(m, testable)
	return m
}

// fixed settings bind the node to its ports and folder; they cannot be set from outside.
func (b *Broker) fixed() map[string]string {
	clients, protocols := fmt.Sprintf("PLAINTEXT://127.0.0.1:%d", b.ports.client), "PLAINTEXT:PLAINTEXT"
	if b.opts.Secured != "" {
		clients += fmt.Sprintf(",SECURED://127.0.0.1:%d", b.ports.secured)
		protocols += ",SECURED:" + b.opts.Secured
	}
	fixed := map[string]string{
		"listeners":                      clients,
		"advertised.listeners":           clients,
		"inter.broker.listener.name":     "PLAINTEXT",
		"listener.security.protocol.map": protocols,
		"log.dirs":                       b.dataDir(),
	}
	if b.kind.zookeeper {
		fixed["broker.id"] = nodeID
		fixed["zookeeper.connect"] = b.zkAddr() + b.zkChroot()
		return fixed
	}
	fixed["process.roles"] = "broker,controller"
	fixed["node.id"] = nodeID
	fixed["controller.quorum.voters"] = fmt.Sprintf("%s@127.0.0.1:%d", nodeID, b.ports.controller)
	fixed["listeners"] += fmt.Sprintf(",CONTROLLER://127.0.0.1:%d", b.ports.controller)
	fixed["controller.listener.names"] = "CONTROLLER"
	fixed["listener.security.protocol.map"] += ",CONTROLLER:PLAINTEXT"
	return fixed
}

func (b *Broker) propertiesFile() string { return filepath.Join(b.dir, "server.properties") }
func (b *Broker) dataDir() string        { return filepath.Join(b.dir, "data") }

func (b *Broker) writeProperties() error {
	m := maps.Clone(oneNode)
	if !b.opts.Plain {
		maps.Copy(m, testable)
		if b.kind.asksIDs {
			maps.Copy(m, oneThreadIDs)
		}
	}
	if b.kind.java {
		maps.Copy(m, javaSettings)
	}
	maps.Copy(m, b.opts.Settings)
	fixed := b.fixed()
	for k := range b.opts.Settings {
		if _, ok := fixed[k]; ok {
			return fmt.Errorf("setting %s cannot be changed: the launcher chooses ports and folders", k)
		}
	}
	maps.Copy(m, fixed)
	return writeFile(b.propertiesFile(), formatProperties(m))
}

// formatProperties writes Java's properties format, sorted by key.
func formatProperties(m map[string]string) string {
	esc := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "=", `\=`, ":", `\:`, "#", `\#`, "!", `\!`, " ", `\ `)
	var sb strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&sb, "%s=%s\n", esc.Replace(k), esc.Replace(m[k]))
	}
	return sb.String()
}

func writeFile(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return diskError("writing "+path, err)
	}
	return nil
}
