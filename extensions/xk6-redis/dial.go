package redis

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// connection is one that comes and goes. The library logs it in. The rest is ours: only with RESP3 may a connection publish while it
// is subscribed, and the library's subscriptions cannot.
type connection struct {
	*socket
	s *session
}

var _ broker.Dialer = (*session)(nil)

func (s *session) Dial(ctx context.Context, number int64) (broker.Connection, error) {
	options := s.options(s.shards[number%int64(len(s.shards))], -1) // a cluster's nodes have all unsharded channels
	options.Protocol = 3
	options.DialTimeout, options.PoolTimeout = broker.Patience(ctx), broker.Patience(ctx)
	options.ReadBufferSize, options.WriteBufferSize = broker.SmallBuffer, broker.SmallBuffer
	k, err := s.socket(ctx, false, options)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", address.Cause(err))
	}
	return &connection{k, s}, nil
}

// Greet subscribes and publishes in one write, and waits for the answer to PUBLISH.
func (c *connection) Greet(ctx context.Context, m *broker.Message, handle broker.Handler) error {
	w := bufio.NewWriterSize(c.conn, broker.SmallBuffer)
	encode(w, words("SUBSCRIBE", m.Own()))
	encode(w, append(words("PUBLISH", m.Own()), m.Payload))
	over := context.AfterFunc(ctx, func() { c.End(ctx.Err()) })
	defer over()
	published := make(chan struct{})
	go func() { c.End(c.read(handle, published)) }()
	if err := w.Flush(); err != nil {
		return err
	}
	select {
	case <-published:
		return nil
	case <-c.Done():
		return fmt.Errorf("redis: %w", address.Cause(c.Err()))
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *connection) Gone() bool { return c.Err() != nil }
func (c *connection) Close()     { c.End(errors.New("the run closes the connection")) }

// --- internal ---

// read hands over messages until the connection ends or a command is refused. The answer to PUBLISH is the one integer outside of a push:
// those are "subscribe", channel, number; and "message", channel, payload.
func (c *connection) read(handle broker.Handler, published chan<- struct{}) error {
	r := bufio.NewReaderSize(c.conn, broker.SmallBuffer)
	kind := ""
	for inside := 0; ; {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		rest := string(bytes.TrimRight(line[1:], "\r\n"))
		n, _ := strconv.Atoi(rest)
		switch line[0] {
		case '>':
			inside = n
			continue
		case '-':
			return errors.New(rest)
		case '$':
			body := make([]byte, n+len("\r\n"))
			if _, err := io.ReadFull(r, body); err != nil {
				return err
			}
			if inside == 3 {
				kind = string(body[:n])
			}
			if inside == 1 && kind == "message" {
				handle(broker.Delivery{ReceivedNs: c.s.Now(), Payload: body[:n]})
			}
		case ':':
			if inside == 0 {
				close(published)
			}
		}
		inside = max(0, inside-1)
	}
}
