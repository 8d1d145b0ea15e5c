package rabbitmq

import (
	"encoding/json"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestConformance(t *testing.T) {
	tests := []struct {
		name, options, durability string
		broken                    bool
	}{
		{"classic queues", ``, "", true},
		{"quorum queues", ``, "fsync", true},
		{"transient queues", ``, "memory", false},
		{"transient queues without confirms", `{"queue": "transient", "confirms": false}`, "", false},
		{"a topic exchange", `{"exchange": "topic", "prefetch": 1}`, "os", false},
		{"fanout exchanges", `{"exchange": "fanout", "persistent": false}`, "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			brokertest.Run(t, func(t *testing.T) brokertest.System {
				s := running(t)
				system := brokertest.System{
					Driver: New, URL: s.url(), Durability: test.durability, FlagsRedelivery: true, Exists: s.exists,
				}
				if test.options != "" {
					system.DriverOptions = json.RawMessage(test.options)
				}
				if test.broken {
					system.Broken = s.broken
				}
				return system
			})
		})
	}
}
