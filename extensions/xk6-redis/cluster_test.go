package redis

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// cluster is three masters.
type cluster []*server

func startCluster(t *testing.T, program string, args ...string) (all cluster) {
	t.Helper()
	for range 3 {
		all = append(all, startNode(t, program, args...))
	}
	for i, s := range all {
		for _, command := range [][]any{
			{"CLUSTER", "SET-CONFIG-EPOCH", i + 1},
			{"CLUSTER", "ADDSLOTSRANGE", i * slots / 3, (i+1)*slots/3 - 1},
			{"CLUSTER", "MEET", "127.0.0.1", all[0].port, all[0].bus},
		} {
			if err := s.client(t).Do(t.Context(), command...).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	all.works(t, len(all))
	return all
}

func startNode(t *testing.T, program string, args ...string) *server {
	t.Helper()
	bus := strconv.Itoa(brokertest.FreePort(t))
	s := startServer(t, program, append([]string{"--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "2000"}, args...)...)
	s.bus = bus
	return s
}

// works waits until every node says that the cluster has that many nodes and works.
func (all cluster) works(t *testing.T, nodes int) {
	t.Helper()
	brokertest.Eventually(t, "the cluster works", func() bool {
		return !slices.ContainsFunc(all, func(s *server) bool {
			info := s.client(t).ClusterInfo(t.Context()).Val()
			return !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", nodes))
		})
	})
}

func (all cluster) url() string {
	url := "redis://"
	for _, s := range all {
		url += s.address() + ","
	}
	return strings.TrimSuffix(url, ",")
}

func (all cluster) client(t *testing.T) *redis.ClusterClient {
	t.Helper()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{all[0].address()}})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func (all cluster) system(mode string) brokertest.System {
	of := system(all[0], mode, clientLink)
	of.URL = all.url()
	of.Broken = func(*testing.T) {
		for _, s := range all {
			s.Kill()
		}
	}
	if of.Traces != nil {
		of.Traces = func(t *testing.T, run string, topics []string) (left []string) {
			for _, s := range all {
				left = append(left, s.traces(t, run, topics)...)
			}
			return left
		}
	}
	if of.Make != nil {
		of.Make = func(t *testing.T, topic string, _ int) {
			if err := all.client(t).XAdd(t.Context(), &redis.XAddArgs{Stream: topic, Values: []string{"user", "entry"}}).Err(); err != nil {
				t.Fatal(err)
			}
		}
		of.Exists = func(t *testing.T, topic string) bool {
			return slices.ContainsFunc(all, func(s *server) bool { return s.exists(t, topic) })
		}
	}
	return of
}

func TestTopicsOfAClusterAreOnAllOfItsNodesAndOneAddressFindsThem(t *testing.T) {
	t.Parallel()
	all := startCluster(t, "redis-server")
	var layout broker.Layout
	for i := range 30 {
		layout.Topics = append(layout.Topics, broker.Topic{Name: fmt.Sprint("spread.", i), Partitions: 1})
	}
	o := all[0].at(`{"mode": "streams"}`)
	o.Connections, o.MessageBytes, o.Now = 1, 100, func() int64 { return time.Now().UnixNano() }
	session, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	if err = session.Open(t.Context()); err == nil {
		err = session.Prepare(t.Context(), layout)
	}
	if err != nil {
		t.Fatal(err)
	}
	producer, _ := session.Producer(0)
	answers := make(chan error, len(layout.Topics))
	for i, topic := range layout.Topics {
		producer.Send(&broker.Message{Topic: i, Name: topic.Name, Payload: []byte("x")}, func(_ *broker.Message, _ int64, err error) { answers <- err })
	}
	for range layout.Topics {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	var counts []string
	for _, s := range all {
		keys := s.client(t).Keys(t.Context(), "spread.*").Val()
		counts = append(counts, fmt.Sprint(len(keys)))
		if len(keys) < 2 {
			t.Errorf("a node has the streams %q of 30", keys)
		}
	}
	slices.Sort(counts)
	said := session.Describe().Settings["cluster"]
	_, spread, _ := strings.Cut(said, "topics on them: ")
	told := strings.Fields(spread)
	slices.Sort(told)
	if !slices.Equal(told, counts) || !strings.HasPrefix(said, "3 masters") {
		t.Errorf("the nodes have %q of the streams, and settings say %q", counts, said)
	}
	for i, topic := range layout.Topics {
		if n := all.client(t).XLen(t.Context(), topic.Name).Val(); n != 1 {
			t.Errorf("stream %d has %d entries", i, n)
		}
	}
}

func TestChannelsOfAClusterAreShardedUnlessThereAreWildcards(t *testing.T) {
	t.Parallel()
	all := startCluster(t, "redis-server")
	for wildcard, want := range map[bool]string{false: "SPUBLISH", true: "PUBLISH"} {
		to := broker.Subscription{Topic: "a.b"}
		if wildcard {
			to = broker.Subscription{Topic: "a.*", Wildcard: true}
		}
		for i, s := range all {
			o := broker.Options{URL: s.url()}
			r := newRig(t, o, "a.b", to)
			r.consume(nil)
			r.send(10, 0)
			r.answered()
			r.eventually("all arrive", func() bool { return len(r.received) == 10 })
			if got := r.session.Describe().Settings["send"]; got != want || r.reported("nobody") {
				t.Errorf("wildcard %t, by node %d: sent with %s, reports %q; want %s", wildcard, i, got, r.errors, want)
			}
		}
	}
}

func TestANodeOfAClusterThatIsKilledAndComesBackIsFoundAgain(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			all := startCluster(t, "redis-server", "--appendonly", "yes", "--appendfsync", "always")
			traffic := all.system(mode).Traffic(t, "")
			leader, err := traffic.Session.(broker.LeaderFinder).Leader(t.Context(), traffic.Topic)
			if err != nil {
				t.Fatal(err)
			}
			i, _ := strconv.Atoi(leader[len(leader)-1:])
			traffic.Survives(all[i-1].Server)
			traffic.Settles()
			// The others are at most once: a reader of a list takes its messages away.
			if wrong := traffic.LostOrTwice(); mode == modeStreams && wrong != nil {
				t.Errorf("%d messages are wrong, such as %s", len(wrong), wrong[0])
			}
		})
	}
}

func TestWhatIsNoClusterOrNoneThatWorksIsRefused(t *testing.T) {
	one, other := startServer(t, "redis-server"), startServer(t, "redis-server")
	empty := startNode(t, "redis-server")
	for url, want := range map[string]string{
		one.url() + "," + other.address(): "the first one is not in a cluster",
		empty.url():                       "16384 of the cluster's 16384 slots have no node",
		empty.url() + "," + one.address(): "host 2 of the URL",
	} {
		if _, err := opened(t, broker.Options{URL: url}, "any"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Open = %v; want %q", url, err, want)
		}
	}
}

func TestAUnixSocketIsUsedAndFoundAgain(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "redis.sock")
			s := startServer(t, "redis-server", "--unixsocket", file)
			system := system(s, mode, clientLink)
			system.URL = "unix://:@localhost" + file
			traffic := system.Traffic(t, "")
			traffic.Survives(s.Server)
			at, _ := traffic.Session.(*session).lines[0][0].Now()
			if network := at.conn.RemoteAddr().Network(); network != "unix" {
				t.Errorf("a connection over %s", network)
			}
		})
	}
}
