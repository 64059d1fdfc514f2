package kafka

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const nodeID = "1"

// newClusterID is an id as Kafka makes them: 16 bytes in URL-safe base 64. It must not begin with a dash, which the tool would
// take for an option.
func newClusterID() string {
	for {
		var raw [16]byte
		_, _ = rand.Read(raw[:]) // never fails
		if id := base64.RawURLEncoding.EncodeToString(raw[:]); id[0] != '-' {
			return id
		}
	}
}

// prepareStorage writes the properties and, where there is no data yet, formats the storage with a cluster id of its own, by
// which the broker is told from another one that might answer on the same port.
func (b *Broker) prepareStorage(ctx context.Context) error {
	if err := b.writeProperties(); err != nil {
		return err
	}
	meta := filepath.Join(b.dataDir(), "meta.properties")
	if text, err := os.ReadFile(meta); err == nil {
		b.clusterID = clusterIDOf(string(text))
		if b.clusterID == "" {
			return fmt.Errorf("%s names no cluster.id: remove the folder %s or give another one", meta, b.dataDir())
		}
		return nil
	}
	template, err := b.template(ctx)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(b.dataDir()); err != nil {
		return err
	}
	if err := os.CopyFS(b.dataDir(), os.DirFS(template)); err != nil {
		return diskError("copying formatted storage", err)
	}
	text, err := os.ReadFile(meta)
	if err != nil {
		return err
	}
	b.clusterID = newClusterID()
	return writeFile(meta, strings.Replace(string(text), "cluster.id="+clusterIDOf(string(text)), "cluster.id="+b.clusterID, 1))
}

func clusterIDOf(meta string) string {
	for line := range strings.Lines(meta) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "cluster.id="); ok {
			return id
		}
	}
	return ""
}

// template is a folder of storage formatted by this release. The tool takes most of a second, so it is kept in the cache: only
// meta.properties names the cluster, and nothing in it names ports or folders.
func (b *Broker) template(ctx context.Context) (string, error) {
	dir := filepath.Join(b.release.cache, "template")
	if _, err := os.Stat(filepath.Join(dir, "meta.properties")); err == nil {
		return dir, nil
	}
	unlock, err := lockFile(ctx, filepath.Join(b.release.cache, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(filepath.Join(dir, "meta.properties")); err == nil {
		return dir, nil // formatted by another process in the meantime
	}
	if err := b.format(ctx); err != nil {
		return "", err
	}
	part := dir + ".part"
	if err := errors.Join(os.RemoveAll(part), os.RemoveAll(dir)); err != nil {
		return "", err
	}
	if err := os.CopyFS(part, os.DirFS(b.dataDir())); err != nil {
		return "", diskError("keeping formatted storage", err)
	}
	if err := os.Rename(part, dir); err != nil {
		return "", err
	}
	return dir, nil
}

// format runs Kafka's own tool on the broker's data folder.
func (b *Broker) format(ctx context.Context) error {
	if err := os.RemoveAll(b.dataDir()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	classPath, err := b.classPathFile()
	if err != nil {
		return err
	}
	args := append([]string{}, jvmFlags...)
	args = append(args, classPath, "kafka.tools.StorageTool", "format", "-t", newClusterID(), "-c", b.propertiesFile())
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, b.java.path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.dir, &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if known := explainLog(out.String(), b.Version, 0); known != nil {
			return known
		}
		if werr := appendFile(b.logFile, out.Bytes()); werr != nil {
			return diskError("writing the broker's log", werr)
		}
		return &BootError{Version: b.Version, LogFile: b.logFile, Tail: tail(out.String(), 12), Err: fmt.Errorf("formatting its storage failed (%w)", err)}
	}
	return nil
}
