//go:build ignore

// Command rdkafka-mock runs librdkafka's mock cluster, one broker, for Muster to judge. Its arguments are the topics that exist there,
// NAME:PARTITIONS. It prints the address on a line of its own and ends when its standard input does.
//
// It is no package of Muster's module, which knows no cgo: package rdkafka carries it as text, with program.mod and program.sum as go.mod
// and go.sum, and builds it where it is wanted.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "rdkafka-mock: %v\n", err)
		os.Exit(1)
	}
}

func run(topics []string) error {
	cluster, err := kafka.NewMockCluster(1)
	if err != nil {
		return err
	}
	for _, topic := range topics {
		name, number, _ := strings.Cut(topic, ":")
		partitions, err := strconv.Atoi(number)
		if err != nil || name == "" || partitions < 1 {
			return fmt.Errorf("%q is no topic: want NAME:PARTITIONS", topic)
		}
		if err := cluster.CreateTopic(name, partitions, 1); err != nil {
			return fmt.Errorf("creating topic %s: %w", name, err)
		}
	}
	if _, err := fmt.Println(cluster.BootstrapServers()); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err // the cluster is not closed, for that would wait for clients
}
