package nats

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestAFrozenServerHoldsUpASendForTheTimeoutAtMostAndCloseHardly(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"core", "jetstream"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			server, url := process(t, "")
			session := opened(t, url, fmt.Sprintf(`{"mode": %q}`, mode), func(o *broker.Options) {
				o.Connections, o.MessageBytes, o.TimeoutNs = 2, 1<<20, int64(2*time.Second)
			})
			server.Freeze()
			// The kernel's buffers take some megabytes.
			fill := func(connection int) (longest time.Duration) {
				producer, err := session.Producer(connection)
				if err != nil {
					t.Error(err)
				}
				var failed atomic.Bool
				for i := 0; i < 100 && !failed.Load(); i++ {
					called := time.Now()
					producer.Send(&broker.Message{Name: "a.topic", Payload: make([]byte, 1<<20)}, func(_ *broker.Message, _ int64, err error) {
						failed.CompareAndSwap(false, err != nil)
					})
					longest = max(longest, time.Since(called))
				}
				return longest
			}
			if longest := fill(0); longest < time.Second || longest > 10*time.Second {
				t.Errorf("the longest send took %s; the timeout is 2 s", longest)
			}
			filled := make(chan struct{})
			go func() { defer close(filled); fill(1) }()
			time.Sleep(500 * time.Millisecond)
			began := time.Now()
			_ = session.Close()
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("Close took %s", took)
			}
			select {
			case <-filled:
			case <-time.After(10 * time.Second):
				t.Error("a send that was held up does not return after Close")
			}
		})
	}
}

func TestReplicasAreOnThreeNodesAndSayWhoLeads(t *testing.T) {
	t.Parallel()
	_, url := cluster(t)
	session := opened(t, url, streams, func(o *broker.Options) { o.Replicas, o.Connections = 3, 3 })
	send(t, session, 0, 100).ends(t, 100, 0)
	got := info(t, url)
	if got.Config.Replicas != 3 || got.Cluster == nil || len(got.Cluster.Replicas) != 2 || got.State.Msgs != 100 {
		t.Errorf("replicas %d, cluster %+v, %d messages; want 3, a leader with 2 followers, 100", got.Config.Replicas, got.Cluster, got.State.Msgs)
	}
	nodes := map[string]bool{}
	for _, c := range session.(*jetStreamSession).all {
		nodes[c.ConnectedServerName()] = true
	}
	if len(nodes) != 3 {
		t.Errorf("3 connections go to %v; want one to each node", nodes)
	}
	leads := session.(broker.LeaderFinder)
	if name, err := leads.Leader(t.Context(), "a.topic"); err != nil || name == "" || name != info(t, url).Cluster.Leader {
		t.Errorf("Leader = %q, %v; the stream says %q", name, err, info(t, url).Cluster.Leader)
	}
	if name, err := leads.Leader(t.Context(), "another"); err == nil {
		t.Errorf("Leader of a topic that is none = %q", name)
	}
	refused := time.Now()
	if _, err := opens(t, url, streams, func(o *broker.Options) { o.Replicas = 5 }); err == nil || !strings.Contains(err.Error(), "no suitable peers") {
		t.Errorf("5 replicas on 3 nodes: %v", err)
	}
	if took := time.Since(refused); took > 20*time.Second {
		t.Errorf("the refusal took %s", took)
	}
}

func TestAClusterGoesOnWithoutItsLeader(t *testing.T) {
	t.Parallel()
	failover(t, 3, 1, inCluster)
}

const inCluster = `{"mode": "jetstream", "ackWaitNs": 5000000000}`

func failover(t *testing.T, replicas, kills int, options string) {
	nodes, url := cluster(t)
	brokertest.Failover(t, brokertest.Cluster{
		System:   brokertest.System{Driver: New, URL: url, DriverOptions: []byte(options)},
		Replicas: replicas,
		Pause: func(_ *testing.T, name string) func() {
			nodes[name].Freeze()
			return func() { _ = nodes[name].Process().Signal(syscall.SIGCONT) }
		},
		Kill: func(_ *testing.T, name string) func() {
			nodes[name].Kill()
			return func() { nodes[name].Start() }
		},
		Kills: kills,
	})
}
