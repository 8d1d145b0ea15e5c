package nats

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// onExisting opens a session of a run on a topic that is there, and returns what Prepare says.
func onExisting(t *testing.T, url, topic string, run ...string) (*jetStreamSession, error) {
	t.Helper()
	session, err := New(broker.Options{
		Part: broker.Part{Run: strings.Join(append(run, "run"), "-")}, URL: url, Driver: json.RawMessage(`{"mode": "jetstream", "dedup": true}`), Connections: 1, MessageBytes: 100, Now: clock.New().Now,
		TimeoutNs: int64(5 * time.Second),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if err := session.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return session.(*jetStreamSession), session.Prepare(t.Context(), broker.Layout{Topics: []broker.Topic{{Name: topic, Partitions: 1}}})
}

func TestATopicIsFoundByItsSubjectOrByTheNameOfItsStream(t *testing.T) {
	s := start(t, stored(t))
	js := jetStreamOf(t, s.ClientURL())
	for _, config := range []jetstream.StreamConfig{
		{Name: "ONE", Subjects: []string{"one"}},
		{Name: "MANY", Subjects: []string{"many.*", "more.>"}},
		{Name: "DEAF", Subjects: []string{"deaf"}, NoAck: true},
		{Name: "SMALL", Subjects: []string{"small"}, MaxMsgSize: 99},
		{Name: "SEALED", Subjects: []string{"sealed"}},
		{Name: "MIRROR", Mirror: &jetstream.StreamSource{Name: "ONE"}},
	} {
		made, err := js.CreateStream(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if config.Name == "SEALED" {
			sealed := made.CachedInfo().Config
			sealed.Sealed = true
			if _, err := js.UpdateStream(t.Context(), sealed); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct{ topic, subject, filter, complaint string }{
		{topic: "one", subject: "one"},
		{topic: "ONE", subject: "one"},
		{topic: "many.a", subject: "many.a", filter: "many.a"},
		{topic: "more.a.b", subject: "more.a.b", filter: "more.a.b"},
		{topic: "MANY", complaint: "topic MANY is a stream of the subjects many.*, more.>; name one of them instead"},
		{topic: "MIRROR", complaint: "topic MIRROR is a stream without subjects"},
		{topic: "none", complaint: "topic none does not exist (no stream has this subject or this name); make it, or drop create: false"},
		{topic: "deaf", complaint: "its stream DEAF acknowledges nothing"},
		{topic: "small", complaint: "messages of 100 bytes are above the max_msg_size of its stream SMALL, which is 99"},
		{topic: "sealed", complaint: "its stream SEALED is sealed"},
	} {
		session, err := onExisting(t, s.ClientURL(), c.topic)
		if c.complaint != "" {
			if err == nil || !strings.Contains(err.Error(), c.complaint) {
				t.Errorf("%s: %v; want %q", c.topic, err, c.complaint)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.topic, err)
			continue
		}
		if at := session.streams[c.topic]; at.subject != c.subject || at.filter != c.filter {
			t.Errorf("%s is sent to %q and read by %q; want %q and %q", c.topic, at.subject, at.filter, c.subject, c.filter)
		}
	}
}

func TestAStreamOfTheUsersOwnStaysAsItWas(t *testing.T) {
	s := start(t, stored(t))
	js := jetStreamOf(t, s.ClientURL())
	made, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "a-topic", Subjects: []string{"a.>"}, MaxMsgs: 7, Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprintf("%+v", made.CachedInfo().Config)
	session, err := onExisting(t, s.ClientURL(), "a.topic")
	if err != nil {
		t.Fatal(err)
	}
	if got := session.Describe().Settings["streams"]; got != "your own: a-topic memory, limits, replicas 1" {
		t.Errorf("Describe says of streams %q", got)
	}
	send(t, session, 10).wait(t, 10)
	if err := session.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := info(t, s.ClientURL()); fmt.Sprintf("%+v", after.Config) != before || after.State.Msgs != 7 || after.State.LastSeq != 10 {
		t.Errorf("before: %s\nafter: %+v, %d messages up to %d", before, after.Config, after.State.Msgs, after.State.LastSeq)
	}
}

func TestIdsOfTwoRunsOnOneStreamDiffer(t *testing.T) {
	s := start(t, stored(t))
	_, err := jetStreamOf(t, s.ClientURL()).CreateStream(t.Context(), jetstream.StreamConfig{Name: "a-topic", Subjects: []string{"a.topic"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"1", "2"} {
		session, err := onExisting(t, s.ClientURL(), "a.topic", run)
		if err != nil {
			t.Fatal(err)
		}
		got := send(t, session, 10)
		got.wait(t, 10)
		if got.acked != 10 {
			t.Errorf("run %s: %d of 10 are acknowledged: %v", run, got.acked, got.failed)
		}
	}
}

func TestNothingIsReadFromAStreamOutOfWhichReadingTakesMessages(t *testing.T) {
	s := start(t, stored(t))
	_, err := jetStreamOf(t, s.ClientURL()).CreateStream(t.Context(), jetstream.StreamConfig{Name: "W", Subjects: []string{"w"}, Retention: jetstream.WorkQueuePolicy})
	if err != nil {
		t.Fatal(err)
	}
	session, err := onExisting(t, s.ClientURL(), "w")
	if err != nil {
		t.Fatal(err)
	}
	err = session.Consume(t.Context(), broker.Subscription{Topic: "w"}, func(broker.Delivery) {})
	if err == nil || !strings.Contains(err.Error(), "its stream W (retention workqueue), which is yours") {
		t.Errorf("Consume = %v", err)
	}
}

func TestTheLeaderIsTheServerThatTheStreamSays(t *testing.T) {
	alone := start(t, func(o *server.Options) { stored(t)(o); o.ServerName = "mqbench-1" })
	leads := func(session broker.Session, topic string) (string, error) {
		return session.(broker.LeaderFinder).Leader(t.Context(), topic)
	}
	session := stream(t, alone.ClientURL(), nil)
	if name, err := leads(session, "a.topic"); name != "mqbench-1" {
		t.Errorf("Leader of a server by itself = %q, %v", name, err)
	}
	if name, err := leads(session, "another"); err == nil {
		t.Errorf("Leader of a topic that is none = %q", name)
	}
	url := cluster(t)
	session = stream(t, url, func(o *broker.Options) { o.Replicas = 3 })
	if name, err := leads(session, "a.topic"); err != nil || name == "" || name != info(t, url).Cluster.Leader {
		t.Errorf("Leader = %q, %v; the stream says %q", name, err, info(t, url).Cluster.Leader)
	}
}

// reader is an ordered consumer of a.topic and the first bytes that it got.
type reader struct {
	t        *testing.T
	producer broker.Producer
	mu       sync.Mutex
	got      []byte
}

func read(t *testing.T, session broker.Session) *reader {
	t.Helper()
	r := &reader{t: t}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := session.Consume(ctx, broker.Subscription{Topic: "a.topic"}, func(d broker.Delivery) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, d.Payload[0])
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.producer, err = session.Producer(0); err != nil {
		t.Fatal(err)
	}
	return r
}

// send sends a byte and waits until it is stored.
func (r *reader) send(b byte) {
	r.t.Helper()
	told := make(chan error, 1)
	r.producer.Send(&broker.Message{Name: "a.topic", Payload: []byte{b}}, func(_ *broker.Message, _ int64, err error) { told <- err })
	if err := <-told; err != nil {
		r.t.Fatal(err)
	}
}

// wants fails unless the bytes 0 to n-1 have come, each once and in order.
func (r *reader) wants(n int) {
	r.t.Helper()
	count := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.got)
	}
	for deadline := time.Now().Add(20 * time.Second); count() < n && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) != n {
		r.t.Fatalf("%d of %d messages arrive", len(r.got), n)
	}
	for i, b := range r.got {
		if int(b) != i {
			r.t.Fatalf("message %d comes as number %d", b, i)
		}
	}
}

func TestAnOrderedConsumerThatIsGoneIsMadeAnewAndMissesNothing(t *testing.T) {
	s := start(t, stored(t))
	r := read(t, stream(t, s.ClientURL(), nil))
	js := jetStreamOf(t, s.ClientURL())
	for i := range 200 {
		r.send(byte(i))
		if i%50 == 25 {
			for _, name := range consumersOn(t, s.ClientURL(), []string{"a.topic"}) {
				_ = js.DeleteConsumer(t.Context(), "a-topic", name)
			}
		}
	}
	r.wants(200)
	if left := consumersOn(t, s.ClientURL(), []string{"a.topic"}); len(left) != 1 {
		t.Errorf("there are the consumers %q; want one", left)
	}
}

// So does a stream in memory with one copy when its node is started again.
func TestAnOrderedConsumerGoesOnInAStreamThatHasLostAllItsMessages(t *testing.T) {
	s := start(t, stored(t))
	r := read(t, stream(t, s.ClientURL(), nil))
	for i := range 20 {
		r.send(byte(i))
	}
	r.wants(20)
	js := jetStreamOf(t, s.ClientURL())
	if err := js.DeleteStream(t.Context(), "a-topic"); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "a-topic", Subjects: []string{"a.topic"}, Storage: jetstream.MemoryStorage}); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		r.send(byte(20 + i))
	}
	r.wants(30)
}
