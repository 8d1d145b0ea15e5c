//go:build linux

package mqtt

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// What an acknowledgement has been through, counted by strace: memory with mosquitto, even if it saves what it has; the disk with nats-server
// as `jetstream.sync_interval: always` has it.
func TestMosquittoSyncsNothingAndNATSWhatItIsToldTo(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("strace is not on PATH")
		}
		t.Skip("strace is not on PATH: install it to run this test")
	}
	const n = 50
	for _, c := range []struct {
		name, options string
		start         func() server
		least, most   int
	}{
		{"mosquitto", `{"qos": 2}`, func() server { return startMosquitto(t, "persistence true", "persistence_location "+t.TempDir()+"/") }, 0, 0},
		{"nats", `{"protocol": "3.1.1"}`, func() server { return startNATS(t, "sync_interval: always") }, n, 4 * n},
		{"nats by the clock", `{"protocol": "3.1.1"}`, func() server { return startNATS(t, "") }, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.start()
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
			producer, err := opened(t, s.url(), c.options).Producer(0)
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
		})
	}
}
