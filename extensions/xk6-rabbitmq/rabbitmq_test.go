//go:build unix

package rabbitmq

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

func TestConformance(t *testing.T) {
	tests := []struct {
		name, options, durability string
		broken                    bool
		// theirs is the kind of the user's topics: a kind of exchange, or a queue.
		theirs string
		// holds is the prefetch without the message that is being handled.
		holds int64
	}{
		{"classic queues", ``, "", true, "direct", 99},
		{"quorum queues", ``, "fsync", false, "topic", 99},
		{"transient queues without confirms", `{"queue": "transient", "confirms": false}`, "", false, "direct", 99},
		{"a topic exchange", `{"exchange": "topic", "prefetch": 1}`, "os", false, "queue", 0},
		{"transient queues and fanout exchanges", `{"exchange": "fanout", "persistent": false}`, "memory", false, "fanout", 99},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			brokertest.Run(t, func(t *testing.T) brokertest.System {
				s := running(t)
				system := brokertest.System{
					Driver: New, URL: s.url(), Durability: test.durability, FlagsRedelivery: true, Exists: s.exists,
					Make:   func(t *testing.T, topic string, _ int) { s.make(t, topic, test.theirs) },
					Queues: test.theirs == "queue", Holds: test.holds,
				}
				if test.theirs == "direct" && test.broken {
					system.Traces = s.traces // it takes seconds
				}
				if test.options != "" {
					system.DriverOptions = json.RawMessage(test.options)
				}
				if test.broken {
					system.Broken = s.broken
				}
				return system
			})
		})
	}
}

// opened is a session with two connections until the test is over.
func opened(t testing.TB, o broker.Options, layout broker.Layout) *session {
	t.Helper()
	o.Connections, o.Now, o.MessageBytes = 2, clock.New().Now, 100
	made, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err = made.Open(ctx); err == nil {
		err = made.Prepare(ctx, layout)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made.(*session)
}

var runs atomic.Int64

// layoutOf has topics whose names no other test has, with one prefix. Subscriptions name them by those short names.
func layoutOf(short []string, to ...broker.Subscription) (layout broker.Layout) {
	prefix := fmt.Sprintf("rabbitmqtest.%d.%d.", os.Getpid(), runs.Add(1))
	for _, name := range short {
		layout.Topics = append(layout.Topics, broker.Topic{Name: prefix + name, Partitions: 1})
	}
	for _, one := range to {
		one.Topic = prefix + one.Topic
		layout.Subscriptions = append(layout.Subscriptions, one)
	}
	return layout
}

// run is one session with one topic, and the fate of its messages.
type run struct {
	t        *testing.T
	session  *session
	producer broker.Producer
	layout   broker.Layout
	topic    string
	received atomic.Int64

	mu            sync.Mutex
	acked, failed int
	errors        []string
}

// begin opens a session with these consumers of its topic, which consume does not make yet.
func begin(t *testing.T, durability, options string, to ...broker.Subscription) *run {
	t.Helper()
	r := &run{t: t}
	for i := range to {
		to[i].Topic = "0"
	}
	r.layout = layoutOf([]string{"0"}, to...)
	r.topic = r.layout.Topics[0].Name
	r.session = opened(t, broker.Options{URL: running(t).url(), Durability: durability, Driver: []byte(options), OnError: r.note}, r.layout)
	var err error
	if r.producer, err = r.session.Producer(0); err != nil {
		t.Fatal(err)
	}
	return r
}

// consume makes a consumer, and the next one.
func (r *run) consume(handle broker.Handler) {
	r.t.Helper()
	to := r.layout.Subscriptions[0]
	r.layout.Subscriptions = r.layout.Subscriptions[1:]
	if err := r.session.Consume(r.t.Context(), to, handle); err != nil {
		r.t.Fatal(err)
	}
}

func (r *run) count(broker.Delivery) { r.received.Add(1) }

func (r *run) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, err.Error())
}

