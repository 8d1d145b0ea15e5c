package amqp

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/Azure/go-amqp"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// link is one connection, with a session and a sender for each topic. The library does not connect again; we do.
type link struct {
	broker.Link[*wire]
	session *session
	number  int
	// unsettled is by topic.
	unsettled []*broker.Unanswered[sent]
	// sends: a producer wants its senders back when the connection is.
	sends atomic.Bool
}

// wire is what is lost with a connection.
type wire struct {
	*amqp.Conn
	session *amqp.Session
	// senders of the session's topics, by their index.
	senders []*amqp.Sender
}

// sent is a message on a wire.
type sent struct {
	receipt amqp.SendReceipt
	on      *wire
}

var (
	errNotConnected = errors.New("amqp: send: not connected")
	errLost         = fmt.Errorf("amqp: connection lost: %w", broker.ErrUnknown)
)

// Send hands over. It blocks while the server gives the sender no credit.
func (l *link) Send(m *broker.Message, done broker.Done) {
	at, is := l.Now()
	// A connection that came back while the senders were made the first time has none.
	if !is || m.Topic >= len(at.senders) {
		done(m, 0, errNotConnected)
		return
	}
	s, sender := l.session, at.senders[m.Topic]
	message := &amqp.Message{Header: &amqp.MessageHeader{Durable: s.durable()}, Data: [][]byte{m.Payload}}
	if s.own.Settled {
		done(m, 0, l.failure(at, sender.Send(s.Over, message, nil)))
		return
	}
	receipt, err := sender.SendWithReceipt(s.Over, message, nil)
	if err != nil {
		done(m, 0, l.failure(at, err))
		return
	}
	if l.unsettled == nil {
		l.unsettled = make([]*broker.Unanswered[sent], len(s.topics))
	}
	if l.unsettled[m.Topic] == nil {
		l.unsettled[m.Topic] = broker.NewUnanswered(s.Base, l.settled)
	}
	l.unsettled[m.Topic].Add(m, done, sent{receipt, at})
}

// settled waits for what the server says of a message.
func (l *link) settled(of sent) error {
	state, err := of.receipt.Wait(l.session.Over)
	if err != nil {
		return l.failure(of.on, err)
	}
	return refusal(state)
}

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

// connect takes the first server that answers. Connection i begins with server i, so that a cluster's nodes get the same share in every run.
func (l *link) connect(ctx context.Context) (made *wire, err error) {
	s := l.session
	scheme := "amqp"
	if s.security != nil {
		scheme = "amqps"
	}
	hosts := s.at.Hosts
	for i := range hosts {
		if made, err = l.dial(ctx, scheme+"://"+hosts[(l.number+i)%len(hosts)]); err == nil {
			break
		}
	}
	return made, err
}

func (l *link) dial(ctx context.Context, url string) (*wire, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := amqp.Dial(ctx, url, l.session.options(l.number))
	if err != nil {
		return nil, err
	}
	made := &wire{Conn: conn}
	made.session, err = conn.NewSession(ctx, nil)
	if err == nil && l.sends.Load() {
		err = l.attach(ctx, made)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return made, nil
}

// attach makes a sender for each topic.
func (l *link) attach(ctx context.Context, on *wire) error {
	s := l.session
	for _, one := range s.topics {
		sender, err := on.session.NewSender(ctx, s.address(one.Name), s.sender())
		if err != nil {
			return err
		}
		if most := sender.MaxMessageSize(); most > 0 && uint64(s.MessageBytes) > most && s.LimitBytes == 0 {
			return fmt.Errorf("messages of %d bytes are above the server's limit of %d", s.MessageBytes, most)
		}
		on.senders = append(on.senders, sender)
	}
	return nil
}

// failure rewords the library's error of a send. Where a server has ended a sender alone, the connection is made anew.
func (l *link) failure(on *wire, err error) error {
	var refused *amqp.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Condition == amqp.ErrCondMessageSizeExceeded:
		return fmt.Errorf("amqp: send: %w", refused)
	default:
		go func() { _ = on.Close() }()
		return errLost
	}
}

// refusal is nil for a message that the server has taken.
func refusal(state amqp.DeliveryState) error {
	switch state := state.(type) {
	case *amqp.StateAccepted:
		return nil
	case *amqp.StateRejected:
		if state.Error != nil {
			return fmt.Errorf("amqp: send: rejected: %s", state.Error.Description)
		}
		return errors.New("amqp: send: rejected")
	default:
		return fmt.Errorf("amqp: send: not taken (%T)", state)
	}
}

// close ends the senders first where nobody acknowledges: their end is answered behind what they sent.
func (l *link) close(ctx context.Context) {
	at, is := l.Now()
	if !is {
		return
	}
	if l.session.own.Settled {
		for _, one := range at.senders {
			_ = one.Close(ctx)
		}
	}
	_ = at.Close()
}

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
		// If the connection is gone, the broker never gets the acknowledgement and delivers the message again.
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
