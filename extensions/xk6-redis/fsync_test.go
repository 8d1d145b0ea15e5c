//go:build linux

package redis

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// What durability does on the way to the disk, counted by strace: the settings of runner/brokers/redis.
func TestFsyncBelongsToEachAcknowledgementOrToNone(t *testing.T) {
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
		// least and most flushes for n messages that are sent one after another; interval flushes once a second.
		least, most int
	}{
		{"memory", []string{"--appendonly", "no"}, 0, 0},
		{"os", []string{"--appendonly", "yes", "--appendfsync", "no"}, 0, 0},
		{"fsync", []string{"--appendonly", "yes", "--appendfsync", "always"}, n, 2 * n},
	} {
		for _, mode := range []string{modeStreams, modeLists} {
			t.Run(c.level+" "+mode, func(t *testing.T) {
				s := startServer(t, "redis-server", c.settings...)
				s.kill()
				trace := filepath.Join(t.TempDir(), "trace")
				s.start([]string{strace, "-f", "-e", "trace=fsync,fdatasync", "-o", trace})
				t.Cleanup(func() {
					// The process that we started is strace: its end is not the server's.
					client := redis.NewClient(&redis.Options{Addr: strings.TrimPrefix(s.url(), "redis://"), MaxRetries: -1})
					_ = client.ShutdownNoSave(context.Background()).Err()
					_ = client.Close()
				})
				flushes := func() int {
					text, err := os.ReadFile(trace)
					if err != nil {
						t.Fatal(err)
					}
					return strings.Count(string(text), "sync(")
				}
				r := newRig(t, s.url(), fmt.Sprintf(`{"mode": %q}`, mode), "disk", nil)
				before := flushes()
				for i := range int64(n) {
					r.send(i, 0)
					r.eventually("it is acknowledged", func() bool { well, _ := r.done(); return well == int(i)+1 })
				}
				if got := flushes() - before; got < c.least || got > c.most {
					t.Errorf("%d flushes for %d acknowledged messages; want %d to %d", got, n, c.least, c.most)
				}

				// One after another: a batch shares one.
				before = flushes()
				for i := range int64(10 * n) {
					r.send(n+i, 0)
				}
				r.eventually("all are acknowledged", func() bool { well, _ := r.done(); return well == 11*n })
				if got := flushes() - before; got > 10*n {
					t.Errorf("%d flushes for %d messages in batches", got, 10*n)
				}
			})
		}
	}
}
