// Package kafka is the driver for Apache Kafka, with franz-go. Like every consumer in Kafka each subscription is a client, and so is each connection.
package kafka

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// New makes a session. Its URL is kafka://user:password@host:9092,host:9092, or kafkas:// for TLS.
func New(o broker.Options) (broker.Session, error) {
	s := &session{Base: broker.NewBase("kafka", o), Throttle: broker.NewThrottle(o.Now)}
	var err error
	if s.own, err = decode(o); err == nil {
		s.at, s.tls, err = address.ParseSecure(o.URL, s.own.TLS, address.Scheme{Name: "kafka", Port: "9092"}, address.Scheme{Name: "kafkas", Port: "9092"})
	}
	if err == nil {
		s.login, err = s.own.login(s.at)
	}
	s.topicConfig = topicConfig(o, s.own)
	return s, broker.Wrap("kafka", err)
}

type session struct {
	*broker.Base
	broker.DropsNothing // messages that it cannot send fail
	*broker.Throttle
	own         options
	at          address.Address
	tls         *tls.Config
	login       sasl.Mechanism // nil if there is none
	topicConfig map[string]string

	// asks is the client of admin.
	asks   *client
	admin  *kadm.Client
	server string
	layout broker.Layout
	made   []string
	// until is when the set-up has to be over.
	until time.Time
	// clients of producers, and the one that asks.
	clients   broker.List[*client]
	consumers broker.List[*consumer]
}

var (
	_ broker.Remover      = (*session)(nil)
	_ broker.Holder       = (*session)(nil)
	_ broker.LeaderFinder = (*session)(nil)
	_ broker.Leaver       = (*session)(nil)
)

// Open finds the cluster. Producer and Consume make their own connections and return when these are usable.
func (s *session) Open(ctx context.Context) error {
	s.until, _ = ctx.Deadline()
	var err error
	if s.asks, err = s.connect("admin"); err != nil {
		return err
	}
	s.clients.Add(s.asks)
	s.admin = kadm.NewClient(s.asks.Client)
	if err := s.asks.Ping(ctx); err != nil {
		return fmt.Errorf("kafka: connect: %w", err)
	}
	versions, err := s.admin.ApiVersions(ctx)
	if err != nil {
		return fmt.Errorf("kafka: ask for the version: %w", err)
	}
	s.asks.settled.Store(true)
	s.server = "Kafka"
	for _, v := range versions {
		if v.Err == nil {
			if _, able := v.KeyMaxVersion(shareFetchKey); s.competes() && !able {
				return errors.New("kafka: this broker has no share groups (Kafka 4.2 does); write another groupProtocol")
			}
			// The protocol has no version of the server: the library concludes it from the requests that it takes.
			s.server = "Kafka " + strings.TrimPrefix(v.VersionGuess(), "v") + " (guessed from its protocol)"
			break
		}
	}
	if s.Durability == "interval" {
		return s.checkFlusher(ctx, slices.Collect(maps.Keys(versions))...)
	}
	return nil
}

func (s *session) Describe() broker.Description {
	var of settings
	s.common(&of)
	s.producing(&of)
	s.consuming(&of)
	if slices.ContainsFunc(s.consumers.All(), func(c *consumer) bool { return c.group != "" }) {
		s.grouping(&of, "")
	}
	of.Set("topic replicas", "the broker's own")
	if s.Replicas > 0 {
		of.Set("topic replicas", s.Replicas)
	}
	for key, value := range s.topicConfig {
		of.Set("topic "+key, value)
	}
	confirm := map[string]string{"0": "none", "1": "each batch, by the leader", "all": "each batch, by all replicas in sync"}[s.own.Acks]
	if s.transacts() {
		confirm = "each transaction, when it is committed, after " + time.Duration(s.own.TransactionNs).String()
		if n := s.own.TransactionMessages; n > 0 {
			confirm += fmt.Sprintf(" or with %d messages", n)
		}
	}
	how, prefetch := broker.AcknowledgeOf(s.own.Acknowledge, "g"), fmt.Sprintf("a fetch ahead, up to %d bytes of a partition", s.own.FetchPartitionBytes)
	if s.competes() {
		how, prefetch = byMessage, fmt.Sprintf("a fetch ahead, of about %d messages in a group", cmp.Or(s.own.Prefetch, pollRecords))
	}
	of.Print(map[string]any{
		"connections":      s.Connections,
		"confirm":          confirm,
		"flush":            fmt.Sprintf("at once, up to %d requests on their way to a broker", requestsInFlight),
		"batching":         fmt.Sprintf("what waits for a partition, linger %s, up to %d bytes", time.Duration(s.own.LingerNs), s.own.BatchBytes),
		"prefetch":         prefetch,
		"acknowledgeAlone": "none: reads from a position of its own", "acknowledgeInGroup": map[string]string{
			broker.PerMessage:  "a commit after each message, as soon as the one before is answered",
			broker.PerBatch:    "a commit after each poll",
			broker.PerInterval: "a commit every " + time.Duration(s.own.CommitIntervalNs).String(),
			byMessage:          "each message, at the latest when the fetch that waits for the next ones is answered",
		}[how],
	})
	return broker.Description{
		Acks: s.own.Acks != "0", Order: map[bool]string{false: "per-producer", true: "none"}[s.own.Partitioner == sticky],
		GroupOrder: !s.competes(), Wildcards: true, Stores: true, Replays: true, RedeliversAfter: s.sessionTimeout(), Settings: of.Printed,
		Library: "franz-go " + broker.LibraryVersion("github.com/twmb/franz-go"), Server: s.server,
	}
}

// Leave commits what was handled, and leaves the groups.
func (s *session) Leave(ctx context.Context) error {
	return deadline.Each(ctx, s.consumers.All(), func(_ context.Context, c *consumer) error { c.close(); return nil })
}

// Close ends everything immediately. Calls that block on a silent broker end in the background.
func (s *session) Close() error {
	s.End()
	ends := append(deadline.Steps(s.clients.All(), (*client).Close), deadline.Steps(s.consumers.All(), (*consumer).close)...)
	deadline.AtMost(closeTimeout, ends...)
	return nil
}

// --- internal ---

const closeTimeout = 5 * time.Second

// readyTimeout is the least time that a connection gets to become ready, also when the set-up is nearly over; a test has less.
var readyTimeout = 15 * time.Second
