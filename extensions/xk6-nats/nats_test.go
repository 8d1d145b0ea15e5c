package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

func start(t *testing.T, change func(*server.Options)) *server.Server {
	t.Helper()
	options := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true}
	if change != nil {
		change(options)
	}
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not come up")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

func stored(t *testing.T) func(*server.Options) {
	return func(o *server.Options) {
		o.JetStream, o.StoreDir = true, t.TempDir()
		o.MaxPayload = 2 << 20
	}
}

// conforms puts the driver with some options through the contract, against a server of each test's own.
func conforms(t *testing.T, options string, change func(*testing.T) func(*server.Options)) {
	brokertest.Run(t, func(t *testing.T) brokertest.System {
		var with func(*server.Options)
		if change != nil {
			with = change(t)
		}
		s := start(t, with)
		system := brokertest.System{
			Driver:        New,
			URL:           s.ClientURL(),
			DriverOptions: json.RawMessage(options),
			Broken:        func(*testing.T) { s.Shutdown(); s.WaitForShutdown() },
			Holds:         1999,
		}
		if change != nil {
			system.FlagsRedelivery, system.Holds = true, 99
			system.Exists = func(t *testing.T, topic string) bool { return hasStream(t, s.ClientURL(), topic) }
			system.Make = func(t *testing.T, topic string, _ int) { makeStream(t, s.ClientURL(), topic) }
			system.Traces = func(t *testing.T, run string, topics []string) []string { return consumersOn(t, s.ClientURL(), topics) }
		}
		return system
	})
}

func hasStream(t *testing.T, url, topic string) bool {
	t.Helper()
	js := jetStreamOf(t, url)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	name, err := js.StreamNameBySubject(ctx, topic)
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Fatal(err)
	}
	return name != ""
}

