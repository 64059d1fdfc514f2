package clients

import "context"

// Client is a client library or tool that is put through the program.
type Client struct {
	Name string
	Lang string

	// Prepare installs or builds what is needed and returns the command of a member. Where the machine lacks something the error is a missing.
	Prepare func(*workshop) ([]string, error)

	Play func(*program, context.Context) error // what it is put through; nil for the program of consumers
	Tool func(*workshop) ([]string, error)     // prepares the tool, beside a member, that Play makes use of

	Assignor string // "range" if empty
	Unsorted bool   // it is chance which member gets which partitions
	Auto     bool   // it commits of its own accord, and can only be watched
	Loose    bool   // its version is that of the machine, so that requests are compared with those on record only where it is the same

	// Needs says in a sentence or two what had to be done for it, for docs/clients.md.
	Needs string
}

func (c *Client) assignor() string {
	if c.Assignor == "" {
		return "range"
	}
	return c.Assignor
}

// All are the clients, in the order of docs/clients.md.
var All = []*Client{
	{
		Name: "franz-go", Lang: "Go", Prepare: goProgram("franzgo"),
		Needs: "Nothing. The program asks for the range assignor, as all of these do: its own default is cooperative.",
	},
	{
		Name: "franz-go-cooperative", Lang: "Go", Prepare: goProgram("franzgo"), Assignor: "cooperative",
		Needs: "Nothing. What a member keeps is never taken away; a second rebalance hands on the rest.",
	},
	{
		Name: "Java", Lang: "Java", Prepare: javaMain("Member"),
		Needs: "Nothing.",
	},
	{
		Name: "Java-cooperative", Lang: "Java", Prepare: javaMain("Member"), Assignor: "cooperative",
		Needs: "Nothing. It gives in two rebalances what franz-go's gives.",
	},
	{
		Name: "kafka-python", Lang: "Python", Prepare: pythonProgram("kafka_python_member.py"),
		Needs: "Version 2.3. A member with 3.0.12 that joins before it has heard of the topic's partitions may wait for an assignment for ever, with real Kafka too.",
	},
	{
		Name: "aiokafka", Lang: "Python", Prepare: pythonProgram("aiokafka_member.py"),
		Needs: "Nothing. It speaks old versions of everything.",
	},
	{
		Name: "sarama", Lang: "Go", Prepare: goProgram("sarama"),
		Needs: "`Config.Version`: by default it sends what brokers of 2.8 know, whatever the broker says. The program sets the newest.",
	},
	{
		Name: "kafka-go", Lang: "Go", Prepare: goProgram("kafkago"), Unsorted: true,
		Needs: "Its `ConsumerGroup`, as a `Reader` does not tell what it owns. Its range assignor takes members in the order of the JoinGroup answer, which is chance, on both.",
	},
	{
		Name: "confluent-kafka-go", Lang: "Go", Prepare: cgoProgram("confluent"),
		Needs: "A C compiler; librdkafka comes with it.",
	},
	{
		Name: "confluent-kafka-go-cooperative", Lang: "Go", Prepare: cgoProgram("confluent"), Assignor: "cooperative",
		Needs: "The same.",
	},
	{
		Name: "kafkajs", Lang: "JavaScript", Prepare: nodeProgram("member.js"), Unsorted: true,
		Needs: "An admin client beside the consumer, to read offsets back. Its assigner takes members as kafka-go does.",
	},
	{
		Name: "kcat", Lang: "C", Prepare: kcatProgram, Auto: true, Loose: true,
		Needs: "A look at what it prints: it takes no commands, and commits every 5 s and at its end.",
	},
	{
		Name: groupTool, Lang: "Java", Prepare: javaMain("Member"), Tool: javaMain("Admin"), Play: (*program).administer,
		Needs: "DescribeTopicPartitions with lists where kfake sends none. It looks at a group of the Java client, moves its offsets and deletes it.",
	},
}
