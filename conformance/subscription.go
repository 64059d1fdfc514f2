package conformance

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// subscription is the metadata that a word of a JoinGroup's list stands for: topics(t,u) is a consumer's subscription to the topics
// that scenarios call t and u, in the bytes that coordinators read; all else is its own bytes.
func (r *run) subscription(word string) ([]byte, error) {
	list, ok := strings.CutPrefix(word, "topics(")
	if !ok || !strings.HasSuffix(list, ")") {
		return []byte(word), nil
	}
	meta := kmsg.NewConsumerMemberMetadata()
	for _, name := range strings.Split(strings.TrimSuffix(list, ")"), ",") {
		if name == "" {
			continue
		}
		real, err := r.topic(name)
		if err != nil {
			return nil, err
		}
		meta.Topics = append(meta.Topics, real)
	}
	bytes := meta.AppendTo(nil)
	r.names.blobs[string(bytes)] = word
	return bytes, nil
}
