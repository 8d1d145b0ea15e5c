//go:build acceptance

package kafka

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
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

// Messages that are tried once make the library look for the new leader as those that it tries again do.
func TestWhatIsTriedOnceGoesToTheNewLeader(t *testing.T) {
	nodes, url := three(t)
	b := open(t, broker.Options{
		URL: url, Replicas: 3, Driver: []byte(`{"acks": "1"}`), TimeoutNs: int64(5 * time.Second),
	}, false)
	b.send()
	b.until("the first message is acknowledged", func() bool { return b.acked == 1 })
	leader, err := b.session.(broker.LeaderFinder).Leader(t.Context(), b.topic)
	if err != nil {
		t.Fatal(err)
	}
	nodes[leader].kill()
	acked := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.acked
	}
	for deadline := time.Now().Add(time.Minute); acked() < 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no message has reached the new leader within a minute")
		}
		b.send()
	}
}
