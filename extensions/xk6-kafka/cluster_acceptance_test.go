//go:build acceptance

package kafka

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// What follows takes a minute each. TestAClusterGoesOnWithoutItsLeader and TestARestartedBrokerIsFoundAgainAndTheReconnectIsCounted are
// the short ones.

func TestATopicWithoutCopiesGoesOnWhenItsNodeIsBack(t *testing.T) {
	nodes, url := three(t)
	brokertest.Failover(t, brokertest.Cluster{
		System: brokertest.System{Driver: New, URL: url, DriverOptions: []byte(`{"acks": "1"}`)}, Replicas: 1, Group: true,
		Kill: func(t *testing.T, name string) func() {
			nodes[name].kill()
			return func() { nodes[name].run(t) }
		},
	})
}

func TestAClusterGoesOnWhenOneLeaderAfterTheOtherDies(t *testing.T) {
	nodes, url := three(t)
	brokertest.Failover(t, brokertest.Cluster{
		System:   brokertest.System{Driver: New, URL: url, DriverOptions: []byte(`{"acks": "all", "minInsyncReplicas": 2}`)},
		Replicas: 3, Group: true, Kills: 4,
		Kill: func(t *testing.T, name string) func() {
			nodes[name].kill()
			return func() { nodes[name].run(t) }
		},
	})
}
