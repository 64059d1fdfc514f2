package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A server that is killed right after an answer has what it answered when it is started again; its folder is its own, and one that is
// damaged is not served.
func TestServeData(t *testing.T) {
	t.Parallel()
	for _, durability := range []string{"os", "fsync"} {
		dir := filepath.Join(t.TempDir(), "kept")
		args := []string{"serve", "--port", "0", "--data", dir, "--durability", durability}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for at := range int64(2) {
			run := start(t, command(t, time.Minute, args...))
			run.stdout.await(t, "\n", time.Minute)
			cl, err := kgo.NewClient(kgo.SeedBrokers(strings.TrimSpace(run.stdout.String())), kgo.AllowAutoTopicCreation())
			if err != nil {
				t.Fatal(err)
			}
			adm := kadm.NewClient(cl)
			if at == 0 {
				if _, err := adm.CreateTopic(ctx, 1, 1, nil, "t"); err != nil {
					t.Fatal(err)
				}
				if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "made-by-itself", Value: []byte("kept")}).FirstErr(); err != nil {
					t.Fatal(err)
				}
			} else {
				if got, err := adm.ListEndOffsets(ctx, "made-by-itself"); err != nil || got["made-by-itself"][0].Offset != 1 {
					t.Errorf("a topic that nobody made by a request has after a kill: %v, %v", got, err)
				}
				if got, err := adm.FetchOffsets(ctx, "g"); err != nil || got["t"][0].At != at {
					t.Errorf("after a kill: %v, %v", got, err)
				}
			}
			var offsets kadm.Offsets
			offsets.Add(kadm.Offset{Topic: "t", At: at + 1, LeaderEpoch: -1})
			if err := adm.CommitAllOffsets(ctx, "g", offsets); err != nil {
				t.Fatal(err)
			}
			if at == 0 {
				muster(t, time.Minute, args...).expect(t, 3, "another process uses the data folder")
			}
			run.cmd.Process.Signal(syscall.SIGKILL)
			_ = run.cmd.Wait()
			cl.Close()
		}
		logs, err := filepath.Glob(filepath.Join(dir, "groups", "*.log"))
		if err != nil || len(logs) == 0 {
			t.Fatalf("no log in %s, %v", dir, err)
		}
		run := start(t, command(t, time.Minute, args...)) // ends in order, so all is known to be synced
		run.stderr.await(t, "records of groups and offsets loaded from "+dir, time.Minute)
		run.stdout.await(t, "\n", time.Minute)
		run.cmd.Process.Signal(syscall.SIGTERM)
		run.end(t).expect(t, 0)
		files, err := filepath.Glob(filepath.Join(dir, "groups", "*.sst"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no table in %s, %v", dir, err)
		}
		b, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		b[20] ^= 1
		if err := os.WriteFile(files[0], b, 0o644); err != nil {
			t.Fatal(err)
		}
		muster(t, time.Minute, args...).expect(t, 3, "the data folder is damaged", "put a copy", "move it away to begin without groups (then remove "+filepath.Join(dir, "muster-serve.txt")+", too)")
	}
	muster(t, time.Minute, "serve", "--durability", "fsync").expect(t, 64, "--data")
	muster(t, time.Minute, "serve", "--data", "").expect(t, 64, "names no folder")
	muster(t, time.Minute, "serve", "--data", "x", "--durability", "maybe").expect(t, 64, "want os or fsync")
	muster(t, time.Minute, "serve", "kfake", "--durability", "fsync").expect(t, 64, "--data")
}

// kfake alone keeps its topics and offsets as well, where it is told to.
func TestServeFakeData(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := []string{"serve", "kfake", "--port", "0", "--data", filepath.Join(t.TempDir(), "kept"), "--durability", "fsync"}
	for again := range 2 {
		run := start(t, command(t, time.Minute, args...))
		run.stdout.await(t, "\n", time.Minute)
		cl, err := kgo.NewClient(kgo.SeedBrokers(strings.TrimSpace(run.stdout.String())))
		if err != nil {
			t.Fatal(err)
		}
		adm := kadm.NewClient(cl)
		if again == 0 {
			if _, err := adm.CreateTopic(ctx, 1, 1, nil, "t"); err != nil {
				t.Fatal(err)
			}
			var offsets kadm.Offsets
			offsets.Add(kadm.Offset{Topic: "t", At: 7, LeaderEpoch: -1})
			if err := adm.CommitAllOffsets(ctx, "g", offsets); err != nil {
				t.Fatal(err)
			}
		} else if got, err := adm.FetchOffsets(ctx, "g"); err != nil || got["t"][0].At != 7 {
			t.Errorf("after a kill: %v, %v", got, err)
		}
		run.cmd.Process.Signal(syscall.SIGKILL)
		_ = run.cmd.Wait()
		cl.Close()
	}
}
