// Package amqp is the driver for AMQP 1.0 brokers: a topic of mqbench is a queue, or a topic of the broker's.
package amqp

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	closeTimeout = time.Second
	defaultPort  = "5672"
	securePort   = "5671"
	// classic is the product name that ActiveMQ Classic reports.
	classic = "ActiveMQ"
	// longestLook is how long a user's queue is given to show that it holds messages.
	longestLook = 250 * time.Millisecond
)

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	s := &session{Base: broker.NewBase("amqp", o), own: defaults}
	err := o.Decode(&s.own)
	port := defaultPort
	if s.own.TLS.On {
		port = securePort
	}
	if err == nil {
		plain, secure := address.Scheme{Name: "amqp", Port: port}, address.Scheme{Name: "amqps", Port: securePort}
		s.at, s.security, err = address.ParseSecure(o.URL, s.own.TLS, plain, secure)
	}
	return s, broker.Wrap("amqp", err)
}

type session struct {
	*broker.Base
	broker.DropsNothing // the library keeps all messages it has given credit for
	own                 options
	at                  address.Address
	security            *tls.Config
	links               []*link
	topics              []broker.Topic
	server              string
	// classic is true for ActiveMQ Classic, where only a prefix sets the kind of an address.
	classic   bool
	consumers broker.List[*consumer]
}

var (
	_ broker.Remover = (*session)(nil)
	_ broker.Leaver  = (*session)(nil)
)

func (s *session) Open(ctx context.Context) error {
	for i := range s.Connections {
		l := &link{Link: broker.Link[*wire]{Wait: reconnectWait}, session: s, number: i}
		if err := l.Open(ctx, s.Base, l.dial); err != nil {
			return fmt.Errorf("amqp: connect: %w", broker.Nth(i, s.Connections, address.Cause(err)))
		}
		s.links = append(s.links, l)
	}
	first, is := s.links[0].Now()
	if !is {
		return errNotConnected
	}
	said := first.Properties()
	product, _ := said["product"].(string)
	version, _ := said["version"].(string)
	s.server, s.classic = product+" "+version, product == classic
	return nil
}

// Prepare makes queues by using them, because AMQP 1.0 has no request for that, and takes out the messages of an earlier run.
func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	grouped := func(to broker.Subscription) bool { return to.Group != "" }
	if err := layout.Rivals(); err != nil && s.own.Destination == queue {
		return fmt.Errorf("amqp: write destination: topic: %w", err)
	}
	if s.own.Destination == topic && slices.ContainsFunc(layout.Subscriptions, grouped) {
		return errors.New("amqp: a topic has no groups in AMQP 1.0; write destination: queue")
	}
	s.topics = layout.Topics
	return deadline.Each(ctx, layout.Names(), func(ctx context.Context, name string) error {
		switch {
		case s.Client == 0 && s.Run != "":
			return broker.Wrap("amqp", s.exists(ctx, name))
		case s.Client == 0 && s.own.Destination == queue:
			return broker.Wrap(fmt.Sprintf("amqp: empty queue %q", name), s.empty(ctx, name))
		}
		return nil
	})
}

func (s *session) Producer(connection int) (broker.Producer, error) {
	l := s.links[connection]
	for range s.topics {
		l.unsettled = append(l.unsettled, broker.NewUnanswered(s.Base, l.settled))
	}
	ctx, cancel := context.WithTimeout(s.Over, connectTimeout)
	defer cancel()
	return l, broker.Wrap("amqp", address.Cause(l.carry(ctx, l.attach)))
}

func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	c := &consumer{session: s, topic: to.Topic, handle: handle}
	c.over, c.end = context.WithCancel(s.Over)
	var err error
	if s.Run != "" && s.own.Destination == queue {
		err = s.isEmpty(ctx, to.Topic)
	}
	if err == nil {
		err = s.links[to.Connection].carry(ctx, c.attach)
	}
	if err == nil {
		s.consumers.Add(c)
	}
	return broker.Wrap(fmt.Sprintf("amqp: receive from %q", to.Topic), address.Cause(err))
}

// Leave ends the receivers when their present message is handled; the server has the rest back.
func (s *session) Leave(ctx context.Context) error {
	s.Quiet()
	return deadline.Each(ctx, s.consumers.All(), func(ctx context.Context, c *consumer) error { return c.stop(ctx) })
}

// Remove empties our queues; AMQP 1.0 cannot remove a queue.
func (s *session) Remove(ctx context.Context) error {
	err := s.Leave(ctx)
	if !s.Found() && s.own.Destination == queue {
		err = errors.Join(err, deadline.Each(ctx, s.topics, func(ctx context.Context, t broker.Topic) error { return s.empty(ctx, t.Name) }))
	}
	return broker.Wrap("amqp: empty queues", err)
}

