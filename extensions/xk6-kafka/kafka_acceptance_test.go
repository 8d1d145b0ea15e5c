//go:build acceptance

package kafka

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// TestConformance tests acks all and 0. TestWhatIsSentToABrokerThatDies tests the fate of messages with acknowledgements when the broker
// dies.
func TestConformanceWithTheLeadersAcknowledgement(t *testing.T) {
	conforms(t, `{"acks": "1", "assignor": "cooperative-sticky", "sessionTimeoutNs": 6000000000}`, nil)
}

func TestConformanceOfShareGroups(t *testing.T) {
	t.Run("whole batches", func(t *testing.T) { conforms(t, `{"groupProtocol": "share", "sessionTimeoutNs": 6000000000}`, nil) })
	t.Run("a message at a time", func(t *testing.T) {
		conforms(t, `{"groupProtocol": "share", "prefetch": 1, "acknowledge": "batch", "sessionTimeoutNs": 6000000000}`, nil)
	})
}

func TestConformanceOfTransactions(t *testing.T) {
	broken := func(*testing.T) { shared.kill() }
	t.Run("in a group", func(t *testing.T) {
		conforms(t, `{"transactionNs": 1000000, "sessionTimeoutNs": 6000000000}`, nil)
	})
	t.Run("in a share group", func(t *testing.T) {
		conforms(t, `{"transactionNs": 1000000, "transactionMessages": 10, "groupProtocol": "share", "sessionTimeoutNs": 6000000000}`, broken)
	})
}

func TestTheOnlyBrokerIsKilledAndNothingIsLost(t *testing.T) {
	for name, options := range map[string]string{
		"share group":                 `{"groupProtocol": "share", "sessionTimeoutNs": 6000000000}`,
		"transactions":                `{"transactionNs": 20000000, "sessionTimeoutNs": 6000000000}`,
		"transactions, a share group": `{"transactionNs": 20000000, "groupProtocol": "share", "sessionTimeoutNs": 6000000000}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := running(t)
			brokertest.Failover(t, brokertest.Cluster{
				System:   brokertest.System{Driver: New, URL: s.url, DriverOptions: []byte(options)},
				Replicas: 1, Kills: 3, Kill: func(*testing.T, string) func() { s.kill(); return s.run },
			})
		})
	}
}
