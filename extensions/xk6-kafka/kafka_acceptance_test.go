//go:build acceptance

package kafka

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// TestConformance tests acks all and 0. TestWhatIsSentToABrokerThatDies tests the fate of messages with acknowledgements when the broker
// dies.
func TestConformanceOfOtherModes(t *testing.T) {
	running(t)
	t.Run("side by side", func(t *testing.T) {
		for name, options := range map[string]string{
			"the leader's acknowledgement":  `{"acks": "1", "assignor": "cooperative-sticky", "sessionTimeoutNs": 6000000000}`,
			"a share group, whole batches":  `{"groupProtocol": "share", "sessionTimeoutNs": 6000000000}`,
			"a share group, by message":     `{"groupProtocol": "share", "prefetch": 1, "acknowledge": "batch", "sessionTimeoutNs": 6000000000}`,
			"transactions, read in a group": `{"transactionNs": 1000000, "sessionTimeoutNs": 6000000000}`,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				conforms(t, options, nil)
			})
		}
	})
	t.Run("transactions, read in a share group, until the broker is gone", func(t *testing.T) {
		const options = `{"transactionNs": 1000000, "transactionMessages": 10, "groupProtocol": "share", "sessionTimeoutNs": 6000000000}`
		conforms(t, options, func(*testing.T) { shared.kill() })
	})
}

func TestTheOnlyBrokerIsKilledAndNothingIsLost(t *testing.T) {
	for name, options := range map[string]string{
		"share group":                   `{"groupProtocol": "share", "sessionTimeoutNs": 6000000000}`,
		"transactions":                  `{"transactionNs": 20000000, "sessionTimeoutNs": 6000000000}`,
		"transactions to a share group": `{"transactionNs": 20000000, "groupProtocol": "share", "sessionTimeoutNs": 6000000000}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, t.TempDir(), setup{})
			brokertest.Failover(t, brokertest.Cluster{
				System:   brokertest.System{Driver: New, URL: s.url, DriverOptions: []byte(options)},
				Replicas: 1, Kills: 2, Kill: func(*testing.T, string) func() { s.kill(); return s.run },
			})
		})
	}
}
