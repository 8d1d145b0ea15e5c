package brokerless

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

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

// link is a session's connection to the forwarder. When it is lost the forwarder has forgotten all: subscriptions are made known anew, and
// senders ask anew where to send.
type link struct {
	session *Session
	server  string

	// mu guards what follows; asking has one question under way.
	asking   sync.Mutex
	mu       sync.Mutex
	conn     net.Conn
	answers  chan request
	said     string
	wanted   []broker.Endpoint
	ended    bool
	watching sync.WaitGroup
}

func newLink(s *Session, server string) *link { return &link{session: s, server: server} }

func (l *link) open(ctx context.Context) error {
	if err := l.connect(ctx); err != nil {
		return err
	}
	l.watching.Go(l.keep)
	return nil
}

// subscribe makes a subscription known, and returns when the forwarder is connected to it.
func (l *link) subscribe(ctx context.Context, e broker.Endpoint) error {
	l.mu.Lock()
	l.wanted = append(l.wanted, e)
	l.mu.Unlock()
	_, err := l.ask(ctx, request{Subscription: &e, Mode: l.session.own.Mode})
	return err
}

// entrance is where messages of a topic go in.
func (l *link) entrance(ctx context.Context, topic string) (broker.Endpoint, error) {
	answer, err := l.ask(ctx, request{Entrance: topic, Mode: l.session.own.Mode})
	if err != nil {
		return broker.Endpoint{}, err
	}
	// Of mode pub-sub there is one entrance for all topics.
	if l.session.own.Mode == PubSub {
		return broker.Endpoint{Topic: "", Address: answer.Address}, nil
	}
	return broker.Endpoint{Topic: topic, Address: answer.Address}, nil
}

func (l *link) version() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said
}

func (l *link) close() {
	l.mu.Lock()
	l.ended = true
	if l.conn != nil {
		_ = l.conn.Close()
	}
	l.mu.Unlock()
	l.watching.Wait()
}

// --- internal ---

func (l *link) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.server)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(conn)
	var hello request
	_ = conn.SetReadDeadline(time.Now().Add(dialTimeout))
	if err := readLine(lines, &hello); err != nil || hello.Version == "" {
		return errors.Join(errors.New("it is not mqbench's forwarder"), conn.Close())
	}
	_ = conn.SetReadDeadline(time.Time{})
	answers := make(chan request, 1)
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
		return errors.Join(errClosed, conn.Close())
	}
	l.conn, l.answers, l.said = conn, answers, hello.Version
	l.mu.Unlock()
	go func() {
		defer close(answers)
		for {
			var answer request
			if err := readLine(lines, &answer); err != nil {
				_ = conn.Close()
				return
			}
			answers <- answer
		}
	}()
	return nil
}

// keep connects again when the connection is lost.
func (l *link) keep() {
	s := l.session
	for s.over.Err() == nil {
		l.mu.Lock()
		conn := l.conn
		l.mu.Unlock()
		for alive(conn) {
			select {
			case <-s.over.Done():
				return
			case <-time.After(reconnectWait):
			}
		}
		s.report("connection lost", errors.New("the forwarder has closed it"))
		for _, one := range s.allSenders() {
			one.forget()
		}
		if l.again() {
			s.reconnects.Add(1)
		}
	}
}

// again connects and makes all subscriptions known; false: the session is over.
func (l *link) again() bool {
	for {
		err := l.connect(l.session.over)
		if err == nil {
			l.mu.Lock()
			wanted := l.wanted
			l.mu.Unlock()
			for _, e := range wanted {
				if _, err = l.ask(l.session.over, request{Subscription: &e, Mode: l.session.own.Mode}); err != nil {
					break
				}
			}
		}
		if err == nil {
			return true
		}
		select {
		case <-l.session.over.Done():
			return false
		case <-time.After(reconnectWait):
		}
	}
}

func (l *link) ask(ctx context.Context, question request) (request, error) {
	l.asking.Lock()
	defer l.asking.Unlock()
	l.mu.Lock()
	conn, answers := l.conn, l.answers
	l.mu.Unlock()
	text, err := json.Marshal(question)
	if err != nil {
		return request{}, err
	}
	_ = conn.SetWriteDeadline(time.Now().Add(answerTimeout))
	if _, err := conn.Write(append(text, '\n')); err != nil {
		return request{}, ErrNotConnected
	}
	select {
	case answer, open := <-answers:
		switch {
		case !open:
			return request{}, ErrNotConnected
		case answer.Error != "":
			return request{}, errors.New(answer.Error)
		}
		return answer, nil
	case <-ctx.Done():
		_ = conn.Close() // its answer would be taken for that to the next question
		return request{}, ctx.Err()
	case <-time.After(answerTimeout):
		_ = conn.Close()
		return request{}, fmt.Errorf("the forwarder does not answer within %s", answerTimeout)
	}
}

func (s *Session) allSenders() []*sender {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.senders
}

// alive reports whether nobody has closed the connection: setting a deadline on one that is closed here fails.
func alive(conn net.Conn) bool { return conn.SetWriteDeadline(time.Now().Add(answerTimeout)) == nil }

func readLine(lines *bufio.Reader, into any) error {
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}
