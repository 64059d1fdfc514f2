package observe

import (
	"encoding/binary"

	"github.com/muster-kafka/muster/model/classic"
)

// subscription is what the metadata of a protocol says of topics, or not known where a consumer's subscription cannot be read from it
// (offsets.subscribed). It counts every list, whatever its protocol type: the model looks at that.
func (w *World) subscription(t *symbols, metadata []byte) (classic.Topics, error) {
	names, ok := readSubscription(metadata)
	if !ok {
		return 0, nil
	}
	set := classic.KnownTopics
	for _, name := range names {
		s, err := w.internTopic(t, name)
		if err != nil {
			return 0, err
		}
		set |= 1 << s
	}
	return set, nil
}

// topicSymbol is the symbol of a topic.
func (w *World) topicSymbol(name string) (uint8, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := *w.symbols.Load()
	n, err := w.internTopic(&t, name)
	w.symbols.Store(&t)
	return n, err
}

func (w *World) internTopic(t *symbols, name string) (uint8, error) {
	if n, ok := w.topics[name]; ok {
		return n, nil
	}
	if len(t.topics) >= classic.MaxTopics {
		return 0, errFull
	}
	n := uint8(len(t.topics))
	t.topics = append(t.topics, name)
	w.topics[name] = n
	return n, nil
}

// readSubscription reads the part of a consumer's subscription that all its versions begin with: version, topics, user data.
func readSubscription(b []byte) (topics []string, ok bool) {
	if len(b) < 6 {
		return nil, false
	}
	count, b := int32(binary.BigEndian.Uint32(b[2:])), b[6:]
	if count < 0 || int(count) > len(b)/2 {
		return nil, false
	}
	for range count {
		if len(b) < 2 {
			return nil, false
		}
		n := int(int16(binary.BigEndian.Uint16(b)))
		if n < 0 || len(b) < 2+n {
			return nil, false
		}
		topics = append(topics, string(b[2:2+n]))
		b = b[2+n:]
	}
	if len(b) < 4 {
		return nil, false
	}
	data := int32(binary.BigEndian.Uint32(b))
	return topics, data < 0 || int(data) <= len(b)-4
}
