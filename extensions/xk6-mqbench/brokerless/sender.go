package brokerless

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// sender is the sending side of a connection: a socket for each topic.
type sender struct {
	session *Session
	mu      sync.Mutex
	outs    map[string]*route
	closed  bool
}

// route is where messages of a topic go.
type route struct {
	topic string
	out   Out
	// known are the addresses that it is connected to.
	known map[string]bool
}

// Send connects first where nothing of the topic was sent before. It blocks as the library does.
func (p *sender) Send(m *broker.Message, done broker.Done) {
	if err := p.send(m); err != nil {
		done(m, 0, fmt.Errorf("%s: %w", p.session.name, err))
		return
	}
	done(m, 0, nil)
}

const (
	dialTimeout   = 5 * time.Second
	answerTimeout = 10 * time.Second
	reconnectWait = 100 * time.Millisecond
)

// request is a line of a client to the forwarder; the answer has the same form. The first line of a connection is the forwarder's, and says
// its version.
type request struct {
	Version string `json:"version,omitempty"`
	Mode    Mode   `json:"mode,omitempty"`
	// Entrance asks where messages of a topic go in.
	Entrance string `json:"entrance,omitempty"`
	// Subscription is to be connected to, as long as this connection lasts.
	Subscription *broker.Endpoint `json:"subscription,omitempty"`
	Address      string           `json:"address,omitempty"`
	Error        string           `json:"error,omitempty"`
}

// link is a session's connection to the forwarder. When it is lost, the forwarder forgets everything: subscriptions are
// registered again, and senders ask again where to send.
type link struct {
	broker.Link[*wire]
	session *Session
	server  string

	mu     sync.Mutex
	said   string
	wanted []broker.Endpoint
}

// wire is one connection. It has one question under way.
type wire struct {
	net.Conn
	asking  sync.Mutex
	answers chan request
	over    chan struct{}
}

func (w *wire) Done() <-chan struct{} { return w.over }
func (w *wire) Err() error            { return errors.New("the forwarder has closed it") }

// subscribe makes a subscription known, and returns when the forwarder is connected to it.
func (l *link) subscribe(ctx context.Context, e broker.Endpoint) error {
	l.mu.Lock()
	l.wanted = append(l.wanted, e)
	l.mu.Unlock()
	_, err := l.ask(ctx, request{Subscription: &e})
	return err
}

// entrance is where messages of a topic go in.
func (l *link) entrance(ctx context.Context, topic string) (broker.Endpoint, error) {
	answer, err := l.ask(ctx, request{Entrance: topic})
	if l.session.own.Mode == PubSub {
		topic = "" // one entrance for all
	}
	return broker.Endpoint{Topic: topic, Address: answer.Address}, err
}

func (l *link) version() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said
}

// --- internal ---

func (p *sender) send(m *broker.Message) error {
	s := p.session
	if s.base.Over.Err() != nil {
		return errClosed
	}
	if s.own.Mode == ReqRep && strings.HasSuffix(m.Name, replySuffix) {
		return s.reply(m)
	}
	to, err := p.route(s.base.Over, m.Name)
	if err != nil {
		return err
	}
	err = to.out.Send(Message{Topic: m.Name, Payload: m.Payload})
	switch {
	case err == nil:
		return nil
	case s.base.Over.Err() != nil:
		return fmt.Errorf("%w: %w", errClosed, broker.ErrUnknown)
	case errors.Is(err, ErrNotConnected):
		return err
	}
	return fmt.Errorf("%w: %w", err, broker.ErrUnknown)
}

