package nats

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestCoreConforms(t *testing.T) {
	brokertest.Run(t, func(t *testing.T) brokertest.System {
		s := start(t, nil)
		return brokertest.System{Driver: New, URL: s.ClientURL(), Broken: stops(s), Holds: 1999}
	})
}

func TestJetStreamConforms(t *testing.T) {
	for name, options := range map[string]string{
		"os, pull and ordered": `{"mode": "jetstream", "ackWaitNs": 1000000000}`,
		"memory, pull":         `{"mode": "jetstream", "consumer": "pull", "dedup": true, "ackWaitNs": 1000000000}`,
		"memory, push, sync":   `{"mode": "jetstream", "consumer": "push", "publish": "sync", "ackWaitNs": 1000000000}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			brokertest.Run(t, func(t *testing.T) brokertest.System {
				s := start(t, stored(t))
				durability, _, _ := strings.Cut(name, ",")
				return brokertest.System{
					Driver: New, URL: s.ClientURL(), DriverOptions: json.RawMessage(options), Durability: durability, Broken: stops(s), Holds: 99, FlagsRedelivery: true,
					Exists: func(t *testing.T, topic string) bool {
						_, err := jetStreamOf(t, s.ClientURL()).StreamNameBySubject(context.Background(), topic)
						return err == nil
					},
					// It takes others too.
					Make: func(t *testing.T, topic string, _ int) {
						makes(t, s.ClientURL(), jetstream.StreamConfig{Name: "USERS-" + streamName(topic), Subjects: []string{"elsewhere." + topic, topic}})
					},
					Traces: func(t *testing.T, _ string, topics []string) []string { return consumersOn(t, s.ClientURL(), topics) },
				}
			})
		})
	}
}

func stops(s *server.Server) func(*testing.T) {
	return func(*testing.T) { s.Shutdown(); s.WaitForShutdown() }
}

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "NATS core", New, "nats://here", "")
	brokertest.Tabled(t, "JetStream", New, "nats://here", streams)
}

func TestWhatCannotBeIsRefusedBeforeTheRun(t *testing.T) {
	for _, c := range []struct {
		options, complaint string
		change             func(*broker.Options)
	}{
		{`{"mode": "streaming"}`, `got "streaming"`, nil},
		{"", "max_payload of 1000", func(o *broker.Options) { o.MessageBytes = 1001 }},
		{streams, "the server has no JetStream", nil},
		{"", "no servers available", func(o *broker.Options) { o.URL = "nats://127.0.0.1:1" }},
	} {
		s := start(t, func(o *server.Options) { o.MaxPayload = 1000 })
		began := time.Now()
		if _, err := opens(t, s.ClientURL(), c.options, c.change); err == nil || !strings.Contains(err.Error(), c.complaint) || time.Since(began) > 10*time.Second {
			t.Errorf("options %s: %v; want an error with %q", c.options, err, c.complaint)
		}
	}
}

func TestARightThatTheServerRefusesIsAnErrorAtOnce(t *testing.T) {
	for _, c := range []struct{ name, options, publish, subscribe string }{
		{"subject", `{}`, ">", "mine.>"},
		{"JetStream", streams, "mine.>", ">"},
		{"stream", streams, "$JS.API.INFO", ">"},
		{"answers", streams, ">", "mine.>"},
	} {
		s := start(t, func(o *server.Options) {
			stored(t)(o)
			o.Users = []*server.User{{Username: "narrow", Password: "pw", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Allow: []string{c.publish}}, Subscribe: &server.SubjectPermission{Allow: []string{c.subscribe}},
			}}}
		})
		began := time.Now()
		session, err := opens(t, strings.Replace(s.ClientURL(), "nats://", "nats://narrow:pw@", 1), c.options, nil)
		if err == nil {
			err = session.Consume(t.Context(), broker.Subscription{Topic: "a.topic"}, func(broker.Delivery) {})
		}
		if err == nil || !strings.Contains(err.Error(), "Permissions Violation") || time.Since(began) > 2*time.Second {
			t.Errorf("%s: %v after %s; want the server's error", c.name, err, time.Since(began))
		}
	}
}

func TestWhatTheLibraryDroppedIsKnownAfterClose(t *testing.T) {
	session := opened(t, start(t, nil).ClientURL(), "", nil)
	hold := make(chan struct{})
	if err := session.Consume(t.Context(), broker.Subscription{Topic: "a.topic"}, func(broker.Delivery) { <-hold }); err != nil {
		t.Fatal(err)
	}
	for s := range session.(*core).subscriptions {
		if err := s.SetPendingLimits(10, pendingBytesLimit); err != nil {
			t.Fatal(err)
		}
	}
	send(t, session, 0, 500)
	brokertest.Eventually(t, "most are dropped", func() bool { return *broker.Dropped(session) >= 480 })
	before := *broker.Dropped(session)
	close(hold)
	_ = session.Close()
	if after := *broker.Dropped(session); after != before {
		t.Errorf("dropped %d before Close and %d after it; want the same", before, after)
	}
}

func TestAMessageAboveTheLimitIsRefusedByTheLibrary(t *testing.T) {
	s := start(t, func(o *server.Options) { stored(t)(o); o.MaxPayload = 64 << 10 })
	for _, mode := range []string{"core", "jetstream"} {
		options := fmt.Sprintf(`{"mode": %q}`, mode)
		brokertest.System{Driver: New, URL: s.ClientURL(), DriverOptions: []byte(options)}.RefusesAbove(t, "large", 64<<10, "the client library (nats.go) refuses it: nats: maximum payload exceeded")
	}
}
