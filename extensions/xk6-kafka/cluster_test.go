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
		ports[i] = setup{port: brokertest.FreePort(t), controller: brokertest.FreePort(t)}
		voters = append(voters, fmt.Sprintf("%d@127.0.0.1:%d", i+1, ports[i].controller))
		urls = append(urls, fmt.Sprintf("127.0.0.1:%d", ports[i].port))
	}
	nodes := map[string]*server{}
	var all sync.WaitGroup
	folder := t.TempDir()
	classpath(t)
	var started [3]*server
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
		place := t.TempDir()
		all.Go(func() {
			one := made(t, place, with)
			one.run(t)
			started[i] = one
		})
	}
	all.Wait()
	for i, one := range started {
		if one == nil {
			t.FailNow() // it has said why
		}
		nodes[fmt.Sprint(i+1)] = one
		t.Cleanup(one.kill)
	}
	return nodes, "kafka://" + strings.Join(urls, ",")
}

func TestAClusterGoesOnWithoutItsLeader(t *testing.T) {
	nodes, url := three(t)
	brokertest.Failover(t, brokertest.Cluster{
		System:   brokertest.System{Driver: New, URL: url, DriverOptions: []byte(`{"acks": "all", "minInsyncReplicas": 2}`)},
		Replicas: 3, Group: true,
		Pause: func(t *testing.T, name string) func() {
			nodes[name].freeze(t)
			return nodes[name].thaw
		},
		Kill: func(_ *testing.T, name string) func() {
			nodes[name].kill()
			return nil
		},
	})
}
