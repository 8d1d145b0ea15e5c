//go:build acceptance

package amqp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// Both servers, each with queues and with topics, and with messages that are sent settled.
func TestServersOfAMQP10KeepTheContract(t *testing.T) {
	for _, kind := range []struct {
		name, options string
		topic         bool
	}{
		{"queues", `{}`, false},
		{"topics", `{"destination": "topic"}`, true},
		{"settled", `{"settled": true}`, false},
	} {
		onEach(t, kind.name, true, func(t *testing.T, s brokertest.Located) {
			brokertest.Run(t, func(t *testing.T) brokertest.System {
				return brokertest.System{
					Driver: New, URL: s.URL, DriverOptions: json.RawMessage(kind.options), NoGroups: kind.topic, NoFanOut: !kind.topic, Queues: !kind.topic,
					// Artemis does not count a delivery whose connection was lost.
					FlagsRedelivery: strings.Contains(t.Name(), "Classic"), Broken: func(*testing.T) { s.Kill() },
				}
			})
		})
	}
}
