//go:build unix && acceptance

package rabbitmq

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestConformanceOfStreams(t *testing.T) {
	for _, options := range []string{`{"queue": "stream"}`, `{"queue": "stream", "subEntrySize": 10, "acknowledge": "batch"}`} {
		t.Run(options, func(t *testing.T) {
			brokertest.Run(t, func(t *testing.T) brokertest.System { return streams(t, options) })
		})
	}
}

// A broker that is killed, or silent, loses nothing that it confirmed, and consumers go on where they were.
func TestStreamsSurviveABrokerThatIsKilledOrFrozen(t *testing.T) {
	for _, group := range []string{"", "workers"} {
		for _, options := range []string{`{"queue": "stream"}`, `{"queue": "stream", "subEntrySize": 10}`} {
			s := running(t)
			traffic := streams(t, options).Traffic(t, group)
			traffic.Arrives()
			// RabbitMQ 3.10 itself loses a stream if it is killed within a second after it has made its first one.
			time.Sleep(3 * time.Second)
			traffic.Survives(s.Server)
			traffic.NoticesSilence(s.Server)
			traffic.Settles()
			if left := traffic.LostOrTwice(); len(left) > 0 {
				t.Errorf("group %q, %s: confirmed messages that did not arrive, or messages that arrived twice: %v", group, options, left)
			}
		}
	}
}
