//go:build linux

package mqtt

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// An acknowledgement comes from memory, even if mosquitto saves what it has.
func TestMosquittoSyncsNothing(t *testing.T) {
	s := startMosquitto(t, "persistence true", "persistence_location "+t.TempDir()+"/")
	flushes := brokertest.Flushes(t, s.Server)
	brokertest.FlushesFor(t, flushes, brokertest.Opened(t, New, s.url(), `{"qos": 2}`, "", "a.topic"), "a.topic", 50, 0, 0)
}