func (s *session) Describe() broker.Description {
	set := broker.Settings[struct{}]{}
	confirm := "each message, by its disposition"
	if s.own.Settled {
		confirm = "none: messages are sent settled"
	}
	set.Print(map[string]any{
		"connections": s.Connections, "tls": s.security != nil, "destination": s.own.Destination, "settled": s.own.Settled,
		"durableMessages": s.durable(), "login": map[bool]string{true: "PLAIN", false: "ANONYMOUS"}[s.at.User != ""],
		"maxFrameSize": maxFrameSize, "idleTimeout": idleTimeout, "writeTimeout": writeTimeout, "reconnectWait": reconnectWait,
		"senders": "one for each topic on each connection", "confirm": confirm, "flush": "each message, as the library does",
		"batching": "none", "compression": "none", "acknowledgeAlone": "each message: accepted", "acknowledgeInGroup": "each message: accepted",
		"prefetch": fmt.Sprintf("%d not accepted (link credit)", s.own.Prefetch),
	})
	return broker.Description{
		Acks: !s.own.Settled, Order: "per-producer", Stores: s.own.Destination == queue, Settings: set.Printed,
		Library: "go-amqp " + broker.LibraryVersion("github.com/Azure/go-amqp"), Server: s.server,
	}
}

func (s *session) Close() error {
	s.End()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	deadline.AtMost(closeTimeout, deadline.Steps(s.links, func(l *link) { l.close(ctx) })...)
	return nil
}

// --- internal ---

// durable is set in each message's header: without it a server keeps a message in memory at best.
func (s *session) durable() bool { return s.Durability != "memory" }

func (s *session) address(name string) string {
	if s.classic && s.own.Destination == topic && !strings.Contains(name, "://") {
		return "topic://" + name
	}
	return name
}

// aside does something on a separate connection, and ends it: RabbitMQ 3.10 does not answer the end of a link.
func (s *session) aside(ctx context.Context, do func(*amqp.Session) error) error {
	at, err := s.connect(ctx, 0)
	if err != nil {
		return err
	}
	defer func() { _ = at.Close() }()
	return do(at.session)
}

// exists looks for a user's address. A server that makes addresses when they are used has it from now on.
func (s *session) exists(ctx context.Context, name string) error {
	return s.aside(ctx, func(on *amqp.Session) error {
		_, err := on.NewSender(ctx, s.address(name), s.sender())
		if refused := new(amqp.LinkError); errors.As(err, &refused) && refused.RemoteErr != nil && refused.RemoteErr.Condition == amqp.ErrCondNotFound {
			return broker.MissingTopic(name, "the server knows no such address")
		}
		return err
	})
}

// isEmpty refuses a user's queue that holds messages: they would be taken away.
func (s *session) isEmpty(ctx context.Context, name string) error {
	return s.aside(ctx, func(on *amqp.Session) error {
		o := s.receiver()
		o.Credit, o.SourceDistributionMode = 1, amqp.SourceDistributionModeCopy
		looks, err := on.NewReceiver(ctx, name, o)
		if err != nil {
			return err
		}
		first, cancel := context.WithTimeout(ctx, longestLook)
		defer cancel()
		if _, err := looks.Receive(first, nil); err == nil {
			return errors.New("it holds messages, which consumers would take away; use an empty one")
		}
		return ctx.Err()
	})
}

// empty takes all messages before our mark out of a queue, and thereby makes the queue. A drain of the link's credit would not do, because
// the library may send it before the credit, which Artemis does not answer.
func (s *session) empty(ctx context.Context, name string) error {
	return s.aside(ctx, func(on *amqp.Session) error {
		mark := rand.Text()
		takes, err := on.NewReceiver(ctx, name, s.receiver())
		if err != nil {
			return err
		}
		sends, err := on.NewSender(ctx, name, &amqp.SenderOptions{TargetCapabilities: []string{queue}})
		if err != nil {
			return err
		}
		if err := sends.Send(ctx, &amqp.Message{Data: [][]byte{[]byte(mark)}}, nil); err != nil {
			return err
		}
		for {
			m, err := takes.Receive(ctx, nil)
			if err == nil {
				err = takes.AcceptMessage(ctx, m)
			}
			if err != nil {
				return err
			}
			if string(m.GetData()) == mark {
				// The accept is on its way only: the end of the link is answered behind it, where it is answered.
				late, cancel := context.WithTimeout(ctx, longestLook)
				defer cancel()
				_ = takes.Close(late)
				return nil
			}
		}
	})
}
