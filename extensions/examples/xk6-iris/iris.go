// Package iris is mqbench's driver for the topics of Project Iris, by the relay protocol of the node on this machine. It is an example of a driver from
// outside.
package iris

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func init() { broker.Register("iris", New) }

const (
	opInit, opClose, opSubscribe, opPublish = 0, 2, 6, 8

	clientMagic, relayMagic, protocol = "iris-client-magic", "iris-relay-magic", "v1.0-draft2"

	parts      = 5 // of a topic; a connection publishes to them in turn
	longest    = 1 << 30
	probe      = "mqbench probes "
	probeEvery = 50 * time.Millisecond
)

// New makes a session. There are no options.
var New = broker.SimpleDriver("iris", "55555", struct{}{}, func(b *broker.Base, _ struct{}) broker.Simple { return &driver{Base: b} })

type driver struct {
	*broker.Base
	broker.DropsNothing
}

func (d *driver) Sender(ctx context.Context) (broker.Sender, error) {
	socket, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	socket.Repeat(func() error {
		_, err := receive(socket) // nothing but its end
		return err
	})
	return socket.Sender(func(to []byte, m *broker.Message) []byte { return packet(to, opPublish, []byte(m.Name), m.Payload) }, nil), nil
}

// Consumer sends probes to itself until one has come by each part of the topic: Iris does not say when a subscription is made.
func (d *driver) Consumer(ctx context.Context, to broker.Subscription, _ string, handle broker.Handler) (broker.Conn, error) {
	if to.Group != "" {
		return nil, errors.New("a topic has no groups")
	}
	socket, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	own, came, subscribed := probe+rand.Text(), map[string]int{}, make(chan struct{})
	confirm := sync.OnceFunc(func() { close(subscribed) })
	socket.Repeat(func() error {
		payload, err := receive(socket)
		if err != nil {
			return err
		}
		text := string(payload[:min(len(payload), 100)])
		if !strings.HasPrefix(text, probe) {
			handle(broker.Delivery{ReceivedNs: d.Now(), Payload: payload})
		} else if came[text]++; came[text] == parts && strings.HasPrefix(text, own) {
			confirm()
		}
		return nil
	})
	topic := []byte(to.Topic)
	packets := packet(nil, opSubscribe, topic)
	for round := 0; err == nil; round++ {
		for range parts {
			packets = packet(packets, opPublish, topic, fmt.Append(nil, own, " ", round))
		}
		_, err = socket.Write(packets)
		packets = nil
		select {
		case <-subscribed:
			return socket, nil
		case <-socket.Done():
			err = socket.Err()
		case <-ctx.Done():
			err = fmt.Errorf("its own messages do not come: %w", ctx.Err())
		case <-time.After(probeEvery):
		}
	}
	socket.End(err)
	return nil, err
}

// Prepare has nothing to make: a topic is its subscriptions.
func (d *driver) Prepare(context.Context, broker.Layout) error { return nil }
func (d *driver) Remove(context.Context, broker.Layout) error  { return nil }

func (d *driver) Describe() broker.Description {
	return broker.Description{
		Order: "none", Library: "its driver", Server: "Iris, relay protocol " + protocol, Settings: map[string]string{
			"confirm": "none", "flush": "each message", "batching": "none", "compression": "none",
			"acknowledgeAlone": "none", "acknowledgeInGroup": "none: topics have no groups", "prefetch": "none: the relay pushes",
		},
	}
}

// --- internal ---

func (d *driver) dial(ctx context.Context) (*broker.Socket, error) {
	return d.Socket(ctx, func(s *broker.Socket) error {
		// Without a cluster: a client, not a service.
		if _, err := s.Write(packet(nil, opInit, []byte(clientMagic), []byte(protocol), nil)); err != nil {
			return err
		}
		op, err := s.R.ReadByte()
		magic, err2 := field(s)
		text, err3 := field(s) // the relay's version, or its reason
		if err := cmp.Or(err, err2, err3); err != nil {
			return err
		}
		if string(magic) != relayMagic || op != opInit {
			return fmt.Errorf("the relay refuses: %q", text)
		}
		return nil
	})
}

// packet appends an operation and its fields with their lengths.
func packet(to []byte, op byte, fields ...[]byte) []byte {
	to = append(to, op)
	for _, one := range fields {
		to = append(binary.AppendUvarint(to, uint64(len(one))), one...)
	}
	return to
}

func field(s *broker.Socket) ([]byte, error) {
	size, err := binary.ReadUvarint(s.R)
	if err != nil || size > longest {
		return nil, cmp.Or(err, fmt.Errorf("a field of %d bytes", size))
	}
	data := make([]byte, size)
	_, err = io.ReadFull(s.R, data)
	return data, err
}

// receive returns the next message of a topic.
func receive(s *broker.Socket) ([]byte, error) {
	op, err := s.R.ReadByte()
	if err != nil {
		return nil, err
	}
	text, err := field(s) // the topic, or the reason of an end
	switch {
	case err != nil:
		return nil, err
	case op == opPublish:
		return field(s)
	case op == opClose:
		return nil, fmt.Errorf("the relay ends it: %s", text)
	}
	return nil, fmt.Errorf("unexpected operation %d", op)
}
