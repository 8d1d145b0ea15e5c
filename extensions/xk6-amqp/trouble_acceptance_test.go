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
				session := brokertest.Opened(t, New, server.url, "", "fsync", "a.queue", group)
				brokertest.TrafficOf(t, session, "a.queue", group).Survives(t, session, server.Server)
			})
		}
	}
}

func TestAFrozenServerIsGivenUp(t *testing.T) {
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			server := start(t, true)
			brokertest.TrafficOf(t, brokertest.Opened(t, New, server.url, "", "", "a.queue"), "a.queue", "").NoticesSilence(t, server.Server)
		})
	}
}

func TestAllConsumersOfAQueueWork(t *testing.T) {
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			brokertest.Shared(t, New, start(t, false).url, `{"prefetch": 1}`, "a.queue")
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
				flushes := brokertest.Flushes(t, s.Server)
				brokertest.FlushesFor(t, flushes, brokertest.Opened(t, New, s.url, "", c.durability, "a.queue"), "a.queue", n, c.least, c.most)
			})
		}
	}
}
