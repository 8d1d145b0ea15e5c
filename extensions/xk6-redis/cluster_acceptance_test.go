//go:build acceptance

package redis

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestAClusterConforms(t *testing.T) {
	for _, program := range programs() {
		for _, mode := range modes {
			t.Run(program+" "+mode, func(t *testing.T) {
				all := startCluster(t, program)
				brokertest.Run(t, func(*testing.T) brokertest.System { return all.system(mode) })
			})
		}
	}
}

func TestAClusterWithoutANodeIsTruthful(t *testing.T) {
	all := startCluster(t, "redis-server", "--appendonly", "yes", "--appendfsync", "always")
	node := func(name string) *server { i, _ := strconv.Atoi(name[len(name)-1:]); return all[i-1] }
	brokertest.Failover(t, brokertest.Cluster{
		System: all.system(modeStreams), Replicas: 1, Kills: 3,
		Kill: func(_ *testing.T, name string) func() {
			node(name).Kill()
			return func() { node(name).Start() }
		},
	})
}

// Redis replicates later than it acknowledges: what was acknowledged just before may be lost.
func TestAReplicaThatTakesOverIsFound(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			all := startCluster(t, "redis-server")
			traffic := all.system(mode).Traffic(t, "")
			leader, err := traffic.Session.(broker.LeaderFinder).Leader(t.Context(), traffic.Topic)
			if err != nil {
				t.Fatal(err)
			}
			i, _ := strconv.Atoi(leader[len(leader)-1:])
			dies := all[i-1]
			replica := startNode(t, "redis-server")
			if err := replica.client(t).Do(t.Context(), "CLUSTER", "MEET", "127.0.0.1", dies.port, dies.bus).Err(); err != nil {
				t.Fatal(err)
			}
			append(all[:3:3], replica).works(t, 4)
			id := dies.client(t).ClusterMyID(t.Context()).Val()
			brokertest.Eventually(t, "it is a replica", func() bool { return replica.client(t).ClusterReplicate(t.Context(), id).Err() == nil })
			brokertest.Eventually(t, "it has the data", func() bool {
				return strings.Contains(replica.client(t).Info(t.Context(), "replication").Val(), "master_link_status:up")
			})
			traffic.Arrives()
			began := time.Now()
			dies.Kill()
			traffic.Arrives()
			t.Log("messages flow again after", time.Since(began))
			traffic.Settles()
			if at := traffic.Session.(*session).named[traffic.Topic].shard.at.Load().Addr; at != replica.address() {
				t.Errorf("the topic is at %s; want the replica, %s", at, replica.address())
			}
			dies.Start() // it is the replica now, and sends its clients away
			fails := traffic.Failed()
			brokertest.Eventually(t, "it takes over again", func() bool {
				return dies.client(t).Do(t.Context(), "CLUSTER", "FAILOVER", "TAKEOVER").Err() == nil
			})
			if mode != modePubSub { // a replica takes part in its master's channels
				brokertest.Eventually(t, "a message is sent away", func() bool { traffic.Send(); return traffic.Failed() > fails })
			}
			traffic.Arrives()
		})
	}
}
