package nats

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// onExisting opens a session of a run on a topic that is there, and returns what Prepare says.
func onExisting(t *testing.T, url, run, topic string) (*jetStreamSession, error) {
	t.Helper()
	session, err := opens(t, url, `{"mode": "jetstream", "dedup": true}`, func(o *broker.Options) { o.Run = run }, topic)
	return session.(*jetStreamSession), err
}

func TestATopicIsFoundByItsSubjectOrByTheNameOfItsStream(t *testing.T) {
	s := start(t, stored(t))
	for _, config := range []jetstream.StreamConfig{
		{Name: "ONE", Subjects: []string{"one"}},
		{Name: "MANY", Subjects: []string{"many.*", "more.>"}},
		{Name: "DEAF", Subjects: []string{"deaf"}, NoAck: true},
		{Name: "SMALL", Subjects: []string{"small"}, MaxMsgSize: 99},
		{Name: "SEALED", Subjects: []string{"sealed"}},
		{Name: "MIRROR", Mirror: &jetstream.StreamSource{Name: "ONE"}},
		{Name: "W", Subjects: []string{"w"}, Retention: jetstream.WorkQueuePolicy},
	} {
		sealed := makes(t, s.ClientURL(), config).CachedInfo().Config
		if sealed.Sealed = config.Name == "SEALED"; sealed.Sealed {
			if _, err := jetStreamOf(t, s.ClientURL()).UpdateStream(t.Context(), sealed); err != nil {
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
		{topic: "deaf", complaint: "topic deaf: its stream DEAF acknowledges nothing"},
		{topic: "small", complaint: "topic small: messages of 100 bytes are above the max_msg_size of its stream SMALL, which is 99"},
		{topic: "sealed", complaint: "topic sealed: its stream SEALED is sealed"},
		{topic: "w", complaint: "its stream W (retention workqueue), which is yours"},
	} {
		session, err := onExisting(t, s.ClientURL(), "run", c.topic)
		if at := session.streams[c.topic]; err == nil && c.complaint == "" && (at.subject != c.subject || at.filter != c.filter) {
			t.Errorf("%s is sent to %q and read by %q; want %q and %q", c.topic, at.subject, at.filter, c.subject, c.filter)
		}
		if err == nil {
			err = session.Consume(t.Context(), broker.Subscription{Topic: c.topic}, func(broker.Delivery) {})
		}
		if (err != nil) != (c.complaint != "") || err != nil && !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%s: %v; want %q", c.topic, err, c.complaint)
		}
	}
}

func TestAStreamOfTheUsersOwnStaysAsItWas(t *testing.T) {
	s := start(t, stored(t))
	made := makes(t, s.ClientURL(), jetstream.StreamConfig{Name: "a-topic", Subjects: []string{"a.>"}, MaxMsgs: 7, Storage: jetstream.MemoryStorage})
	before := fmt.Sprintf("%+v", made.CachedInfo().Config)
	// The ids of two runs differ.
	for _, run := range []string{"run-1", "run-2"} {
		session, err := onExisting(t, s.ClientURL(), run, "a.topic")
		if err != nil {
			t.Fatal(err)
		}
		if got := session.Describe().Settings["streams"]; got != "your own: a-topic memory, limits, replicas 1" {
			t.Errorf("Describe says of streams %q", got)
		}
		send(t, session, 10).ends(t, 10, 0)
		if err := session.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if after := info(t, s.ClientURL()); fmt.Sprintf("%+v", after.Config) != before || after.State.Msgs != 7 || after.State.LastSeq != 20 {
		t.Errorf("before: %s\nafter: %+v, %d messages up to %d", before, after.Config, after.State.Msgs, after.State.LastSeq)
	}
}

func TestAServerByItselfLeads(t *testing.T) {
	alone := start(t, func(o *server.Options) { stored(t)(o); o.ServerName = "mqbench-1" })
	session := opened(t, alone.ClientURL(), streams, nil)
	if name, err := broker.Leader(t.Context(), session, "a.topic"); name != "mqbench-1" {
		t.Errorf("Leader of a server by itself = %q, %v", name, err)
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
	err := session.Consume(t.Context(), broker.Subscription{Topic: "a.topic"}, func(d broker.Delivery) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, d.Payload[0])
	})
	if err == nil {
		r.producer, err = session.Producer(0)
	}
	if err != nil {
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
	brokertest.Eventually(r.t, fmt.Sprintf("%d messages arrive", n), func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.got) >= n
	})
	time.Sleep(100 * time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, b := range r.got {
		if int(b) != i || len(r.got) != n {
			r.t.Fatalf("message %d comes as number %d of %d", b, i, len(r.got))
		}
	}
}

func TestAnOrderedConsumerThatIsGoneIsMadeAnewAndMissesNothing(t *testing.T) {
	s := start(t, stored(t))
	r := read(t, opened(t, s.ClientURL(), streams, nil))
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
	r := read(t, opened(t, s.ClientURL(), streams, nil))
	for i := range 20 {
		r.send(byte(i))
	}
	r.wants(20)
	if err := jetStreamOf(t, s.ClientURL()).DeleteStream(t.Context(), "a-topic"); err != nil {
		t.Fatal(err)
	}
	makes(t, s.ClientURL(), jetstream.StreamConfig{Name: "a-topic", Subjects: []string{"a.topic"}, Storage: jetstream.MemoryStorage})
	for i := range 10 {
		r.send(byte(20 + i))
	}
	r.wants(30)
}
