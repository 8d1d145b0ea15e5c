package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// stream opens a session and prepares one topic; both are gone when the test is over.
func stream(t *testing.T, url string, change func(*broker.Options)) broker.Session {
	t.Helper()
	o := broker.Options{
		URL: url, Driver: json.RawMessage(`{"mode": "jetstream"}`), Connections: 1, MessageBytes: 100, Now: clock.New().Now,
		TimeoutNs: int64(5 * time.Second),
	}
	if change != nil {
		change(&o)
	}
	session, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if err := session.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := session.Prepare(t.Context(), broker.Layout{Topics: []broker.Topic{{Name: "a.topic", Partitions: 1}}}); err != nil {
		t.Fatal(err)
	}
	return session
}

// sent collects the outcomes of sends.
type sent struct {
	sync.Mutex
	acked  int
	failed []error
}

func (s *sent) done(_ *broker.Message, ackNs int64, err error) {
	s.Lock()
	defer s.Unlock()
	if err != nil {
		s.failed = append(s.failed, err)
	} else if ackNs > 0 {
		s.acked++
	}
}

func (s *sent) wait(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		s.Lock()
		settled := s.acked + len(s.failed)
		s.Unlock()
		if settled >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d sends are settled", settled, n)
		}
	}
}

func send(t *testing.T, session broker.Session, n int) *sent {
	t.Helper()
	producer, err := session.Producer(0)
	if err != nil {
		t.Fatal(err)
	}
	s := &sent{}
	for i := range n {
		producer.Send(&broker.Message{Name: "a.topic", Payload: make([]byte, 100), Index: int64(i)}, s.done)
	}
	return s
}

func info(t *testing.T, url string) *jetstream.StreamInfo {
	t.Helper()
	c, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "a-topic")
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo()
}

func TestADurabilityLevelIsTheStreamsStorage(t *testing.T) {
	for _, one := range []struct {
		durability, options string
		want                jetstream.StorageType
	}{
		{"", `{"mode": "jetstream"}`, jetstream.FileStorage},
		{"memory", `{"mode": "jetstream"}`, jetstream.MemoryStorage},
		{"os", `{"mode": "jetstream"}`, jetstream.FileStorage},
		{"fsync", `{"mode": "jetstream", "storage": "file"}`, jetstream.FileStorage},
		{"", `{"mode": "jetstream", "storage": "memory"}`, jetstream.MemoryStorage},
	} {
		s := start(t, stored(t))
		stream(t, s.ClientURL(), func(o *broker.Options) { o.Durability, o.Driver = one.durability, json.RawMessage(one.options) })
		if got := info(t, s.ClientURL()).Config.Storage; got != one.want {
			t.Errorf("durability %q, options %s: storage %s, want %s", one.durability, one.options, got, one.want)
		}
	}
}

// The server removes the folder of its last stream in the background: a store made at that moment is refused, by the server's own race.
func TestAStreamIsMadeAgainAndAgainWhereTheLastOneWas(t *testing.T) {
	session := stream(t, start(t, stored(t)).ClientURL(), nil)
	for k := range 200 {
		if err := session.Prepare(t.Context(), broker.Layout{Topics: []broker.Topic{{Name: "a.topic", Partitions: 1}}}); err != nil {
			t.Fatalf("time %d: %v", k, err)
		}
	}
}

func TestAStoreThatCannotBeMadeStaysAnError(t *testing.T) {
	tries := 0
	full := &jetstream.APIError{Code: 500, ErrorCode: streamCreateFailed, Description: "error creating store for stream"}
	err := patiently(t.Context(), func(context.Context) error { tries++; return full })
	if !errors.Is(err, full) || tries != 1+storeTries {
		t.Errorf("%v after %d tries", err, tries)
	}
}

