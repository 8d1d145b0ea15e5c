package kafka

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// three starts a cluster of three nodes, "1" to "3", which finds out soon that one is gone, and returns them with their URL.
func three(t *testing.T) (map[string]*server, string) {
	t.Helper()
	classpath(t)
	var voters, urls []string
	var nodes [3]*server
	var ports [3]setup
	for i := range ports {
		ports[i] = setup{port: brokertest.FreePort(t), controller: brokertest.FreePort(t)}
		voters = append(voters, fmt.Sprintf("%d@127.0.0.1:%d", i+1, ports[i].controller))
		urls = append(urls, fmt.Sprintf("127.0.0.1:%d", ports[i].port))
	}
	var all sync.WaitGroup
	for i, with := range ports {
		with.settings = map[string]string{
			"node.id":                                          fmt.Sprint(i + 1),
			"controller.quorum.voters":                         strings.Join(voters, ","),
			"offsets.topic.replication.factor":                 "3",
			"default.replication.factor":                       "3",
			"controller.quorum.election.timeout.ms":            "1000",
			"controller.quorum.fetch.timeout.ms":               "1000",
			"transaction.state.log.replication.factor":         "3",
			"share.coordinator.state.topic.replication.factor": "3",
		}
		all.Go(func() { nodes[i] = start(t, t.TempDir(), with) })
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return map[string]*server{"1": nodes[0], "2": nodes[1], "3": nodes[2]}, "kafka://" + strings.Join(urls, ",")
}

func TestAClusterGoesOnWithoutItsLeader(t *testing.T) {
	nodes, url := three(t)
	brokertest.Failover(t, brokertest.Cluster{
		System:   brokertest.System{Driver: New, URL: url, DriverOptions: []byte(`{"acks": "all", "minInsyncReplicas": 2}`)},
		Replicas: 3,
		Pause: func(t *testing.T, name string) func() {
			nodes[name].Freeze()
			return nodes[name].thaw
		},
		Kill: func(_ *testing.T, name string) func() {
			nodes[name].kill()
			return nil
		},
	})
}
