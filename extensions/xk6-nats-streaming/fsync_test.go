//go:build linux

package streaming

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// The levels of durability on the way to the disk: the settings of runner/brokers/nats-streaming.
func TestSyncBelongsToEachAcknowledgementOrToNone(t *testing.T) {
	const n = 50
	for _, c := range []struct {
		level    string
		settings []string
		// least and most flushes for n messages that are sent one after another.
		least, most int
	}{
		{"memory", []string{"-store", "memory"}, 0, 0},
		{"os", []string{"-store", "file", "-file_sync=false", "-file_auto_sync", "0s"}, 0, 0},
		// Messages and their index, each in a separate file.
		{"fsync", []string{"-store", "file", "-file_sync=true", "-file_auto_sync", "1m"}, n, 4 * n},
	} {
		t.Run(c.level, func(t *testing.T) {
			s := startServer(t, append(c.settings, "-dir", t.TempDir())...)
			brokertest.System{Driver: New, URL: s.URL}.Flushes(t, s.Server, n, c.least, c.most)
		})
	}
}
