//go:build acceptance

package amqp

import (
	"encoding/json"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// Both servers, each with queues and with topics, and with messages that are sent settled.
func TestServersOfAMQP10KeepTheContract(t *testing.T) {
	for _, of := range []struct {
		name  string
		start func(testing.TB) server
		// flags: Artemis does not count a delivery whose connection was lost.
		flags bool
	}{
		{"Artemis", func(t testing.TB) server { return startArtemis(t, true) }, false},
		{"ActiveMQ Classic", func(t testing.TB) server { return startClassic(t, "ALWAYS") }, true},
	} {
		for _, kind := range []struct {
			name, options string
			topic         bool
		}{
			{"queues", `{}`, false},
			{"topics", `{"destination": "topic"}`, true},
			{"settled", `{"settled": true}`, false},
		} {
			t.Run(of.name+" "+kind.name, func(t *testing.T) {
				s := of.start(t)
				brokertest.Run(t, func(t *testing.T) brokertest.System {
					return brokertest.System{
						Driver: New, URL: s.url, DriverOptions: json.RawMessage(kind.options), NoGroups: kind.topic, NoFanOut: !kind.topic, Queues: !kind.topic,
						FlagsRedelivery: of.flags, Broken: func(*testing.T) { s.Kill() },
					}
				})
			})
		}
	}
}
