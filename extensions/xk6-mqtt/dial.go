package mqtt

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// connection is one that comes and goes.
type connection struct {
	link
	s *session
	// take is nil until Greet.
	take atomic.Pointer[broker.Handler]
}

var _ broker.Dialer = (*session)(nil)

func (s *session) Dial(ctx context.Context, _ int64) (broker.Connection, error) {
	v := &connection{s: s}
	c := s.client("", func(payload []byte, again bool) {
		if take := v.take.Load(); take != nil {
			(*take)(broker.Delivery{ReceivedNs: s.Now(), Payload: payload, Redelivered: again})
		}
	})
	c.patience, c.readBytes = broker.Patience(ctx), broker.SmallBuffer
	var err error
	if v.link, err = c.link(ctx); err != nil {
		return nil, fmt.Errorf("mqtt: %w", address.Cause(err))
	}
	return v, nil
}

func (c *connection) Greet(ctx context.Context, m *broker.Message, handle broker.Handler) error {
	c.take.Store(&handle)
	topic := c.s.address(m.Own())
	if _, err := c.subscribe(ctx, topic); err != nil {
		return fmt.Errorf("mqtt: subscribe: %w", err)
	}
	answer, err := c.publish(topic, m.Payload)
	if answer != nil {
		err = deadline.While(ctx, answer)
	}
	return err
}

func (c *connection) Gone() bool { return c.Err() != nil }
func (c *connection) Close()     { c.part() }