// makeStream makes a stream for a topic, which takes others too.
func makeStream(t *testing.T, url, topic string) {
	t.Helper()
	_, err := jetStreamOf(t, url).CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "USERS-" + streamName(topic), Subjects: []string{"elsewhere." + topic, topic},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// consumersOn gives the consumers of the topics' streams, whosever.
func consumersOn(t *testing.T, url string, topics []string) (names []string) {
	t.Helper()
	js := jetStreamOf(t, url)
	for _, topic := range topics {
		stream, err := js.StreamNameBySubject(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		found, err := js.Stream(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		for name := range found.ConsumerNames(t.Context()).Name() {
			names = append(names, name)
		}
	}
	return names
}

func jetStreamOf(t *testing.T, url string) jetstream.JetStream {
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
	return js
}

func TestCoreConforms(t *testing.T) { conforms(t, `{"mode": "core"}`, nil) }

func TestJetStreamConforms(t *testing.T) {
	for name, options := range map[string]string{
		"file, pull and ordered": `{"mode": "jetstream", "ackWaitNs": 1000000000}`,
		"memory, pull":           `{"mode": "jetstream", "storage": "memory", "consumer": "pull", "dedup": true, "ackWaitNs": 1000000000}`,
		"memory, push, sync":     `{"mode": "jetstream", "storage": "memory", "consumer": "push", "publish": "sync", "ackWaitNs": 1000000000}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conforms(t, options, stored)
		})
	}
}

func open(url string, messageBytes int) (broker.Session, error) {
	session, err := New(broker.Options{URL: url, Connections: 1, MessageBytes: messageBytes, Now: clock.New().Now})
	if err != nil {
		return nil, err
	}
	return session, session.Open(context.Background())
}

func TestAMessageAboveTheServersLimitIsRefusedBeforeTheRun(t *testing.T) {
	s := start(t, func(o *server.Options) { o.MaxPayload = 1000 })
	if _, err := open(s.ClientURL(), 1001); err == nil || !strings.Contains(err.Error(), "max_payload of 1000") {
		t.Errorf("Open = %v; want a sentence about max_payload", err)
	}
}

func TestPasswordsWorkAndAreNotInErrors(t *testing.T) {
	s := start(t, func(o *server.Options) { o.Username, o.Password = "bench", "s3cr3t" })
	host := strings.TrimPrefix(s.ClientURL(), "nats://")
	session, err := open("nats://bench:s3cr3t@"+host, 100)
	if err != nil {
		t.Fatal(err)
	}
	_ = session.Close()
	_, err = open("nats://bench:wr0ng@"+host, 100)
	if err == nil || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("Open with a wrong password = %v; want an error without it", err)
	}
}

func TestARightThatTheServerRefusesIsAnErrorAtOnce(t *testing.T) {
	for _, c := range []struct{ name, options, publish, subscribe string }{
		{"subject", `{}`, ">", "mine.>"},
		{"JetStream", `{"mode": "jetstream"}`, "mine.>", ">"},
		{"stream", `{"mode": "jetstream"}`, "$JS.API.INFO", ">"},
		{"answers", `{"mode": "jetstream"}`, ">", "mine.>"},
	} {
		s := start(t, func(o *server.Options) {
			stored(t)(o)
			o.Users = []*server.User{{Username: "narrow", Password: "pw", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Allow: []string{c.publish}}, Subscribe: &server.SubjectPermission{Allow: []string{c.subscribe}},
			}}}
		})
		session, err := New(broker.Options{
			URL: strings.Replace(s.ClientURL(), "nats://", "nats://narrow:pw@", 1), Driver: json.RawMessage(c.options), Connections: 1, MessageBytes: 100, Now: clock.New().Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		err = session.Open(ctx)
		if err == nil {
			err = session.Prepare(ctx, broker.Layout{Topics: []broker.Topic{{Name: "theirs", Partitions: 1}}})
		}
		if err == nil {
			err = session.Consume(ctx, broker.Subscription{Topic: "theirs"}, func(broker.Delivery) {})
		}
		if err == nil || !strings.Contains(err.Error(), "Permissions Violation") || time.Since(began) > 2*time.Second {
			t.Errorf("%s: %v after %s; want the server's error", c.name, err, time.Since(began))
		}
		_ = session.Close()
	}
}

func TestWithoutAServerOpenFailsSoon(t *testing.T) {
	began := time.Now()
	if _, err := open("nats://127.0.0.1:1", 100); err == nil {
		t.Error("Open succeeds without a server")
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("Open took %s", took)
	}
}

func TestWhatTheLibraryDroppedIsKnownAfterClose(t *testing.T) {
	s := start(t, nil)
	opened, err := open(s.ClientURL(), 100)
	if err != nil {
		t.Fatal(err)
	}
	hold := make(chan struct{})
	handle := func(broker.Delivery) { <-hold }
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := opened.Consume(ctx, broker.Subscription{Topic: "full"}, handle); err != nil {
		t.Fatal(err)
	}
	for s := range opened.(*core).subscriptions {
		if err := s.SetPendingLimits(10, pendingBytesLimit); err != nil {
			t.Fatal(err)
		}
	}
	producer, err := opened.Producer(0)
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		m := &broker.Message{Name: "full", Payload: make([]byte, 100)}
		producer.Send(m, func(_ *broker.Message, _ int64, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	for deadline := time.Now().Add(10 * time.Second); *broker.Dropped(opened) < 480 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	before := *broker.Dropped(opened)
	close(hold)
	_ = opened.Close()
	if after := *broker.Dropped(opened); before < 480 || after != before {
		t.Errorf("dropped %d before Close and %d after it; want 480 or more, and the same", before, after)
	}
}

func TestAMessageAboveTheLimitIsRefusedByTheLibrary(t *testing.T) {
	s := start(t, func(o *server.Options) { stored(t)(o); o.MaxPayload = 64 << 10 })
	for _, mode := range []string{"core", "jetstream"} {
		options := fmt.Sprintf(`{"mode": %q}`, mode)
		brokertest.RefusesAbove(t, New, s.ClientURL(), options, "large", 64<<10, "the client library (nats.go) refuses it: nats: maximum payload exceeded")
	}
}
