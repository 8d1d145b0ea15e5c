//go:build linux

package nsq

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// The levels of durability on the way to the disk: the settings of runner/brokers/nsq. nsqd flushes after it has acknowledged, so no
// setting makes a flush belong to an acknowledgement.
func TestMessagesAreFlushedByNumberOrByTheClockOrNever(t *testing.T) {
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
		{"by number", []string{"--mem-queue-size=0", "--sync-every=1", "--sync-timeout=24h"}, n - 1, 2*n + 4, false},
	} {
		t.Run(c.level, func(t *testing.T) {
			s := startServer(t, c.settings...)
			flushes := brokertest.System{Driver: New, URL: s.URL}.Flushes(t, s.Server, n, c.least, c.most)
			if c.clock {
				brokertest.Eventually(t, "the clock flushes what was sent", func() bool { return flushes() > 0 })
			}
		})
	}
}
