package nats

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.k6.io/k6/v2/cmd"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/scripttest"
)

func TestMain(m *testing.M) {
	scripttest.Main(cmd.Execute)
	os.Exit(m.Run())
}

// start starts a server in this process.
func start(t *testing.T, change func(*server.Options)) *server.Server {
	t.Helper()
	options := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true}
	if change != nil {
		change(options)
	}
	s := must(server.NewServer(options))(t)
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not come up")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

func stored(t *testing.T) func(*server.Options) {
	return func(o *server.Options) {
		o.JetStream, o.StoreDir, o.MaxPayload = true, t.TempDir(), 2<<20
	}
}

// process starts a server that can be killed and frozen, and returns its URL. With names of nodes and their routes it is one of a cluster.
func process(t testing.TB, further string) (*brokertest.Server, string) {
	t.Helper()
	file, address := filepath.Join(t.TempDir(), "nats.conf"), freeAddress(t)
	text := fmt.Sprintf("listen: %q\nmax_payload: 2MB\njetstream { store_dir: %q }\n%s", address, t.TempDir(), further)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return brokertest.StartServer(t, "Server is ready", brokertest.Built(t, "nats-server"), "-c", file), "nats://" + address
}

// cluster starts three nodes, "node-1" to "node-3", and returns them with their URLs when streams can be made.
func cluster(t *testing.T) (map[string]*brokertest.Server, string) {
	t.Helper()
	routes := []string{freeAddress(t), freeAddress(t), freeAddress(t)}
	all := map[string]*brokertest.Server{}
	var urls []string
	for i, route := range routes {
		name := fmt.Sprintf("node-%d", i+1)
		node, url := process(t, fmt.Sprintf("server_name: %s\ncluster { name: test, listen: %q, routes: [%s] }\n",
			name, route, "nats://"+strings.Join(routes, ", nats://")))
		all[name] = node
		urls = append(urls, url)
	}
	js := jetStreamOf(t, strings.Join(urls, ","))
	brokertest.Eventually(t, "the cluster makes streams", func() bool {
		made, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "first", Replicas: 3})
		return err == nil && len(made.CachedInfo().Cluster.Replicas) == 2
	})
	return all, strings.Join(urls, ",")
}

func freeAddress(t testing.TB) string { return fmt.Sprintf("127.0.0.1:%d", brokertest.FreePort(t)) }

const streams = `{"mode": "jetstream"}`

// opens makes a session and prepares topics, a.topic if none is named. It returns the first error.
func opens(t *testing.T, url, options string, change func(*broker.Options), topics ...string) (broker.Session, error) {
	t.Helper()
	o := broker.Options{
		URL: url, Driver: json.RawMessage(options), Connections: 1, MessageBytes: 100, Now: clock.New().Now, TimeoutNs: int64(5 * time.Second),
	}
	if change != nil {
		change(&o)
	}
	session, err := New(o)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = session.Close() })
	if err := session.Open(t.Context()); err != nil {
		return session, err
	}
	return session, session.Prepare(t.Context(), layoutOf(topics...))
}

func layoutOf(topics ...string) (l broker.Layout) {
	if len(topics) == 0 {
		topics = []string{"a.topic"}
	}
	for _, topic := range topics {
		l.Topics = append(l.Topics, broker.Topic{Name: topic, Partitions: 1})
	}
	return l
}

// opened is a session of opens.
func opened(t *testing.T, url, options string, change func(*broker.Options), topics ...string) broker.Session {
	t.Helper()
	return must(opens(t, url, options, change, topics...))(t)
}

// sent are the outcomes of sends.
type sent struct {
	mu     sync.Mutex
	acked  int
	failed []error
}

// send sends n messages of 100 bytes to a.topic, each of which begins with its index; first is the first one's index.
func send(t *testing.T, session broker.Session, first, n int) *sent {
	t.Helper()
	producer := must(session.Producer(0))(t)
	s := &sent{}
	for i := first; i < first+n; i++ {
		payload := append([]byte{byte(i)}, make([]byte, 99)...)
		producer.Send(&broker.Message{Name: "a.topic", Payload: payload, Index: int64(i)}, func(_ *broker.Message, ackNs int64, err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if err != nil {
				s.failed = append(s.failed, err)
			} else if ackNs > 0 {
				s.acked++
			}
		})
	}
	return s
}

// ends waits until all sends have ended, and fails unless these numbers are acknowledged and refused.
func (s *sent) ends(t *testing.T, acked, failed int) {
	t.Helper()
	brokertest.Eventually(t, "all sends have ended", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.acked+len(s.failed) >= acked+failed
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.acked != acked || len(s.failed) != failed {
		t.Errorf("%d sends are acknowledged, %d fail, %v; want %d and %d", s.acked, len(s.failed), s.failed, acked, failed)
	}
}

func jetStreamOf(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	c := must(nats.Connect(url))(t)
	t.Cleanup(c.Close)
	return must(jetstream.New(c))(t)
}

// makes a stream past the driver.
func makes(t *testing.T, url string, config jetstream.StreamConfig) jetstream.Stream {
	t.Helper()
	return must(jetStreamOf(t, url).CreateStream(t.Context(), config))(t)
}

// info of the stream of a.topic.
func info(t *testing.T, url string) *jetstream.StreamInfo {
	t.Helper()
	return must(jetStreamOf(t, url).Stream(t.Context(), "a-topic"))(t).CachedInfo()
}

// consumersOn gives the consumers of the topics' streams, whosever.
func consumersOn(t *testing.T, url string, topics []string) (names []string) {
	t.Helper()
	js := jetStreamOf(t, url)
	for _, topic := range topics {
		stream := must(js.StreamNameBySubject(t.Context(), topic))(t)
		for name := range must(js.Stream(t.Context(), stream))(t).ConsumerNames(t.Context()).Name() {
			names = append(names, name)
		}
	}
	return names
}

// must is a value, unless there is an error.
func must[V any](value V, err error) func(*testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
