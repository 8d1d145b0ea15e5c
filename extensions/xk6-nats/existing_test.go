package nats

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// onExisting opens a session of a run on a topic that is there, and returns Prepare's error.
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
		send(t, session, 0, 10).ends(t, 10, 0)
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

// read collects the first byte of each message that an ordered consumer of a.topic gets.
func read(t *testing.T, session broker.Session) *broker.List[byte] {
	t.Helper()
	got := &broker.List[byte]{}
	err := session.Consume(t.Context(), broker.Subscription{Topic: "a.topic"}, func(d broker.Delivery) { got.Add(d.Payload[0]) })
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wants fails unless the bytes 0 to n-1 have come, each once and in order.
func wants(t *testing.T, got *broker.List[byte], n int) {
	t.Helper()
	brokertest.Eventually(t, fmt.Sprintf("%d messages arrive", n), func() bool { return len(got.All()) >= n })
	time.Sleep(100 * time.Millisecond)
	all := got.All()
	for i, b := range all {
		if int(b) != i || len(all) != n {
			t.Fatalf("message %d comes as number %d of %d", b, i, len(all))
		}
	}
}

func TestAnOrderedConsumerThatIsGoneIsMadeAnewAndMissesNothing(t *testing.T) {
	s := start(t, stored(t))
	session := opened(t, s.ClientURL(), streams, nil)
	got := read(t, session)
	js := jetStreamOf(t, s.ClientURL())
	for i := range 200 {
		send(t, session, i, 1).ends(t, 1, 0)
		if i%50 == 25 {
			for _, name := range consumersOn(t, s.ClientURL(), []string{"a.topic"}) {
				_ = js.DeleteConsumer(t.Context(), "a-topic", name)
			}
		}
	}
	wants(t, got, 200)
	if left := consumersOn(t, s.ClientURL(), []string{"a.topic"}); len(left) != 1 {
		t.Errorf("there are the consumers %q; want one", left)
	}
}

// So does a stream in memory with one copy when its node is started again.
func TestAnOrderedConsumerGoesOnInAStreamThatHasLostAllItsMessages(t *testing.T) {
	s := start(t, stored(t))
	session := opened(t, s.ClientURL(), streams, nil)
	got := read(t, session)
	send(t, session, 0, 20).ends(t, 20, 0)
	wants(t, got, 20)
	if err := jetStreamOf(t, s.ClientURL()).DeleteStream(t.Context(), "a-topic"); err != nil {
		t.Fatal(err)
	}
	makes(t, s.ClientURL(), jetstream.StreamConfig{Name: "a-topic", Subjects: []string{"a.topic"}, Storage: jetstream.MemoryStorage})
	send(t, session, 20, 10).ends(t, 10, 0)
	wants(t, got, 30)
}
