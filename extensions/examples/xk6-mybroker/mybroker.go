// Package mybroker is mqbench's driver for the broker in server.mjs. For your own, replace what talks to it by calls of its client library.
package mybroker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func init() { broker.Register("mybroker", New) }

// options are those of mqbench.json.
type options struct {
	Prefetch int `json:"prefetch"`
}

// New makes a session. The port and the options are defaults.
var New = broker.SimpleDriver("mybroker", "7077", options{Prefetch: 100}, func(b *broker.Base, own options) broker.Simple {
	return &driver{Base: b, own: own}
})

type driver struct {
	*broker.Base
	broker.DropsNothing
	own options
}

// Sender makes a connection that sends. It writes each message once, at once, and reads the answers, which come in the same order.
func (d *driver) Sender(ctx context.Context) (broker.Sender, error) {
	socket, err := d.Socket(ctx, func(*broker.Socket) error { return nil })
	if err != nil {
		return nil, err
	}
	encode := func(to []byte, m *broker.Message) []byte {
		return append(fmt.Appendf(to, "PUB %s %d\n", m.Name, len(m.Payload)), m.Payload...)
	}
	return socket.Sender(encode, func() (refusal, err error) { return answer(socket) }), nil
}

// Consumer takes "MSG <bytes> <was delivered before>" and the payload, and acknowledges when handle has returned.
func (d *driver) Consumer(ctx context.Context, to broker.Subscription, group string, handle broker.Handler) (broker.Conn, error) {
	socket, err := d.Socket(ctx, func(s *broker.Socket) error { return ask(s, "SUB %s %s %d\n", to.Topic, group, d.own.Prefetch) })
	if err != nil {
		return nil, err
	}
	socket.Repeat(func() error {
		var bytes int
		var before bool
		_, err := fmt.Fscanf(socket.R, "MSG %d %t\n", &bytes, &before)
		payload := make([]byte, bytes)
		if err == nil {
			_, err = io.ReadFull(socket.R, payload)
		}
		if err == nil {
			handle(broker.Delivery{ReceivedNs: d.Now(), Payload: payload, Redelivered: before})
			_, err = io.WriteString(socket, "ACK\n")
		}
		return err
	})
	return socket, nil
}

// Prepare deletes topics that are left of an earlier run. This broker makes a topic when it is used.
func (d *driver) Prepare(ctx context.Context, layout broker.Layout) error {
	socket, err := d.Socket(ctx, func(s *broker.Socket) error {
		for _, topic := range layout.Names() {
			if err := ask(s, "DEL %s\n", topic); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = socket.Close()
	}
	return err
}

func (d *driver) Remove(ctx context.Context, layout broker.Layout) error {
	return d.Prepare(ctx, layout)
}

// Describe has the broker's promises, and all settings that affect the figures; reports print them.
func (d *driver) Describe() broker.Description {
	return broker.Description{
		Acks: true, Order: "per-producer", Stores: true, Library: "its driver", Server: "mybroker", Settings: map[string]string{
			"confirm": "each message", "flush": "each message", "batching": "none", "compression": "none",
			"acknowledgeAlone": "each message", "acknowledgeInGroup": "each message",
			"prefetch": fmt.Sprintf("%d not acknowledged", d.own.Prefetch),
		},
	}
}

// --- internal ---

func ask(s *broker.Socket, command string, words ...any) error {
	if _, err := fmt.Fprintf(s, command, words...); err != nil {
		return err
	}
	return cmp.Or(answer(s))
}

// answer is OK, or a refusal.
func answer(s *broker.Socket) (refusal, err error) {
	text, err := s.R.ReadString('\n')
	if text != "OK\n" {
		refusal = errors.New("mybroker: " + strings.TrimSpace(text))
	}
	return refusal, err
}