func TestAClusterThatIsNotReadyIsAskedAgain(t *testing.T) {
	for _, one := range []struct {
		refusal jetstream.APIError
		tries   int
	}{
		{jetstream.APIError{Code: 503, ErrorCode: temporarilyUnavailable, Description: "JetStream system temporarily unavailable"}, 5},
		{jetstream.APIError{Code: 400, ErrorCode: noPeers, Description: "no suitable peers for placement, peer offline"}, 5},
		{jetstream.APIError{Code: 400, ErrorCode: noPeers, Description: "no suitable peers for placement"}, 1},
	} {
		tries := 0
		err := patiently(t.Context(), func(context.Context) error {
			if tries++; tries < 5 {
				return &one.refusal
			}
			return nil
		})
		if tries != one.tries || (err == nil) != (one.tries == 5) {
			t.Errorf("%s: %v after %d tries, want %d", one.refusal.Description, err, tries, one.tries)
		}
	}
}

func TestTheLastRefusalIsToldWhenTimeIsOver(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	busy := &jetstream.APIError{Code: 503, ErrorCode: temporarilyUnavailable, Description: "JetStream system temporarily unavailable"}
	err := patiently(ctx, func(context.Context) error { return busy })
	if !errors.Is(err, busy) || !errors.Is(err, context.DeadlineExceeded) || !strings.HasSuffix(err.Error(), "description=JetStream system temporarily unavailable") {
		t.Errorf("got %v", err)
	}
}

func TestWhatCannotBeIsRefused(t *testing.T) {
	for _, one := range []struct{ durability, options, complaint string }{
		{"memory", `{"mode": "jetstream", "storage": "file"}`, "storage file contradicts durability memory"},
		{"fsync", `{"mode": "jetstream", "storage": "memory"}`, "storage memory contradicts durability fsync"},
		{"fsync", `{"mode": "core"}`, "core stores nothing"},
		{"", `{"mode": "streaming"}`, `got "streaming"`},
	} {
		_, err := New(broker.Options{URL: "nats://h", Driver: json.RawMessage(one.options), Durability: one.durability, Connections: 1})
		if err == nil || !strings.Contains(err.Error(), one.complaint) {
			t.Errorf("durability %q, options %s: %v; want an error with %q", one.durability, one.options, err, one.complaint)
		}
	}
}

func TestAServerWithoutJetStreamIsToldBeforeTheRun(t *testing.T) {
	s := start(t, nil)
	err := connects(t, s.ClientURL(), `{"mode": "jetstream"}`)
	if err == nil || !strings.Contains(err.Error(), "the server has no JetStream") {
		t.Errorf("Open = %v; want a sentence about JetStream", err)
	}
}

func TestReplicasAreOnThreeNodes(t *testing.T) {
	url := cluster(t)
	session := stream(t, url, func(o *broker.Options) { o.Replicas, o.Connections = 3, 3 })
	send(t, session, 100).wait(t, 100)
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
}

func TestAnIdThatTheStreamKnowsIsNoSuccess(t *testing.T) {
	s := start(t, stored(t))
	session := stream(t, s.ClientURL(), func(o *broker.Options) { o.Driver = json.RawMessage(`{"mode": "jetstream", "dedup": true}`) })
	send(t, session, 10).wait(t, 10)
	again := send(t, session, 10)
	again.wait(t, 10)
	if len(again.failed) != 10 || !strings.Contains(again.failed[0].Error(), "duplicate") {
		t.Errorf("%d fail, %v; want 10 that are duplicates", len(again.failed), again.failed)
	}
	if n := info(t, s.ClientURL()).State.Msgs; n != 10 {
		t.Errorf("%d messages are stored; want 10", n)
	}
}

func TestWithoutDedupTheSameIndexIsStoredTwice(t *testing.T) {
	s := start(t, stored(t))
	session := stream(t, s.ClientURL(), nil)
	send(t, session, 10).wait(t, 10)
	send(t, session, 10).wait(t, 10)
	if n := info(t, s.ClientURL()).State.Msgs; n != 20 {
		t.Errorf("%d messages are stored; want 20", n)
	}
}

