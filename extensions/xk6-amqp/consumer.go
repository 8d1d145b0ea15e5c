package amqp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// consumer is one receiver, on its connection. It is made again when the connection is.
type consumer struct {
	link   *link
	topic  string
	handle broker.Handler
	over   chan struct{}
	once   sync.Once

	mu sync.Mutex
	on *amqp.Receiver
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
	c.once.Do(func() { close(c.over) })
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if err := c.receiver().Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil // RabbitMQ 3.10 does not answer; with the connection it is over
}

// --- internal ---

func (c *consumer) receiver() *amqp.Receiver {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.on
}

func (c *consumer) attach(ctx context.Context) error {
	at := c.link.now()
	if at == nil {
		return errNotConnected
	}
	s := c.link.session
	made, err := at.session.NewReceiver(ctx, s.address(c.topic), s.receiver())
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = made
	return nil
}

// work handles one message after the other.
func (c *consumer) work() {
	s := c.link.session
	for on := c.receiver(); ; on = c.receiver() {
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
	for {
		select {
		case <-c.over:
			return false
		case <-s.Over.Done():
			return false
		case <-time.After(reconnectWait):
		}
		ctx, cancel := context.WithTimeout(s.Over, connectTimeout)
		err := c.attach(ctx)
		cancel()
		if err == nil {
			return true
		}
		if c.link.now() != nil {
			s.Report("receive again", address.Cause(err))
		}
	}
}
