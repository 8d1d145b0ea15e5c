//go:build linux

package streaming

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// What durability does on the way to the disk, counted by strace: the settings of runner/brokers/nats-streaming.
func TestSyncBelongsToEachAcknowledgementOrToNone(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("strace is not on PATH")
		}
		t.Skip("strace is not on PATH: install it to run this test")
	}
	const n = 50
	for _, c := range []struct {
		level    string
		settings []string
		// least and most flushes for n messages that are sent one after another.
		least, most int
	}{
		{"memory", []string{"-store", "memory"}, 0, 0},
		{"os", []string{"-store", "file", "-file_sync=false", "-file_auto_sync", "0s"}, 0, 0},
		// Messages and their index, each in a file of its own.
		{"fsync", []string{"-store", "file", "-file_sync=true", "-file_auto_sync", "1m"}, n, 4 * n},
	} {
		t.Run(c.level, func(t *testing.T) {
			s := startServer(t, append(c.settings, "-dir", t.TempDir())...)
			s.Kill()
			trace := filepath.Join(t.TempDir(), "trace")
			s.Start(strace, "-f", "-e", "trace=fsync,fdatasync", "-o", trace)
			flushes := func() int {
				text, err := os.ReadFile(trace)
				if err != nil {
					t.Fatal(err)
				}
				return strings.Count(string(text), "sync(")
			}
			producer, err := opened(t, s.url, "").Producer(0)
			if err != nil {
				t.Fatal(err)
			}
			before := flushes()
			for range n {
				done := make(chan error, 1)
				producer.Send(&broker.Message{Name: "a.channel", Payload: make([]byte, 64)}, func(_ *broker.Message, _ int64, err error) { done <- err })
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			if got := flushes() - before; got < c.least || got > c.most {
				t.Errorf("%d flushes for %d acknowledged messages, want %d to %d", got, n, c.least, c.most)
			}
		})
	}
}
