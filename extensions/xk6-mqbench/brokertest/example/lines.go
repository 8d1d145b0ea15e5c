// Package example is the smallest driver. Its made-up broker takes lines and writes them to all listeners. It implements the core of the
// contract and no ability. Start a driver of a real system with a copy of this file.
package example

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// New makes a session. It reads options and connects to nothing.
func New(o broker.Options) (broker.Session, error) {
	own := struct {
		NoDelay bool `json:"noDelay"`
	}{NoDelay: true}
	if err := o.Decode(&own); err != nil {
		return nil, fmt.Errorf("lines: %w", err)
	}
	at, err := address.Parse(o.URL, "7000", "lines")
	if err != nil {
		return nil, fmt.Errorf("lines: %w", err)
	}
	return &session{base: broker.NewBase("lines", o), noDelay: own.NoDelay, host: at.Hosts[0]}, nil
}

type session struct {
	// base is not embedded, because that would give the session abilities.
	base    *broker.Base
	noDelay bool
	host    string

	mu    sync.Mutex
	conns []net.Conn
}

type producer struct{ to net.Conn }

var (
	_ broker.Session  = (*session)(nil)
	_ broker.Producer = (*producer)(nil)
)

func (s *session) Open(ctx context.Context) error {
	conn, err := s.dial(ctx)
	if err != nil {
		return err
	}
	return conn.Close()
}

// Prepare has nothing to make: a topic exists by being used.
func (s *session) Prepare(_ context.Context, topics []broker.Topic) error {
	for _, t := range topics {
		if t.Partitions > 1 {
			return fmt.Errorf("lines: topic %q is to have %d partitions, and topics have none", t.Name, t.Partitions)
		}
	}
	return nil
}

func (s *session) Producer(int) (broker.Producer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	conn, err := s.dial(ctx)
	return &producer{conn}, err
}

// Consume listens on a connection of its own, and returns when the broker has answered that it will write to it.
func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	if to.Group != "" {
		return errors.New("lines: whoever listens gets all messages: there are no groups")
	}
	conn, err := s.dial(ctx)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(conn)
	if _, err := fmt.Fprintf(conn, "listen %s\n", to.Topic); err != nil {
		return fmt.Errorf("lines: listen to %q: %w", to.Topic, address.Cause(err))
	}
	if _, err := lines.ReadString('\n'); err != nil {
		return fmt.Errorf("lines: listen to %q: %w", to.Topic, address.Cause(err))
	}
	go s.take(to.Topic, lines, handle)
	return nil
}

func (s *session) Describe() broker.Description {
	return broker.Description{
		Order: "per-producer", Library: "none", Server: "lines",
		Settings: map[string]string{
			"noDelay": fmt.Sprint(s.noDelay), "dialTimeout": dialTimeout.String(),
			"confirm": "none", "flush": "each message", "batching": "none", "compression": "none",
			"acknowledgeAlone": "none", "acknowledgeInGroup": "none", "prefetch": "none",
		},
	}
}

func (s *session) Close() error {
	s.base.End()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		_ = conn.Close()
	}
	return nil
}

// Send writes a line. Nothing is acknowledged: a line that was written may be lost, and one that was not has failed.
func (p *producer) Send(m *broker.Message, done broker.Done) {
	_, err := fmt.Fprintf(p.to, "send %s %s\n", m.Name, base64.StdEncoding.EncodeToString(m.Payload))
	done(m, 0, broker.Wrap("lines: send", address.Cause(err)))
}

// --- internal ---

const dialTimeout = 5 * time.Second

func (s *session) dial(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", s.host)
	if err != nil {
		return nil, fmt.Errorf("lines: connect: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, conn)
	return conn, conn.(*net.TCPConn).SetNoDelay(s.noDelay)
}

func (s *session) take(topic string, lines *bufio.Reader, handle broker.Handler) {
	for {
		line, err := lines.ReadString('\n')
		receivedNs := s.base.Now()
		if err != nil {
			s.base.Report(fmt.Sprintf("listen to %q", topic), address.Cause(err))
			return
		}
		payload, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(line, "\n"))
		if err != nil {
			s.base.Report(fmt.Sprintf("read a message of %q", topic), err)
			continue
		}
		handle(broker.Delivery{ReceivedNs: receivedNs, Payload: payload})
	}
}
