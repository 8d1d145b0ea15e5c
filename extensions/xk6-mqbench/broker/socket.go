package broker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// Socket is a TCP connection, for drivers that speak their broker's protocol themselves. It ends with its session.
type Socket struct {
	Lifetime
	net.Conn
	R *bufio.Reader

	base   *Base
	encode func(to []byte, m *Message) []byte
	buffer []byte
	silent bool
	mu     sync.Mutex
	// waiting are the sends without an answer, with their times; it is over when none may be added.
	waiting []unanswered[int64]
	over    bool
}

// Socket connects to the first host of the URL that answers, and greets: writes and reads what the protocol begins with, until ctx ends.
func (b *Base) Socket(ctx context.Context, greet func(*Socket) error) (*Socket, error) {
	var conn net.Conn
	err := errNotConnected
	for i := 0; i < len(b.At.Hosts) && err != nil; i++ {
		conn, err = b.Dialer(0, nil)(ctx, "tcp", b.At.Hosts[i])
	}
	if err != nil {
		return nil, err
	}
	s := &Socket{Lifetime: NewLifetime(b.Over), Conn: conn, R: bufio.NewReaderSize(conn, 1<<16), base: b}
	context.AfterFunc(s, func() { _ = conn.Close() })
	defer context.AfterFunc(ctx, func() { s.End(ctx.Err()) })()
	if err := greet(s); err != nil {
		s.End(err)
		return nil, err
	}
	go s.watch()
	return s, nil
}

// Repeat calls step in a goroutine until it fails, which ends the socket.
func (s *Socket) Repeat(step func() error) {
	go func() {
		for {
			if err := step(); err != nil {
				s.End(err)
				return
			}
		}
	}()
}

// Sender makes the socket a Sender. encode appends what sends a message. answer reads the answer to the oldest message without one; it is nil if
// the broker answers nothing. A socket whose broker is silent for the timeout of a message ends.
func (s *Socket) Sender(encode func(to []byte, m *Message) []byte, answer func() (refusal, err error)) Sender {
	s.encode, s.silent = encode, answer == nil
	if !s.silent {
		s.Repeat(func() error {
			refusal, err := answer()
			if err != nil {
				return err
			}
			atNs := s.base.Now()
			s.mu.Lock()
			if len(s.waiting) == 0 {
				s.mu.Unlock()
				return errors.New("an answer without a message")
			}
			first := s.waiting[0]
			s.waiting = s.waiting[1:]
			s.mu.Unlock()
			first.done.Settle(first.message, atNs, refusal)
			return nil
		})
	}
	return s
}

// Send writes a message.
func (s *Socket) Send(m *Message, done Done) {
	s.mu.Lock()
	over := s.over
	if !over && !s.silent {
		s.waiting = append(s.waiting, unanswered[int64]{m, done, s.base.Now()})
	}
	s.mu.Unlock()
	if over {
		done(m, 0, errNotConnected)
		return
	}
	s.buffer = s.encode(s.buffer[:0], m)
	_, err := s.Write(s.buffer)
	if err != nil {
		s.End(err)
		err = s.lost()
	}
	if s.silent {
		done(m, 0, err)
	}
}

// Close ends it.
func (s *Socket) Close() error {
	s.End(net.ErrClosed)
	return nil
}

// --- internal ---

// leastSilenceNs keeps the connection of a run whose timeout is short.
const leastSilenceNs = int64(time.Second)

var errNotConnected = errors.New("send: not connected")

func (s *Socket) lost() error {
	return fmt.Errorf("%s: connection lost: %w", s.base.driver, ErrUnknown)
}

// watch ends a socket whose oldest send waits too long, and completes all when it has ended.
func (s *Socket) watch() {
	most := max(s.base.TimeoutNs, leastSilenceNs)
	for deadline.Sleep(s, time.Duration(most/4)) == nil {
		s.mu.Lock()
		if len(s.waiting) > 0 && s.base.Now()-s.waiting[0].answer > most {
			s.End(errors.New("no answer within the timeout"))
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	rest := s.waiting
	s.waiting, s.over = nil, true
	s.mu.Unlock()
	for _, one := range rest {
		one.done(one.message, 0, s.lost())
	}
}
