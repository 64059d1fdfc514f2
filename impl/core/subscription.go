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

// readTopics adds the topics of a consumer's metadata: a version and strings, whatever follows (§8-8). It is false where they cannot be
// read.
func readTopics(metadata []byte, topics map[string]struct{}) bool {
	if len(metadata) < 6 || int16(binary.BigEndian.Uint16(metadata)) < 0 {
		return false
	}
	count, rest := int32(binary.BigEndian.Uint32(metadata[2:])), metadata[6:]
	if count < 0 || int64(count)*2 > int64(len(rest)) {
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
	return true
}
