package core

import "encoding/binary"

// consumerType is the protocol type of consumers, whose metadata says what they consume.
const consumerType = "consumer"

// subscriptions are the topics that the members of the generation consume, nil where that cannot be told (offsets.subscribed).
func (g *group) subscriptions() map[string]struct{} {
	if g.protocolType != consumerType {
		return nil
	}
	topics := map[string]struct{}{}
	for _, m := range g.order {
		if g.protocol == nil || !readTopics(m.metadata(*g.protocol), topics) {
			return nil
		}
	}
	return topics
}

// readTopics adds the topics of a consumer's metadata: a version of any number, strings, and bytes that may be null; whatever follows does not count
// (§8-8). It is false where they cannot be read. Kafka 4.3.1 looks at no version, and believes no strings without the bytes.
func readTopics(metadata []byte, topics map[string]struct{}) bool {
	const head = 6 // the version, and how many strings there are
	if len(metadata) < head {
		return false
	}
	count, rest := int32(binary.BigEndian.Uint32(metadata[2:])), metadata[head:]
	if count < 0 {
		return false
	}
	for range count {
		if len(rest) < 2 {
			return false
		}
		size := int(int16(binary.BigEndian.Uint16(rest)))
		rest = rest[2:]
		if size < 0 || size > len(rest) {
			return false
		}
		topics[string(rest[:size])] = struct{}{}
		rest = rest[size:]
	}
	if len(rest) < 4 {
		return false
	}
	return int32(binary.BigEndian.Uint32(rest)) <= int32(len(rest)-4)
}