func (r *run) send(bytes int) {
	r.producer.Send(&broker.Message{Name: r.topic, Payload: make([]byte, bytes)}, func(_ *broker.Message, _ int64, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if err == nil {
			r.acked++
			return
		}
		r.failed++
		r.errors = append(r.errors, err.Error())
	})
}

func (r *run) counts() (acked, failed int, errors string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.acked, r.failed, strings.Join(r.errors, "\n")
}

func (r *run) ackedSoFar() int  { acked, _, _ := r.counts(); return acked }
func (r *run) failedSoFar() int { _, failed, _ := r.counts(); return failed }

// holds sends more than sockets' buffers take, and returns when a send is held; over is closed when all 200 have returned.
func (r *run) holds() (over chan struct{}) {
	r.t.Helper()
	over = make(chan struct{})
	var returned atomic.Int64
	go func() {
		defer close(over)
		for range 200 {
			r.send(1 << 20)
			returned.Add(1)
		}
	}()
	brokertest.Eventually(r.t, "a send is held", func() bool {
		before := returned.Load()
		time.Sleep(300 * time.Millisecond)
		return before > 0 && before < 200 && before == returned.Load()
	})
	return over
}

// returnsWithin fails the test when do does not return in bounded time.
func returnsWithin(t *testing.T, limit time.Duration, what string, do func()) {
	t.Helper()
	if !deadline.AtMost(limit, do) {
		t.Fatalf("%s does not return within %s", what, limit)
	}
}

func TestARestartedBrokerIsFoundAgainAndNothingThatItAcknowledgedIsLost(t *testing.T) {
	s := running(t)
	runs := map[string]*run{}
	stop := make(chan struct{})
	var senders sync.WaitGroup
	for _, durability := range []string{"os", "fsync"} {
		r := begin(t, durability, "", broker.Subscription{Connection: 1, Group: "workers"})
		r.consume(r.count)
		runs[durability] = r
		senders.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
					r.send(100)
				}
			}
		})
	}
	for durability, r := range runs {
		brokertest.Eventually(t, durability+": messages are acknowledged", func() bool { return r.ackedSoFar() > 200 })
	}
	// As its owner would end it: messages that it acknowledged as durable are there when it starts again.
	_ = s.Process().Signal(syscall.SIGTERM)
	_, _ = s.Process().Wait()
	s.Kill() // its name server
	for durability, r := range runs {
		brokertest.Eventually(t, durability+": sends fail while it is down", func() bool { return r.failedSoFar() > 10 })
	}
	s.Start()
	for durability, r := range runs {
		before := r.ackedSoFar()
		brokertest.Eventually(t, durability+": messages are acknowledged again", func() bool { return r.ackedSoFar() > before+200 })
	}
	close(stop)
	senders.Wait()
	for durability, r := range runs {
		brokertest.Eventually(t, durability+": all that was acknowledged is received", func() bool { return r.received.Load() >= int64(r.ackedSoFar()) })
		// Two connections to publish and one to consume were lost, and each was replaced at least once.
		if again := r.session.Reconnects(); again < 3 {
			t.Errorf("%s: %d reconnects, want one of each of 3 connections", durability, again)
		}
		if _, _, errors := r.counts(); strings.Count(errors, "connection lost") < 3 {
			t.Errorf("%s: the losses are not told: %s", durability, errors)
		}
	}
}

func TestAFrozenBrokerHoldsSendsAndCloseReturnsAllTheSame(t *testing.T) {
	s := running(t)
	r := begin(t, "memory", "", broker.Subscription{Connection: 1})
	r.consume(r.count)
	r.send(100)
	brokertest.Eventually(t, "a message is received", func() bool { return r.received.Load() == 1 })
	s.Freeze()
	t.Cleanup(s.thaw)
	held := r.holds()
	if failed := r.failedSoFar(); failed != 0 {
		t.Errorf("%d sends fail while the broker is frozen; they may still arrive", failed)
	}
	returnsWithin(t, 10*time.Second, "Close", func() { _ = r.session.Close() })
	returnsWithin(t, 10*time.Second, "the send that was held", func() { <-held })
	brokertest.Eventually(t, "done is called for each", func() bool { acked, failed, _ := r.counts(); return acked+failed == 201 })
}

