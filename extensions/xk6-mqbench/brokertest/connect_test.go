package brokertest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// echo is a server of the memory broker's new connections: it answers the first byte, and sends back everything after it.
func echo(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			one, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(one, one)
				_ = one.Close()
			}()
		}
	}()
	return listener.Addr().String()
}

type memoryConnection struct {
	net.Conn
	s    *memorySession
	gone atomic.Bool
}

func (s *memorySession) Dial(ctx context.Context, _ int64) (broker.Connection, error) {
	one, err := (&net.Dialer{}).DialContext(ctx, "tcp", hostPort.FindString(s.URL))
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = one.Close() })
	defer stop()
	_, err = one.Write([]byte{1})
	if err == nil && s.fault != "connects before the server answers" {
		_, err = io.ReadFull(one, make([]byte, 1))
	}
	if err != nil {
		_ = one.Close()
		return nil, fmt.Errorf("memory: %w", err)
	}
	return &memoryConnection{Conn: one, s: s}, nil
}

func (c *memoryConnection) Greet(_ context.Context, m *broker.Message, handle broker.Handler) error {
	go func() {
		r, got := bufio.NewReader(c.Conn), make([]byte, len(m.Payload))
		if c.s.fault == "connects before the server answers" {
			_, _ = r.Discard(1)
		}
		if _, err := io.ReadFull(r, got); err == nil {
			handle(broker.Delivery{ReceivedNs: c.s.Now(), Payload: got})
			if c.s.fault == "gives a connection its message twice" {
				handle(broker.Delivery{ReceivedNs: c.s.Now(), Payload: bytes.Clone(got)})
			}
		}
		_, _ = r.ReadByte()
		c.gone.Store(c.s.fault != "does not see that a connection is gone")
	}()
	_, err := c.Write(m.Payload)
	return err
}

func (c *memoryConnection) Gone() bool { return c.gone.Load() }

func (c *memoryConnection) Close() {
	if c.s.fault != "leaves connections open" {
		_ = c.Conn.Close()
	}
}
