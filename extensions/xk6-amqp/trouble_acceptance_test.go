//go:build acceptance

package amqp

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

var servers = map[string]func(testing.TB, bool) server{
	"Artemis": startArtemis,
	"ActiveMQ Classic": func(t testing.TB, sync bool) server {
		return startClassic(t, map[bool]string{true: "ALWAYS", false: "NEVER"}[sync])
	},
}

func TestConsumersGoOnWhenTheServerHasComeBack(t *testing.T) {
	for name, start := range servers {
		for _, group := range []string{"", "workers"} {
			t.Run(name+" "+group, func(t *testing.T) {
				server := start(t, true)
				brokertest.System{Driver: New, URL: server.url, Durability: "fsync"}.Traffic(t, group).Survives(server.Server)
			})
		}
	}
}

func TestAFrozenServerIsGivenUp(t *testing.T) {
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			server := start(t, true)
			brokertest.System{Driver: New, URL: server.url}.Traffic(t, "").NoticesSilence(server.Server)
		})
	}
}

func TestAllConsumersOfAQueueWork(t *testing.T) {
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			brokertest.System{Driver: New, URL: start(t, false).url, DriverOptions: []byte(`{"prefetch": 1}`)}.Shares(t)
		})
	}
}

// What durability does on the way to the disk: the settings of runner/brokers/amqp.
func TestSyncBelongsToEachAcknowledgementOrToNone(t *testing.T) {
	const n = 50
	for name, start := range servers {
		for _, c := range []struct {
			durability string
			sync       bool
			// least and most flushes for n messages that are sent one after another.
			least, most int
		}{
			// A few for the queue itself, and for what the server does by the clock.
			{"memory", true, 0, n / 2},
			{"os", false, 0, n / 2},
			{"fsync", true, n, 6 * n},
		} {
			t.Run(name+" "+c.durability, func(t *testing.T) {
				s := start(t, c.sync)
				brokertest.System{Driver: New, URL: s.url, Durability: c.durability}.Flushes(t, s.Server, n, c.least, c.most)
			})
		}
	}
}