func TestABrokerThatFreezesAndGoesOnLosesNothing(t *testing.T) {
	s := running(t)
	r := begin(t, "memory", "", broker.Subscription{Connection: 1})
	r.consume(r.count)
	s.Freeze()
	for range 500 {
		r.send(100)
	}
	time.Sleep(200 * time.Millisecond)
	if acked := r.ackedSoFar(); acked != 0 {
		t.Errorf("%d messages are acknowledged by a frozen broker", acked)
	}
	s.thaw()
	brokertest.Eventually(t, "all are received and acknowledged", func() bool { return r.received.Load() == 500 && r.ackedSoFar() == 500 })
	if again := r.session.Reconnects(); again != 0 {
		t.Errorf("%d reconnects; the connection was never lost", again)
	}
}

// A queue that is full refuses messages: the nack must fail these and no others.
func TestARefusedMessageFails(t *testing.T) {
	s := running(t)
	r := begin(t, "memory", "")
	s.ctl(t, "set_policy", "bound", "^"+r.topic+"$", `{"max-length": 10, "overflow": "reject-publish"}`, "--apply-to", "queues")
	t.Cleanup(func() { s.ctl(t, "clear_policy", "bound") })
	for range 30 {
		r.send(100)
	}
	brokertest.Eventually(t, "each send is answered", func() bool { acked, failed, _ := r.counts(); return acked+failed == 30 })
	acked, failed, errors := r.counts()
	if acked != 10 || failed != 20 || !strings.Contains(errors, "refused the message (nack)") {
		t.Errorf("a queue of 10 acknowledges %d of 30 messages and refuses %d: %s", acked, failed, errors)
	}
}

func TestMessagesWhoseConnectionIsLostAreReportedAsUnknown(t *testing.T) {
	s := running(t)
	r := begin(t, "memory", "")
	s.Freeze() // it must not answer any of them
	for range 100 {
		r.send(100)
	}
	s.broken(t)
	brokertest.Eventually(t, "the connection is lost", func() bool { _, is := r.session.publishers[0].Now(); return !is })
	brokertest.Eventually(t, "all are reported", func() bool { return r.failedSoFar() == 100 })
	acked, _, errors := r.counts()
	if strings.Contains(errors, "->") {
		t.Errorf("ports make each connection's error another one: %s", errors)
	}
	if acked != 0 || !strings.Contains(errors, broker.ErrUnknown.Error()) {
		t.Errorf("%d acknowledged; errors do not say that the fate of a message is unknown: %s", acked, errors)
	}
}

