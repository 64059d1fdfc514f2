package kafka

import (
	"errors"
	"io"
	"os"
	"strings"
)

// readLog reads a log from an offset on, its last MiB at most.
func readLog(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 1 << 20
	if st, err := f.Stat(); err == nil && st.Size()-from > most {
		from = st.Size() - most
	}
	text, err := io.ReadAll(io.NewSectionReader(f, from, most))
	if err != nil {
		return ""
	}
	return string(text)
}

// tail is the last n lines.
func tail(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

// keepLog copies a log that would go with its folder to the folder for temporary files.
func keepLog(path string, goes bool, version string) (string, error) {
	if !goes {
		return path, nil
	}
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.CreateTemp("", "muster-kafka-"+version+"-*.log")
	if err != nil {
		return "", diskError("keeping the broker's log", err)
	}
	if _, err = io.Copy(out, in); err == nil {
		err = out.Close()
	}
	if err != nil {
		_ = out.Close()
		_ = os.Remove(out.Name())
		return "", diskError("keeping the broker's log", err)
	}
	return out.Name(), nil
}

// nameLog makes the log that an error names outlive the broker's folder.
func (b *Broker) nameLog(err error) error {
	var boot *BootError
	if errors.As(err, &boot) {
		if kept, kerr := b.KeepLog(); kerr == nil {
			boot.LogFile = kept
		}
	}
	return err
}

func appendFile(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
