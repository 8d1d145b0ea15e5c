// Package nats is the driver for NATS: core (nothing stored or acknowledged) and JetStream (a stream for each topic, all stored and acknowledged).
package nats

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// New makes a session of the mode in the options.
func New(o broker.Options) (broker.Session, error) {
	c, err := newConnections(o)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	if c.own.Mode == "jetstream" {
		return newJetStream(c), nil
	}
	return &core{c}, nil
}

type core struct{ *connections }

type coreProducer struct{ connection *nats.Conn }

var _ broker.Holder = (*core)(nil)

func (s *core) Open(context.Context) error { return s.open(s.wires, func(int) {}) }

// Prepare does nothing: a subject exists by being used, and core NATS keeps nothing from earlier runs.
func (s *core) Prepare(context.Context, broker.Layout) error { return nil }

func (s *core) Producer(connection int) (broker.Producer, error) {
	return &coreProducer{s.all[connection]}, nil
}

func (s *core) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	// A queue group of "" means none. Wildcards are NATS's own.
	subscription, err := s.all[to.Connection].QueueSubscribe(to.Topic, s.groupName(to.Group), func(m *nats.Msg) {
		handle(broker.Delivery{ReceivedNs: s.Now(), Payload: m.Data})
	})
	if err == nil {
		s.watch(subscription)
		err = errors.Join(subscription.SetPendingLimits(-1, pendingBytesLimit), s.flush(ctx, to.Connection))
	}
	return broker.Wrap(fmt.Sprintf("nats: subscribe to %q", to.Topic), err)
}

// Held is how many messages wait for the callbacks of subscriptions.
func (s *core) Held() (held int64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.subscriptions {
		if n, _, err := one.Pending(); err == nil { // a closed one holds nothing
			held += int64(n)
		}
	}
	return held, true
}

func (s *core) Describe() broker.Description {
	d := s.describe()
	d.Wildcards = true
	maps.Copy(d.Settings, map[string]string{
		"confirm": "none", "acknowledgeAlone": "none", "acknowledgeInGroup": "none: NATS core has no acknowledgements",
		"prefetch": fmt.Sprintf("no limit of messages, %d bytes", pendingBytesLimit),
	})
	return d
}

// Send publishes and completes at once: core NATS acknowledges nothing.
func (p *coreProducer) Send(m *broker.Message, done broker.Done) {
	done(m, 0, published(p.connection.Publish(m.Name, m.Payload)))
}
