//go:build linux

package nsq

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// What durability does on the way to the disk, counted by strace: the settings of runner/brokers/nsq. nsqd flushes after it has acknowledged, so
// no setting makes a flush belong to an acknowledgement.
func TestMessagesAreFlushedByNumberOrByTheClockOrNever(t *testing.T) {
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
		// least and most flushes for n messages that are sent one after another; then, by the clock, at least one.
		least, most int
		clock       bool
	}{
		// One or two when a topic is made, which may be on their way.
		{"memory", nil, 0, 2, false},
		{"os", []string{"--mem-queue-size=0", "--sync-every=1000000000000", "--sync-timeout=24h"}, 0, 2, false},
		{"interval", []string{"--mem-queue-size=0", "--sync-every=2500", "--sync-timeout=1s"}, 0, n, true},
		// The last one may be on its way. The queue's file, and where it begins and ends.
		{"by number", []string{"--mem-queue-size=0", "--sync-every=1", "--sync-timeout=24h"}, n - 1, 2*n + 2, false},
	} {
		t.Run(c.level, func(t *testing.T) {
			s := startServer(t, append(c.settings, "--data-path="+t.TempDir())...)
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
			producer, err := opened(t, s.url(), "").Producer(0)
			if err != nil {
				t.Fatal(err)
			}
			before := flushes()
			for range n {
				done := make(chan error, 1)
				producer.Send(&broker.Message{Name: "a.topic", Payload: make([]byte, 64)}, func(_ *broker.Message, _ int64, err error) { done <- err })
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			if got := flushes() - before; got < c.least || got > c.most {
				t.Errorf("%d flushes for %d acknowledged messages, want %d to %d", got, n, c.least, c.most)
			}
			if c.clock {
				eventually(t, "the clock flushes what was sent", func() bool { return flushes() > before })
			}
		})
	}
}
