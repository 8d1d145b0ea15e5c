//go:build acceptance

package amqp

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// onEach runs a test on a server of each kind that syncs its journal, or not; what else the caller runs like that runs beside it.
func onEach(t *testing.T, name string, sync bool, test func(*testing.T, brokertest.Located)) {
	for kind, start := range map[string]func(testing.TB, bool) brokertest.Located{"Artemis ": startArtemis, "ActiveMQ Classic ": startClassic} {
		t.Run(kind+name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t, sync))
		})
	}
}

func TestConsumersGoOnWhenTheServerHasComeBack(t *testing.T) {
	for _, group := range []string{"", "workers"} {
		onEach(t, group, true, func(t *testing.T, server brokertest.Located) {
			brokertest.System{Driver: New, URL: server.URL, Durability: "fsync"}.Traffic(t, group).Survives(server.Server)
		})
	}
}

func TestAFrozenServerIsGivenUp(t *testing.T) {
	onEach(t, "", true, func(t *testing.T, server brokertest.Located) {
		brokertest.System{Driver: New, URL: server.URL}.Traffic(t, "").NoticesSilence(server.Server)
	})
}

func TestAllConsumersOfAQueueWork(t *testing.T) {
	onEach(t, "", false, func(t *testing.T, server brokertest.Located) {
		brokertest.System{Driver: New, URL: server.URL, DriverOptions: []byte(`{"prefetch": 1}`)}.Shares(t)
	})
}

// The levels of durability on the way to the disk: the settings of runner/brokers/amqp.
func TestSyncBelongsToEachAcknowledgementOrToNone(t *testing.T) {
	const n = 50
	for _, c := range []struct {
		durability string
		sync       bool
		// least and most flushes for n messages that are sent one after another.
		least, most int
	}{
		// A few for the queue itself, and for the server's periodic work.
		{"memory", true, 0, n / 2},
		{"os", false, 0, n / 2},
		{"fsync", true, n, 6 * n},
	} {
		onEach(t, c.durability, c.sync, func(t *testing.T, server brokertest.Located) {
			brokertest.System{Driver: New, URL: server.URL, Durability: c.durability}.Flushes(t, server.Server, n, c.least, c.most)
		})
	}
}
