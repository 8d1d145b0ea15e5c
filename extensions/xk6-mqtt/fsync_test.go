//go:build linux

package mqtt

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// What an acknowledgement has been through: memory with mosquitto, even if it saves what it has; the disk with nats-server
// as `jetstream.sync_interval: always` has it.
func TestMosquittoSyncsNothingAndNATSWhatItIsToldTo(t *testing.T) {
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
			flushes := brokertest.Flushes(t, s.Server)
			brokertest.FlushesFor(t, flushes, brokertest.Opened(t, New, s.url(), c.options, "", "a.topic"), "a.topic", n, c.least, c.most)
		})
	}
}
