package amqp

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/Azure/go-amqp"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// consumer is one receiver, on its connection. It is made again when the connection is.
type consumer struct {
	link   *link
	topic  string
	handle broker.Handler
	// over ends with the subscription.
	over context.Context
	end  context.CancelFunc
	on   atomic.Pointer[amqp.Receiver]
}

func (c *consumer) start(ctx context.Context) error {
	if err := c.attach(ctx); err != nil {
		return err
	}
	go c.work()
	return nil
}

// stop gives back what was not handled.
func (c *consumer) stop(ctx context.Context) error {
	c.end()
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if err := c.on.Load().Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil // RabbitMQ 3.10 does not answer; with the connection it is over
}

// --- internal ---

func (c *consumer) attach(ctx context.Context) error {
	at, is := c.link.Now()
	if !is {
		return errNotConnected
	}
	s := c.link.session
	made, err := at.session.NewReceiver(ctx, s.address(c.topic), s.receiver())
	if err == nil {
		c.on.Store(made)
	}
	return err
}

// work handles one message after the other.
func (c *consumer) work() {
	s := c.link.session
	for on := c.on.Load(); ; on = c.on.Load() {
		m, err := on.Receive(s.Over, nil)
		if err != nil {
			if c.again() {
				continue
			}
			return
		}
		d := broker.Delivery{ReceivedNs: s.Now(), Payload: m.GetData()}
		d.Redelivered = m.Header != nil && m.Header.DeliveryCount > 0
		c.handle(d)
		// On a connection that is gone nobody hears it, and the message comes again.
		_ = on.AcceptMessage(s.Over, m)
	}
}

// again waits for the connection and receives from it; false: the subscription is over.
func (c *consumer) again() bool {
	s := c.link.session
	return deadline.Retry(c.over, reconnectWait, reconnectWait, func() error {
		ctx, cancel := context.WithTimeout(s.Over, connectTimeout)
		defer cancel()
		err := c.attach(ctx)
		if _, is := c.link.Now(); is {
			s.Report("receive again", address.Cause(err))
		}
		return err
	}) == nil
}
