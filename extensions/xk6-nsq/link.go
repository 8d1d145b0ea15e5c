package nsq

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nsqio/go-nsq"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// link is one connection that sends. Where it is lost the next message gets another one of the library's producers: one that connects again reads what it
// writes without a lock.
type link struct {
	session *session
	life    *broker.Lifeline
	server  string
	answers chan *nsq.ProducerTransaction

	// mu guards library and broken.
	mu      sync.Mutex
	library *nsq.Producer
	broken  bool
	// ends are those of producers that were replaced.
	ends sync.WaitGroup
}

// outgoing is a message that waits for its answer.
type outgoing struct {
	message *broker.Message
	done    broker.Done
	by      *nsq.Producer
}

var (
	errNotConnected = errors.New("nsq: publish: not connected")
	errLost         = fmt.Errorf("nsq: connection lost: %w", broker.ErrUnknown)
	errEnded        = errors.New("the library has closed it")
)

// greet asks a server without TLS for an error, which says whether it requires TLS.
//
// Subtle: such a server answers the library's ping with an error, and the library then panics in a goroutine of its own.
func (s *session) greet(ctx context.Context, server string) error {
	if s.security != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", server)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, "  V2CLS\n"); err != nil {
		return err
	}
	var bytes int32
	if err := binary.Read(conn, binary.BigEndian, &bytes); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	answer := make([]byte, min(max(bytes, 0), maxGreeting))
	_, err = io.ReadFull(conn, answer)
	switch text := string(answer); {
	case strings.Contains(text, "TLS required"):
		return errors.New("the server requires TLS")
	case !strings.Contains(text, "E_INVALID"):
		return errors.New("unexpected protocol: it does not answer as nsqd does")
	}
	return err
}

func (s *session) connect(i int) (*link, error) {
	l := &link{session: s, life: s.Lifeline(), server: s.servers[i%len(s.servers)], answers: make(chan *nsq.ProducerTransaction, 1024)}
	var err error
	if l.library, err = l.producer(); err == nil {
		err = l.library.Ping()
	}
	if err != nil {
		return nil, err
	}
	go l.settle()
	return l, nil
}

// Send hands over; the library's router takes one message after the other.
func (l *link) Send(m *broker.Message, done broker.Done) {
	by, err := l.current()
	if err == nil {
		err = by.PublishAsync(m.Name, m.Payload, l.answers, outgoing{m, done, by})
	}
	if err == nil {
		return
	}
	l.breaks(by)
	if !errors.Is(err, nsq.ErrStopped) && !errors.Is(err, nsq.ErrNotConnected) {
		l.session.Report("connect", address.Cause(err))
	}
	done(m, 0, errNotConnected)
}

// consumer is one subscription, with connections of its own to all servers. What the library hands over waits in a queue of ours, no longer than
// the prefetch, so that everything that is not handled can be given back.
type consumer struct {
	session               *session
	topic, group, channel string
	handle                broker.Handler
	library               *nsq.Consumer
	queue                 chan taken
	// inHand is the message that is being handled.
	inHand atomic.Pointer[nsq.Message]
}

type taken struct {
	*nsq.Message
	at int64
}

// newConsumer makes one that is not connected yet.
func (s *session) newConsumer(to broker.Subscription, handle broker.Handler) (*consumer, error) {
	c := &consumer{session: s, topic: to.Topic, group: to.Group, handle: handle, queue: make(chan taken, s.own.Prefetch)}
	c.channel = s.channelName(to.Group, s.numbers.Add(1)-1)
	config, _ := s.config()
	var err error
	if c.library, err = nsq.NewConsumer(c.topic, c.channel, config); err != nil {
		return nil, err
	}
	life := s.Lifeline()
	c.library.SetLogger(log{life}, nsq.LogLevelWarning)
	c.library.AddHandler(nsq.HandlerFunc(func(m *nsq.Message) error {
		at := s.Now()
		life.Works()
		m.DisableAutoResponse()
		select {
		case c.queue <- taken{m, at}:
		case <-s.Over.Done():
			m.RequeueWithoutBackoff(0)
		}
		return nil
	}))
	return c, nil
}

func (c *consumer) start() error {
	go c.work()
	return c.library.ConnectToNSQDs(c.session.servers)
}

// stop ends the subscription and gives back what was not handled.
func (c *consumer) stop() {
	c.library.Stop()
	if m := c.inHand.Load(); m != nil {
		m.RequeueWithoutBackoff(0)
	}
	// More may come until the server has heard of it.
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

// --- internal ---

// producer is one of the library's, which connects with its first message.
func (l *link) producer() (*nsq.Producer, error) {
	config, _ := l.session.config()
	made, err := nsq.NewProducer(l.server, config)
	if err != nil {
		return nil, err
	}
	made.SetLogger(log{l.life}, nsq.LogLevelInfo)
	return made, nil
}

// current is the producer, a new one if that is broken.
func (l *link) current() (*nsq.Producer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.broken || l.session.Over.Err() != nil {
		return l.library, nil
	}
	made, err := l.producer()
	if err != nil {
		return l.library, err
	}
	l.ends.Go(l.library.Stop)
	l.library, l.broken = made, false
	return made, nil
}

// breaks: that producer's connection is lost.
func (l *link) breaks(by *nsq.Producer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if by == l.library {
		l.broken = true
		l.life.Failed("connection lost", errEnded)
	}
}

// settle reads the answers, until the library has given up the last message.
func (l *link) settle() {
	// nsqd ends the connection with each refusal of a message, and has taken nothing that this producer sent after that one.
	var refused error
	var ended *nsq.Producer
	for answer := range l.answers {
		at := l.session.Now()
		one := answer.Args[0].(outgoing)
		var refusal nsq.ErrProtocol
		switch err := answer.Error; {
		case err == nil:
			l.life.Works()
			one.done(one.message, at, nil)
		case errors.As(err, &refusal):
			ended, refused = one.by, fmt.Errorf("nsq: publish: %s", refusal.Reason)
			l.breaks(one.by)
			one.done(one.message, 0, refused)
		case one.by == ended:
			one.done(one.message, 0, refused)
		default: // written or not, the library does not say
			l.breaks(one.by)
			one.done(one.message, 0, errLost)
		}
	}
}

func (l *link) close() {
	last, _ := l.current()
	last.Stop()
	l.ends.Wait()
	close(l.answers)
}

// log takes lines of the library's log: nothing else says that it has lost a connection.
type log struct{ life *broker.Lifeline }

func (l log) Output(_ int, line string) error {
	if strings.Contains(line, "connections left alive") {
		l.life.Failed("connection lost", errEnded)
	}
	return nil
}

// work handles one message after the other. Members of a group take a message when its turn comes.
func (c *consumer) work() {
	for {
		select {
		case <-c.session.Over.Done():
			return
		case m := <-c.queue:
			if c.group != "" {
				m.at = c.session.Now()
			}
			c.inHand.Store(m.Message)
			c.handle(broker.Delivery{ReceivedNs: m.at, Payload: m.Body, Redelivered: m.Attempts > 1})
			m.Finish()
			c.inHand.Store(nil)
		}
	}
}
