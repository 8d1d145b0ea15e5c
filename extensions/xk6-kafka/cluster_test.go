package kafka

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// three starts a cluster of three nodes, "1" to "3", which finds out soon that one is gone, and returns them with their URL.
func three(t *testing.T) (map[string]*server, string) {
	t.Helper()
	var voters, urls []string
	var ports [3]setup
	for i := range ports {
		ports[i] = setup{port: freePort(t), controller: freePort(t)}
		voters = append(voters, fmt.Sprintf("%d@127.0.0.1:%d", i+1, ports[i].controller))
		urls = append(urls, fmt.Sprintf("127.0.0.1:%d", ports[i].port))
	}
	nodes := map[string]*server{}
	var all sync.WaitGroup
	folder := t.TempDir()
	classpath(t)
	for i, with := range ports {
		with.settings = map[string]string{
			"node.id":                                  fmt.Sprint(i + 1),
			"controller.quorum.voters":                 strings.Join(voters, ","),
			"log.dirs":                                 filepath.Join(folder, fmt.Sprint(i+1)),
			"offsets.topic.replication.factor":         "3",
			"broker.session.timeout.ms":                "3000",
			"broker.heartbeat.interval.ms":             "500",
			"controller.quorum.election.timeout.ms":    "1000",
			"controller.quorum.fetch.timeout.ms":       "1000",
			"transaction.state.log.replication.factor": "3",
		}
		one := made(t, t.TempDir(), with)
		nodes[fmt.Sprint(i+1)] = one
		t.Cleanup(one.kill)
	}
	for _, one := range nodes {
		all.Go(func() { one.run(t) })
	}
	all.Wait()
	return nodes, "kafka://" + strings.Join(urls, ",")
}

func TestAClusterGoesOnWithoutItsLeader(t *testing.T) {
	nodes, url := three(t)
	for _, c := range []struct {
		name, options string
		replicas      int
	}{
		{"acks all, 3 replicas", `{"acks": "all", "minInsyncReplicas": 2}`, 3},
		{"acks 1, 1 replica", `{"acks": "1"}`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			brokertest.Failover(t, brokertest.Cluster{
				System:   brokertest.System{Driver: New, URL: url, DriverOptions: []byte(c.options)},
				Replicas: c.replicas,
				Group:    true,
				Pause: func(_ *testing.T, name string) func() {
					nodes[name].freeze()
					return nodes[name].thaw
				},
				Kill: func(t *testing.T, name string) func() {
					nodes[name].kill()
					return func() { nodes[name].run(t) }
				},
			})
		})
	}
}
