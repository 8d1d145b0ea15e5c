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

// visitor is a connection that comes and goes. The library logs it in. The rest is ours: only with RESP3 may a connection publish while it
// is subscribed, and the library's subscriptions cannot.
type visitor struct {
	*socket
	s *session
}

var _ broker.Dialer = (*session)(nil)

func (s *session) Dial(ctx context.Context, _ int64) (broker.Visitor, error) {
	options := s.options(-1)
	options.Protocol = 3
	options.DialTimeout, options.PoolTimeout = broker.Patience(ctx), broker.Patience(ctx)
	options.ReadBufferSize, options.WriteBufferSize = broker.VisitorBuffer, broker.VisitorBuffer
	k, err := s.socket(ctx, false, options)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", address.Cause(err))
	}
	return &visitor{k, s}, nil
}

// Greet subscribes and publishes in one write, and waits for the answer to PUBLISH.
func (v *visitor) Greet(ctx context.Context, m *broker.Message, handle broker.Handler) error {
	w := bufio.NewWriterSize(v.conn, broker.VisitorBuffer)
	encode(w, words("SUBSCRIBE", m.Own()))
	encode(w, append(words("PUBLISH", m.Own()), m.Payload))
	over := context.AfterFunc(ctx, func() { v.End(ctx.Err()) })
	defer over()
	published := make(chan struct{})
	go func() { v.End(v.read(handle, published)) }()
	if err := w.Flush(); err != nil {
		return err
	}
	select {
	case <-published:
		return nil
	case <-v.Done():
		return fmt.Errorf("redis: %w", address.Cause(v.Err()))
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v *visitor) Gone() bool { return v.Err() != nil }
func (v *visitor) Close()     { v.End(errors.New("the run closes the connection")) }

// --- internal ---

// read hands over messages until the connection ends or a command is refused. The answer to PUBLISH is the one integer outside of a push:
// those are "subscribe", channel, number; and "message", channel, payload.
func (v *visitor) read(handle broker.Handler, published chan<- struct{}) error {
	r := bufio.NewReaderSize(v.conn, broker.VisitorBuffer)
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
				handle(broker.Delivery{ReceivedNs: v.s.Now(), Payload: body[:n]})
			}
		case ':':
			if inside == 0 {
				close(published)
			}
		}
		inside = max(0, inside-1)
	}
}
