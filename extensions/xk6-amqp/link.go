package amqp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/Azure/go-amqp"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// link is one connection, with a session, a sender for each topic, and a receiver for each consumer. The library does not connect again; we do.
type link struct {
	broker.Link[*wire]
	session *session
	number  int
	// carried are the functions that make senders and receivers on the connection, again for each new connection.
	carried broker.List[attach]
	// unsettled is by topic: each is a queue, which settles in the order of sending.
	unsettled []*broker.Unanswered[sent]
}

type sent struct {
	amqp.SendReceipt
	on *wire
}

type attach func(context.Context, *wire) error

// wire is the state that is lost with a connection.
type wire struct {
	*amqp.Conn
	session *amqp.Session
	// senders of the session's topics, by their index.
	senders []*amqp.Sender
}

var (
	errNotConnected = errors.New("amqp: send: not connected")
	errLost         = fmt.Errorf("amqp: connection lost: %w", broker.ErrUnknown)
)

// Send hands over. It blocks while the server gives the sender no credit.
func (l *link) Send(m *broker.Message, done broker.Done) {
	at, is := l.Now()
	if !is {
		done(m, 0, errNotConnected)
		return
	}
	s, sender := l.session, at.senders[m.Topic]
	message := &amqp.Message{Header: &amqp.MessageHeader{Durable: s.durable()}, Data: [][]byte{m.Payload}}
	if s.own.Settled {
		done(m, 0, at.failure(sender.Send(s.Over, message, nil)))
		return
	}
	receipt, err := sender.SendWithReceipt(s.Over, message, nil)
	if err != nil {
		done(m, 0, at.failure(err))
		return
	}
	l.unsettled[m.Topic].Add(m, done, sent{receipt, at})
}

func (l *link) settled(of sent) error {
	state, err := of.Wait(l.session.Over)
	if err != nil {
		return of.on.failure(err)
	}
	switch state := state.(type) {
	case *amqp.StateAccepted:
		return nil
	case *amqp.StateRejected:
		if state.Error != nil {
			return fmt.Errorf("amqp: send: rejected: %s", state.Error.Description)
		}
		return errors.New("amqp: send: rejected")
	}
	return fmt.Errorf("amqp: send: not taken (%T)", state)
}

type consumer struct {
	session *session
	topic   string
	handle  broker.Handler
	// over ends with the subscription.
	over context.Context
	end  context.CancelFunc
	on   atomic.Pointer[amqp.Receiver]
	// working: a new receiver begins when the one that was lost has handled its message.
	working sync.Mutex
}

// stop gives back unhandled messages.
func (c *consumer) stop(ctx context.Context) error {
	c.end()
	// Subtle: a message that was handled and is not accepted yet would go to another consumer.
	deadline.AtMost(closeTimeout, c.working.Lock)
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if err := c.on.Load().Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil // RabbitMQ 3.10 does not answer; with the connection it is over
}

// --- internal ---

// connect takes the first server that answers. Connection i begins with server i, which gives a cluster's nodes the same share in every run.
func (s *session) connect(ctx context.Context, number int) (w *wire, err error) {
	for i := range s.at.Hosts {
		if w, err = s.dial(ctx, s.at.Hosts[(number+i)%len(s.at.Hosts)]); err == nil {
			break
		}
	}
	return w, err
}

func (s *session) dial(ctx context.Context, host string) (w *wire, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	login := amqp.SASLTypeAnonymous()
	if s.at.User != "" {
		login = amqp.SASLTypePlain(s.at.User, s.at.Password)
	}
	socket, err := s.Dialer(0, s.security)(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	name, _, _ := net.SplitHostPort(host)
	w = &wire{}
	w.Conn, err = amqp.NewConn(ctx, socket, &amqp.ConnOptions{
		ContainerID: "mqbench-" + rand.Text(), SASLType: login, HostName: name,
		IdleTimeout: idleTimeout, MaxFrameSize: maxFrameSize, WriteTimeout: writeTimeout,
	})
	if err != nil {
		return nil, err
	}
	if w.session, err = w.NewSession(ctx, nil); err != nil {
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

// dial connects, with all that was on the connection before.
func (l *link) dial(ctx context.Context) (*wire, error) {
	made, err := l.session.connect(ctx, l.number)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for _, attach := range l.carried.All() {
		if err := attach(ctx, made); err != nil {
			_ = made.Close()
			return nil, err
		}
	}
	return made, nil
}

// carry makes something on the connection, now and whenever that is made again.
func (l *link) carry(ctx context.Context, attach attach) error {
	at, is := l.Now()
	if !is {
		return errNotConnected
	}
	l.carried.Add(attach) // Subtle: in this order, a connection that comes back has it, and never twice
	return attach(ctx, at)
}

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

// failure rewords the library's error of a send. If a server has ended only a sender, the whole connection is replaced.
func (w *wire) failure(err error) error {
	var refused *amqp.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Condition == amqp.ErrCondMessageSizeExceeded:
		return fmt.Errorf("amqp: send: %w", refused)
	default:
		go func() { _ = w.Close() }()
		return errLost
	}
}

// close ends the senders first if nothing is acknowledged: the server answers their end after their messages.
func (l *link) close(ctx context.Context) {
	if at, is := l.Now(); is {
		if l.session.own.Settled {
			for _, one := range at.senders {
				_ = one.Close(ctx)
			}
		}
		_ = at.Close()
	}
}

func (c *consumer) attach(ctx context.Context, on *wire) error {
	s := c.session
	made, err := on.session.NewReceiver(ctx, s.address(c.topic), s.receiver())
	if err == nil {
		c.on.Store(made)
		go c.work(on, made)
	}
	return err
}

// work handles one message after the other. If a server has ended only the receiver, the connection is replaced.
func (c *consumer) work(on *wire, from *amqp.Receiver) {
	c.working.Lock()
	defer c.working.Unlock()
	for {
		m, err := from.Receive(c.over, nil)
		if c.over.Err() != nil {
			return
		}
		if err != nil {
			_ = on.Close()
			return
		}
		d := broker.Delivery{ReceivedNs: c.session.Now(), Payload: m.GetData()}
		d.Redelivered = m.Header != nil && m.Header.DeliveryCount > 0
		c.handle(d)
		// If the connection is gone, the broker never gets the acknowledgement and delivers the message again.
		_ = from.AcceptMessage(c.session.Over, m)
	}
}