// route is the topic's socket, connected to all that are subscribed.
func (p *sender) route(ctx context.Context, topic string) (*route, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if to := p.outs[topic]; to != nil {
		return to, nil
	}
	if p.closed {
		return nil, errClosed
	}
	s := p.session
	out, err := s.library.Sender(s.own.Mode, func(m Message) { s.replied(topic, m) },
		func(err error) { s.base.Report("connection lost", address.Cause(err)) }, s.base.Reconnected)
	if err != nil {
		return nil, err
	}
	to := &route{topic: topic, out: out, known: map[string]bool{}}
	p.outs[topic] = to
	receivers := s.receivers(topic)
	if s.forwarder != nil {
		at, err := s.forwarder.entrance(ctx, topic)
		if err != nil {
			delete(p.outs, topic)
			return nil, errors.Join(err, out.Close())
		}
		receivers = []broker.Endpoint{at}
	}
	for _, e := range receivers {
		if err := to.connect(ctx, e); err != nil {
			delete(p.outs, topic)
			return nil, errors.Join(err, out.Close())
		}
	}
	return to, nil
}

// connect makes another subscription known to sockets that are there already.
func (p *sender) connect(ctx context.Context, e broker.Endpoint) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for topic, to := range p.outs {
		if covers(e, topic) {
			if err := to.connect(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget closes the sockets: the forwarder that they were connected to is another one now.
func (p *sender) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for topic, to := range p.outs {
		delete(p.outs, topic)
		go func() { _ = to.out.Close() }()
	}
}

func (p *sender) close() {
	p.mu.Lock()
	p.closed = true
	var all []func()
	for _, to := range p.outs {
		all = append(all, func() { _ = to.out.Close() })
	}
	p.mu.Unlock()
	deadline.AtMost(closeTimeout, all...)
}

func (to *route) connect(ctx context.Context, e broker.Endpoint) error {
	if to.known[e.Address] {
		return nil
	}
	to.known[e.Address] = true
	return broker.Wrap(fmt.Sprintf("connect to the subscription of %q at %s", e.Topic, e.Address), to.out.Connect(ctx, e.Address, prefixOf(e)))
}

// connect makes a connection on which all subscriptions are known.
func (l *link) connect(ctx context.Context) (*wire, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.server)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(l.session.base.Over, func() { _ = conn.Close() })
	lines := bufio.NewReader(conn)
	var hello request
	_ = conn.SetReadDeadline(time.Now().Add(dialTimeout))
	if err := readLine(lines, &hello); err != nil || hello.Version == "" {
		return nil, errors.Join(errors.New("it is not mqbench's forwarder"), conn.Close())
	}
	_ = conn.SetReadDeadline(time.Time{})
	w := &wire{Conn: conn, answers: make(chan request, 1), over: make(chan struct{})}
	go func() {
		defer close(w.over)
		for {
			var answer request
			if err := readLine(lines, &answer); err != nil {
				_ = conn.Close()
				for _, one := range l.session.allSenders() {
					one.forget()
				}
				return
			}
			w.answers <- answer
		}
	}()
	l.mu.Lock()
	l.said = hello.Version
	wanted := l.wanted
	l.mu.Unlock()
	for _, e := range wanted {
		if _, err := w.ask(ctx, request{Subscription: &e, Mode: l.session.own.Mode}); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return w, nil
}

func (l *link) ask(ctx context.Context, question request) (request, error) {
	w, is := l.Now()
	if !is {
		return request{}, ErrNotConnected
	}
	question.Mode = l.session.own.Mode
	return w.ask(ctx, question)
}

func (w *wire) ask(ctx context.Context, question request) (request, error) {
	w.asking.Lock()
	defer w.asking.Unlock()
	text, err := json.Marshal(question)
	if err != nil {
		return request{}, err
	}
	_ = w.SetWriteDeadline(time.Now().Add(answerTimeout))
	if _, err := w.Write(append(text, '\n')); err != nil {
		return request{}, ErrNotConnected
	}
	select {
	case answer := <-w.answers:
		if answer.Error != "" {
			return request{}, errors.New(answer.Error)
		}
		return answer, nil
	case <-w.over:
		return request{}, ErrNotConnected
	case <-ctx.Done():
		_ = w.Close() // its answer would be taken for that to the next question
		return request{}, ctx.Err()
	case <-time.After(answerTimeout):
		_ = w.Close()
		return request{}, fmt.Errorf("the forwarder does not answer within %s", answerTimeout)
	}
}

func (s *Session) allSenders() []*sender {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.senders
}

func readLine(lines *bufio.Reader, into any) error {
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}
