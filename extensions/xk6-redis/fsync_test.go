//go:build linux

package redis

import (
	"fmt"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// The levels of durability on the way to the disk, counted by strace: the settings of runner/brokers/redis.
func TestFsyncBelongsToEachAcknowledgementOrToNone(t *testing.T) {
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
				brokertest.System{Driver: New, URL: s.url(), DriverOptions: fmt.Appendf(nil, `{"mode": %q}`, mode)}.Flushes(t, s.Server, n, c.least, c.most)
			})
		}
	}
}
