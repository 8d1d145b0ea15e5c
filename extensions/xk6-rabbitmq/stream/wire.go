package stream

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	dialTimeout    = 5 * time.Second
	heartbeatEvery = 10 * time.Second
	reconnectDelay = 100 * time.Millisecond
	// mostFrameBytes is more than any frame has.
	mostFrameBytes = 512 << 20
)

var (
	errHungUp   = errors.New("the broker closed the connection")
	errProtocol = errors.New("this port does not speak RabbitMQ's stream protocol (plugin rabbitmq_stream, port 5552)")
)

// link is one of the run's connections, to publish or to consume, with the current wire.
type link struct {
	broker.Link[*wire]
	session  *session
	number   int
	consumes bool
	// subscriptions of one to consume.
	subscriptions broker.List[*subscription]
	// attempts to connect choose one node of a cluster after the other.
	attempts int
}

// wire is a socket that speaks the protocol. It ends when it is given up, and the link then makes a new one.
type wire struct {
	net.Conn
	broker.Lifetime
	session  *session
	version  string
	frameMax int
	tuned    chan struct{}
	writing  sync.Mutex
	// held is how many messages of chunks wait for their consumer.
	held atomic.Int64

	queue chan sent
	frame []byte // the last one of messages, whose memory the next one takes

	// mu guards the fields below.
	mu     sync.Mutex
	asked  uint32
	asking map[uint32]chan reader
	chunks []chan chunk // by the subscription's number
	// unconfirmed entries by their number, of which last was the last. Without a map the wire is over.
	unconfirmed map[uint64][]sent
	last        uint64
}

func (s *session) connect(ctx context.Context, number int, consumes bool) (*link, error) {
	l := &link{Link: broker.Link[*wire]{First: reconnectDelay, Wait: reconnectDelay}, session: s, number: number, consumes: consumes}
	return l, l.Open(ctx, s.Base, l.made)
}

// made is a wire with everything that the link has.
func (l *link) made(ctx context.Context) (*wire, error) {
	w, err := l.session.dial(ctx, l.number+l.attempts)
	l.attempts++
	if err == nil && !l.consumes {
		context.AfterFunc(w, w.giveUp)
		go w.publish()
		err = w.declare(ctx, l.session.topics.All())
	}
	for _, sub := range l.subscriptions.All() {
		if err == nil {
			err = sub.start(ctx, w)
		}
	}
	if err != nil && w != nil {
		w.End(err)
	}
	return w, address.Cause(err)
}

func (s *session) dial(ctx context.Context, number int) (*wire, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := s.Dialer(0, s.tls)(ctx, "tcp", s.at.Hosts[number%len(s.at.Hosts)])
	if err != nil {
		return nil, err
	}
	w := &wire{
		Conn: conn, Lifetime: broker.NewLifetime(s.Over), session: s, tuned: make(chan struct{}), queue: make(chan sent, s.queueLength),
		asking: map[uint32]chan reader{}, unconfirmed: map[uint64][]sent{},
	}
	context.AfterFunc(w, func() { _ = conn.Close() })
	go w.read()
	if err = w.logIn(ctx); err != nil {
		w.End(err)
	}
	return w, err
}

func (w *wire) logIn(ctx context.Context) error {
	said, err := w.ask(ctx, peerProperties, make([]byte, 4)) // none
	for n := said.uint(4); n > 0 && len(said) > 0; n-- {
		if key, value := said.text(), said.text(); key == "version" {
			w.version = value
		}
	}
	if err == nil {
		_, err = w.ask(ctx, saslHandshake, nil)
	}
	if err == nil {
		login := "\x00" + w.session.at.User + "\x00" + w.session.at.Password
		_, err = w.ask(ctx, saslAuthenticate, append(order.AppendUint32(text(nil, "PLAIN"), uint32(len(login))), login...))
	}
	if err != nil {
		return err
	}
	select {
	case <-w.tuned:
		_, err = w.ask(ctx, open, text(nil, "/"))
	case <-ctx.Done():
		err = ctx.Err()
	}
	return err
}

// ask waits for the answer, and returns what is behind its code.
func (w *wire) ask(ctx context.Context, command uint16, body []byte) (reader, error) {
	told := make(chan reader, 1)
	w.mu.Lock()
	w.asked++
	id := w.asked
	w.asking[id] = told
	w.mu.Unlock()
	w.write(append(order.AppendUint32(begin(command), id), body...))
	select {
	case r := <-told:
		if code := code(r.uint(2)); code != ok {
			return nil, code
		}
		return r, nil
	case <-w.Done():
		return nil, w.Err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// write sends a frame; a failure ends the wire.
func (w *wire) write(frame []byte) {
	order.PutUint32(frame, uint32(len(frame)-4))
	w.writing.Lock()
	defer w.writing.Unlock()
	if _, err := w.Write(frame); err != nil {
		w.End(err)
	}
}

// read handles frames until the wire ends, at the latest when three heartbeats have not come.
func (w *wire) read() {
	in, size := bufio.NewReaderSize(w.Conn, 64<<10), make([]byte, 4)
	for {
		_ = w.SetReadDeadline(time.Now().Add(3 * heartbeatEvery))
		_, err := io.ReadFull(in, size)
		n := order.Uint32(size)
		if err == nil && (n < 4 || n > mostFrameBytes) {
			err = errProtocol
		}
		if err == nil {
			frame := make(reader, n)
			if _, err = io.ReadFull(in, frame); err == nil {
				err = w.handle(uint16(frame.uint(2)), frame[2:])
			}
		}
		if errors.Is(err, io.EOF) {
			err = errHungUp
		}
		if err != nil {
			w.End(err)
			return
		}
	}
}

func (w *wire) handle(command uint16, r reader) error {
	switch command &^ answer {
	case publishConfirm, publishError:
		w.settle(command == publishError, r)
	case deliver:
		return w.arrived(r)
	case credit: // only a wrong one is answered
		return code(r.uint(2))
	case metadataUpdate:
		return fmt.Errorf("a stream is gone: %w", code(r.uint(2)))
	case heartbeat:
		// Subtle: the broker sends one if it has sent nothing else. If it has, we have sent messages, or credit.
		w.write(begin(heartbeat))
	case tune:
		w.frameMax = int(r.uint(4))
		every := min(r.uint(4), uint64(heartbeatEvery.Seconds()))
		w.write(order.AppendUint32(order.AppendUint32(begin(tune|answer), uint32(w.frameMax)), uint32(every)))
		w.frameMax = cmp.Or(w.frameMax, math.MaxInt32)
		close(w.tuned)
	case goodbye:
		r.uint(4)
		return fmt.Errorf("closed: %w", code(r.uint(2)))
	default:
		id := uint32(r.uint(4))
		w.mu.Lock()
		defer w.mu.Unlock()
		if told, is := w.asking[id]; is {
			delete(w.asking, id)
			told <- r
		}
	}
	return nil
}
