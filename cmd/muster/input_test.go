package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/muster-kafka/muster/internal/input"
)

// What has no end must not be read to it: neither a device nor a file that cannot be meant.
func TestFilesThatCannotBeMeant(t *testing.T) {
	device := "/dev/zero"
	if _, err := os.Stat(device); err != nil {
		t.Skipf("needs %s", device)
	}
	large := func(name string, size int64) string {
		path := filepath.Join(t.TempDir(), name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(size + 1); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := large("scenario.txt", input.Text)
	store := writeText(t, "client.properties", "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location="+device+"\n")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a device as a scenario":   {[]string{"run", device}, "not a regular file"},
		"a device as a history":    {[]string{"check", device}, "not a regular file"},
		"a device as known":        {[]string{"verify", "model", "--known", device}, "not a regular file"},
		"a device as config":       {[]string{"verify", "127.0.0.1:1", "--config", device}, "not a regular file"},
		"a device as a truststore": {[]string{"verify", "127.0.0.1:1", "--config", store}, "not a regular file"},
		"a large scenario":         {[]string{"run", text}, "too large"},
		"a large list":             {[]string{"verify", "model", "--known", text}, "too large"},
		"a large config":           {[]string{"verify", "127.0.0.1:1", "--config", text}, "too large"},
		"a large history":          {[]string{"check", large("history.jsonl", input.History)}, "too large"},
		"a folder as a history":    {[]string{"check", t.TempDir()}, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			muster(t, 10*time.Second, c.args...).expect(t, 64, c.want)
		})
	}
}
