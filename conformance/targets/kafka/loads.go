package kafka

import (
	"bytes"
	"context"
	"io"
	"os"
)

// A broker that is started again takes its groups' partition for its own at once, as its metadata say, loads it, gives it up when the controller registers its
// new life, and loads it again. The Java coordinator does not look whose end it is when a load ends. Where the first is slow and ends while the second is
// under way, the group coordinator serves from then on what the second has read so far: offsets look as if they had never been committed, and the sessions
// of members that are read later never end. Seen on 4.3.1.

// Sound waits after Recover until nothing is loaded any more, and says whether each load has ended by itself. It is true where the log tells nothing of
// loads, as that of the Scala coordinator does.
func (t *Target) Sound(ctx context.Context) bool {
	for range 100 { // 2 s: the end of a load that was given up is not always told
		asked, ended, ignored := loads(t.since(t.logged))
		if ignored > 0 {
			return false
		}
		if asked == ended || pause(ctx) != nil {
			return true
		}
	}
	return true
}

// since is what comes after that place in the broker's log; nothing where it cannot be read.
func (t *Target) since(from int64) []byte {
	f, err := os.Open(t.broker.LogFile())
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.NewSectionReader(f, from, most))
	return text
}

// most is how much of a log is read. It tells of each group that is loaded.
const most = 64 << 20

// loads counts in a log the loads of the groups' partition, those that have ended, and the ends that were ignored, as another load had ended before.
func loads(log []byte) (asked, ended, ignored int) {
	count := func(text string) int { return bytes.Count(log, []byte(text)) }
	ignored = count("Ignored load completion from " + offsetsTopic)
	return count("Scheduling loading of metadata from " + offsetsTopic),
		count("Finished loading of metadata from "+offsetsTopic) + count("Failed to load metadata from "+offsetsTopic) + ignored, ignored
}