func TestAPublishThatNoStreamTakesFailsAtOnce(t *testing.T) {
	for _, publish := range []string{"async", "sync"} {
		s := start(t, stored(t))
		session := stream(t, s.ClientURL(), func(o *broker.Options) {
			o.Driver = json.RawMessage(fmt.Sprintf(`{"mode": "jetstream", "publish": %q}`, publish))
		})
		if err := broker.Remove(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		got := send(t, session, 5)
		got.wait(t, 5)
		if len(got.failed) != 5 {
			t.Errorf("%s: %d of 5 fail", publish, len(got.failed))
		}
	}
}

func TestWhatIsOutstandingFailsWhenTheConnectionIsLost(t *testing.T) {
	s := start(t, stored(t))
	session := stream(t, s.ClientURL(), nil)
	// A stream that acknowledges nothing: the library has all of the messages and waits.
	js := session.(*jetStreamSession).js[0]
	if _, err := js.UpdateStream(t.Context(), jetstream.StreamConfig{
		Name: "a-topic", Subjects: []string{"a.topic"}, NoAck: true, MaxMsgs: -1, MaxBytes: -1, MaxMsgSize: -1, Duplicates: dedupWindow,
	}); err != nil {
		t.Fatal(err)
	}
	got := send(t, session, 20)
	s.Shutdown()
	got.wait(t, 20)
	if len(got.failed) != 20 {
		t.Errorf("%d of 20 fail", len(got.failed))
	}
	_ = session.Close()
	time.Sleep(50 * time.Millisecond)
	got.Lock()
	defer got.Unlock()
	if got.acked+len(got.failed) != 20 {
		t.Errorf("done is called %d times for 20 sends", got.acked+len(got.failed))
	}
}

func TestAMessageThatFailsWithoutAConnectionIsNotKept(t *testing.T) {
	s := start(t, stored(t))
	session := stream(t, s.ClientURL(), nil).(*jetStreamSession)
	s.Shutdown()
	for began := time.Now(); !session.js[0].Conn().IsReconnecting(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatal("the connection does not notice that its server is gone")
		}
	}
	const messages, bytes = 400, 64 << 10
	failed := 0
	before := heap()
	for i := range int64(messages) {
		session.producers[0].Send(&broker.Message{Index: i, Name: "a.topic", Payload: make([]byte, bytes)}, func(_ *broker.Message, _ int64, err error) {
			if errors.Is(err, errNotConnected) {
				failed++
			}
		})
	}
	if failed != messages {
		t.Errorf("%d of %d fail at once", failed, messages)
	}
	if kept := heap() - before; kept > messages*bytes/4 {
		t.Errorf("%d bytes are kept of %d that failed", kept, messages*bytes)
	}
}

// heap is what is reachable, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // far below its largest
}

func TestALargeMessageMakesForASmallPrefetch(t *testing.T) {
	for bytes, want := range map[int]int{256: 500, 1 << 20: 32, 64 << 20: 1} {
		s, err := New(broker.Options{URL: "nats://h", Driver: json.RawMessage(`{"mode": "jetstream"}`), Connections: 1, MessageBytes: bytes})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.(*jetStreamSession).own.Prefetch; got != want {
			t.Errorf("prefetch of messages of %d bytes = %d, want %d", bytes, got, want)
		}
	}
}

func TestAPatternIsRefused(t *testing.T) {
	s := start(t, stored(t))
	session := stream(t, s.ClientURL(), nil)
	err := session.Consume(t.Context(), broker.Subscription{Topic: "a.*", Wildcard: true}, func(broker.Delivery) {})
	if err == nil {
		t.Error("a pattern over streams is accepted")
	}
}

func TestRemoveWithoutAServerEndsWithItsContext(t *testing.T) {
	s := start(t, stored(t))
	session := stream(t, s.ClientURL(), nil)
	s.Shutdown()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := broker.Remove(ctx, session); err == nil {
		t.Error("Remove succeeds without a server")
	}
}

// cluster starts three nodes with JetStream and returns their URLs when they have a leader.
func cluster(t *testing.T) string {
	t.Helper()
	// JetStream starts in a cluster only where the routes are known beforehand.
	var ports []int
	var routes []string
	for range 3 {
		port := brokertest.FreePort(t)
		ports = append(ports, port)
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	var all []*server.Server
	var urls []string
	for i := range 3 {
		s := start(t, func(o *server.Options) {
			stored(t)(o)
			o.ServerName = fmt.Sprintf("node-%d", i)
			o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[i]}
			o.Routes = server.RoutesFromStr(strings.Join(routes, ","))
		})
		all = append(all, s)
		urls = append(urls, s.ClientURL())
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		for _, s := range all {
			if s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == 3 {
				return strings.Join(urls, ",")
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the cluster has no leader")
		}
	}
}