// On one connection the broker would not read the acknowledgements of consumers either, and send no more than the prefetch.
func TestABrokerThatBlocksPublishersHoldsSendsAndSaysSoWhileConsumersGoOn(t *testing.T) {
	s := running(t)
	s.ctl(t, "eval", "application:set_env(rabbit, heartbeat, 2).")
	t.Cleanup(func() { s.ctl(t, "eval", "application:set_env(rabbit, heartbeat, 60).") })
	r := begin(t, "memory", `{"prefetch": 5}`, broker.Subscription{Connection: 0, Group: "workers"})
	resume := make(chan struct{})
	r.consume(func(d broker.Delivery) { <-resume; r.count(d) })
	for range 50 {
		r.send(100)
	}
	brokertest.Eventually(t, "all are confirmed", func() bool { return r.ackedSoFar() == 50 })
	unblock := s.block(t)
	held := r.holds()
	brokertest.Eventually(t, "that is told", func() bool {
		_, _, errors := r.counts()
		return strings.Contains(errors, "the broker blocks publishers")
	})
	close(resume)
	brokertest.Eventually(t, "what was there is consumed", func() bool { return r.received.Load() >= 50 })
	// The library lets three heartbeats pass without a sign of life.
	time.Sleep(10 * time.Second)
	unblock()
	returnsWithin(t, 60*time.Second, "the send that was held", func() { <-held })
	brokertest.Eventually(t, "all are acknowledged or have failed", func() bool { return r.ackedSoFar()+r.failedSoFar() == 250 })
	if acked, _, errors := r.counts(); acked != 250 {
		t.Errorf("%d of 250 are acknowledged: %s", acked, errors)
	}
	throttled := func() int64 { return *broker.ThrottledNs(r.session) }
	before := throttled()
	time.Sleep(10 * time.Millisecond)
	if after := throttled(); before < int64(10*time.Second) || after != before {
		t.Errorf("publishers were blocked for %d ns, and 10 ms later for %d; a send was held for 10 s", before, after)
	}
}

func TestOpenChecksPasswordsAndCertificatesAndSaysNoSecret(t *testing.T) {
	s := running(t)
	ca, secure := `"ca": "`+s.ca+`"`, fmt.Sprintf("amqps://bench:s3cr3t@127.0.0.1:%d", s.tls)
	for _, c := range []struct{ name, url, tls, want string }{
		{"certificate and name known", secure, ca, ""},
		{"the option alone", strings.Replace(secure, "amqps", "amqp", 1), ca, ""},
		{"anything goes", secure, `"insecure": true`, ""},
		{"certificate unknown", secure, ``, "certificate"},
		{"another name", secure, ca + `, "serverName": "other.test"`, "other.test"},
		{"another password", strings.Replace(s.url(), "s3cr3t", "wr0ng", 1), ``, "403"},
		{"no URL", "amqp://bench:wr0ng@ 1", ``, "cannot be read"},
		{"the second one encrypted", "amqp://bench:wr0ng@127.0.0.1," + secure, ``, "amqps:// for all of them"},
		{"another scheme", "http://bench:wr0ng@127.0.0.1", ``, "cannot be read"},
		{"no server", "amqp://127.0.0.1:1", ``, "connection refused"},
	} {
		began := time.Now()
		o := broker.Options{URL: c.url, Connections: 1, Now: clock.New().Now}
		if c.tls != "" {
			o.Driver = []byte(`{"tls": {` + c.tls + `}}`)
		}
		made, err := New(o)
		if err == nil {
			err = made.Open(t.Context())
			if is := made.Describe().Settings["tls"]; err == nil && is != "true" {
				t.Errorf("%s: Describe says tls %q", c.name, is)
			}
			_ = made.Close()
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
		if took := time.Since(began); took > 10*time.Second || err != nil && strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("%s: %v after %s; want no password, and 10 s at most", c.name, err, took)
		}
	}
}

func TestOptionsThatCannotBeAreOneSentence(t *testing.T) {
	tests := []struct{ options, durability, want string }{
		{`{"queue": "lazy"}`, "", `queue must be one of`},
		{``, "interval", `got "interval"`},
		{`{"tls": {"ca": "/nowhere"}}`, "", "tls: read ca"},
	}
	for _, test := range tests {
		_, err := New(broker.Options{URL: "amqp://127.0.0.1", Driver: json.RawMessage(test.options), Durability: test.durability})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("options %s, durability %q: %v; want %q", test.options, test.durability, err, test.want)
		}
	}
}

func TestAMessageAboveTheLimitIsRefusedInTheBrokersWords(t *testing.T) {
	brokertest.System{Driver: New, URL: running(t).url()}.RefusesAbove(t, "large", 2<<20, "message size 2097153 is larger than configured max size 2097152")
}

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "RabbitMQ", New, "amqp://here", "")
}
