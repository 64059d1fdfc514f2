package atlas

import "strings"

// rdkafka tells how librdkafka's mock cluster differs. Its register is not run by make atlas, as it takes a C compiler; TestRDKafkaMock of
// package conformance holds it.
func (p Page) rdkafka(b *strings.Builder) {
	b.WriteString(`## rdkafka-mock

How librdkafka's mock cluster differs from Kafka 4.3.1, from its [register](../conformance/registers/rdkafka-mock.txt). It offers few requests, so most
scenarios cannot be asked of it.

| scenario/block | rule | class | kind | difference |
| --- | --- | --- | --- | --- |
`)
	entries(b, p.RDKafka)
}
