//go:build acceptance

package kafka

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// Each of these tests takes a minute. TestAClusterGoesOnWithoutItsLeader and TestARestartedBrokerIsFoundAgainAndTheReconnectIsCounted are
// the short ones.
func TestNodesOfAClusterDieAndComeBack(t *testing.T) {
	nodes, url := three(t)
	kill := func(t *testing.T, name string) func() {
		nodes[name].kill()
		return nodes[name].run
	}
	t.Run("a topic without copies goes on when its node is back", func(t *testing.T) {
		brokertest.Failover(t, brokertest.Cluster{
			System: brokertest.System{Driver: New, URL: url, DriverOptions: []byte(`{"acks": "1"}`)}, Replicas: 1, Kill: kill,
		})
	})
	t.Run("the cluster goes on when one leader after the other dies", func(t *testing.T) {
		brokertest.Failover(t, brokertest.Cluster{
			System:   brokertest.System{Driver: New, URL: url, DriverOptions: []byte(`{"acks": "all", "minInsyncReplicas": 2}`)},
			Replicas: 3, Kills: 3, Kill: kill,
		})
	})
	for name, options := range map[string]string{
		"a share group": `{"groupProtocol": "share", "sessionTimeoutNs": 6000000000, "minInsyncReplicas": 2}`,
		"transactions":  `{"transactionNs": 20000000, "sessionTimeoutNs": 6000000000, "minInsyncReplicas": 2}`,
	} {
		t.Run(name+" goes on when one leader after the other dies", func(t *testing.T) {
			brokertest.Failover(t, brokertest.Cluster{
				System: brokertest.System{Driver: New, URL: url, DriverOptions: []byte(options)}, Replicas: 3, Kills: 2, Kill: kill,
			})
		})
	}
	// After such messages the library looks for the new leader, like after messages that it tries again.
	t.Run("what is tried once goes to the new leader", func(t *testing.T) {
		a := brokertest.System{Driver: New, URL: url, DriverOptions: []byte(`{"acks": "1"}`), Timeout: 5 * time.Second}.Traffic(t, "")
		a.Arrives()
		leader, err := broker.Leader(t.Context(), a.Session, a.Topic)
		if err != nil {
			t.Fatal(err)
		}
		nodes[leader].kill()
		a.Arrives()
	})
}
