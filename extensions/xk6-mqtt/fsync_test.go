//go:build linux

package mqtt

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// An acknowledgement comes from memory, even if mosquitto saves its state.
func TestMosquittoSyncsNothing(t *testing.T) {
	s := startMosquitto(t, "persistence true", "persistence_location "+t.TempDir()+"/")
	brokertest.System{Driver: New, URL: s.url(), DriverOptions: []byte(`{"qos": 2}`)}.Flushes(t, s.Server, 50, 0, 0)
}
