package nsq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nsqio/go-nsq"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// link is one connection that sends, to one server.
type link struct {
	broker.Link[*wire]
	session *session
	server  string
}

// wire is one of the library's producers. It ends with its first connection: one that connects again races with its own writes.
type wire struct {
	*nsq.Producer
	broker.Lifetime
	answers chan *nsq.ProducerTransaction
	once    sync.Once
}

var (
	errNotConnected = errors.New("nsq: publish: not connected")
	errLost         = fmt.Errorf("nsq: connection lost: %w", broker.ErrUnknown)
	errEnded        = errors.New("the library has closed it")
)

func (l *link) connect(context.Context) (*wire, error) {
	config, _ := l.session.config()
	made, err := nsq.NewProducer(l.server, config)
	if err != nil {
		return nil, err
	}
	w := &wire{Producer: made, Lifetime: broker.NewLifetime(context.Background()), answers: make(chan *nsq.ProducerTransaction, 1024)}
	made.SetLogger(w, nsq.LogLevelInfo)
	if err := made.Ping(); err != nil {
		return nil, err
	}
	go w.settle(l.session.Now)
	return w, nil
}

// Send hands over; the library's router takes one message after the other.
func (l *link) Send(m *broker.Message, done broker.Done) {
	w, is := l.Now()
	if !is || w.PublishAsync(m.Name, m.Payload, w.answers, m, done) != nil {
		done(m, 0, errNotConnected)
	}
}

// Output takes lines of the library's log: only it shows that a connection is lost. This one is the last of a producer, which has completed
// all messages then, and gets no more once it is stopped.
func (w *wire) Output(_ int, line string) error {
	if strings.Contains(line, "exiting router") {
		w.once.Do(func() {
			w.Stop()
			close(w.answers)
			w.End(errEnded)
		})
	}
	return nil
}

func (w *wire) settle(now func() int64) {
	// Whether it was written is unknown. With a refusal nsqd ends the connection, and has taken nothing that came after that message.
	rest := errLost
	for answer := range w.answers {
		at, m, done, err := now(), answer.Args[0].(*broker.Message), answer.Args[1].(broker.Done), answer.Error
		if refusal := (nsq.ErrProtocol{}); errors.As(err, &refusal) {
			rest = fmt.Errorf("nsq: publish: %s", refusal.Reason)
		}
		if err != nil {
			err = rest
		}
		done.Settle(m, at, err)
	}
}

func (l *link) close() {
	if w, is := l.Now(); is {
		w.Stop()
	}
}

// greet asks a server without TLS for an error, which shows whether it requires TLS.
//
// Subtle: such a server answers the library's ping with an error, and the library then panics in its own goroutine.
func (s *session) greet(ctx context.Context, server string) error {
	if s.security != nil {
		return nil
	}
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", server)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(dialTimeout)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "  V2CLS\n"); err != nil {
		return err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, maxGreeting)) // nsqd ends the connection with an error
	switch text := string(answer); {
	case strings.Contains(text, "TLS required"):
		return errors.New("the server requires TLS")
	case strings.Contains(text, "E_INVALID"):
		return nil
	case len(answer) > 0:
		return errors.New("unexpected protocol: it does not answer as nsqd does")
	}
	return cmp.Or(err, io.ErrUnexpectedEOF)
}

// consumer is one subscription, with separate connections to all servers. Messages from the library wait in our own queue, no longer than
// the prefetch, because everything that is not handled must be given back.
type consumer struct {
	broker.Subscription
	session *session
	channel string
	handle  broker.Handler
	library *nsq.Consumer
	life    *broker.Lifeline
	queue   chan taken
	// inHand is the message that is being handled.
	inHand atomic.Pointer[nsq.Message]
}

type taken struct {
	*nsq.Message
	at int64
}

// Output takes lines of the library's log, the only place that shows that a connection is lost.
func (c *consumer) Output(_ int, line string) error {
	if strings.Contains(line, "connections left alive") {
		c.life.Failed("connection lost", errEnded)
	}
	return nil
}

func (c *consumer) HandleMessage(m *nsq.Message) error {
	at := c.session.Now()
	c.life.Works()
	m.DisableAutoResponse()
	c.queue <- taken{m, at} // stop takes out the messages that work does not
	return nil
}

// stop ends the subscription and gives back unhandled messages.
func (c *consumer) stop() {
	c.library.Stop()
	if m := c.inHand.Load(); m != nil {
		m.RequeueWithoutBackoff(0)
	}
	// More may come until the server has received it.
	go func() {
		for {
			select {
			case m := <-c.queue:
				m.RequeueWithoutBackoff(0)
			case <-c.library.StopChan:
				return
			}
		}
	}()
}

// kill closes the library's sockets, which it shows to nobody, and keeps it from connecting again.
func (c *consumer) kill() {
	for on := reflect.ValueOf(c.library).Elem().FieldByName("connections").MapRange(); on.Next(); {
		_ = (*net.TCPConn)(on.Value().Elem().FieldByName("conn").UnsafePointer()).Close()
	}
	c.library.Stop()
}

// work handles one message after the other. Members of a group take a message when its turn comes.
func (c *consumer) work() {
	for {
		select {
		case <-c.session.Over.Done():
			return
		case m := <-c.queue:
			if c.Group != "" {
				m.at = c.session.Now()
			}
			c.inHand.Store(m.Message)
			c.handle(broker.Delivery{ReceivedNs: m.at, Payload: m.Body, Redelivered: m.Attempts > 1})
			m.Finish()
			c.inHand.Store(nil)
		}
	}
}
