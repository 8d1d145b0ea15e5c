// Package kestrel is mqbench's driver for Kestrel, Twitter's queue server, by its memcache protocol. It is an example of a driver from outside.
package kestrel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func init() { broker.Register("kestrel", New) }

// New makes a session. There are no options.
var New = broker.SimpleDriver("kestrel", "22133", struct{}{}, func(b *broker.Base, _ struct{}) broker.Simple { return &driver{Base: b} })

type driver struct {
	*broker.Base
	broker.DropsNothing
	version atomic.Value
}

func (d *driver) Sender(ctx context.Context) (broker.Sender, error) {
	socket, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	encode := func(to []byte, m *broker.Message) []byte {
		to = append(fmt.Appendf(to, "set %s 0 0 %d\r\n", queue(m.Name), len(m.Payload)), m.Payload...)
		return append(to, "\r\n"...)
	}
	return socket.Sender(encode, func() (refusal, err error) {
		answer, err := line(socket)
		if answer != "STORED" { // NOT_STORED: the queue is full, or the item too large
			refusal = errors.New("kestrel: set: " + answer)
		}
		return refusal, err
	}), nil
}

// Consumer reads reliably: a get closes the item before and opens the next. If the connection ends, Kestrel puts the open item back.
func (d *driver) Consumer(ctx context.Context, to broker.Subscription, _ string, handle broker.Handler) (broker.Conn, error) {
	socket, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	socket.Repeat(func() error {
		payload, err := get(socket, queue(to.Topic)+"/close/open/t=1000")
		if len(payload) > 0 && err == nil {
			handle(broker.Delivery{ReceivedNs: d.Now(), Payload: payload})
		}
		return err
	})
	return socket, nil
}

func (d *driver) Prepare(ctx context.Context, layout broker.Layout) error {
	if err := layout.Rivals(); err != nil {
		return err
	}
	return d.Remove(ctx, layout)
}

// Remove deletes the queues. Kestrel makes a queue when it is used.
func (d *driver) Remove(ctx context.Context, layout broker.Layout) error {
	var commands []string
	for _, topic := range layout.Names() {
		commands = append(commands, "delete "+queue(topic))
	}
	socket, err := d.dial(ctx, commands...)
	if err == nil {
		err = socket.Close()
	}
	return err
}

func (d *driver) Describe() broker.Description {
	version, _ := d.version.Load().(string)
	return broker.Description{
		Acks: true, Order: "per-producer", Stores: true, Library: "its driver, memcache protocol", Server: "Kestrel " + version,
		Settings: map[string]string{
			"confirm": "each message, by STORED", "flush": "each message", "batching": "none", "compression": "none",
			"acknowledgeAlone": "each message, by the next get", "acknowledgeInGroup": "each message, by the next get",
			"prefetch": "none: a get for each message, when the one before is handled",
		},
	}
}

// --- internal ---

// queue of a topic; Kestrel reserves dots.
func queue(topic string) string { return strings.ReplaceAll(topic, ".", "-") }

// dial connects, asks for the version, and gives commands.
func (d *driver) dial(ctx context.Context, commands ...string) (*broker.Socket, error) {
	return d.Socket(ctx, func(s *broker.Socket) error {
		answer, err := ask(s, "version")
		d.version.Store(strings.TrimPrefix(answer, "VERSION "))
		for i := 0; i < len(commands) && err == nil; i++ {
			_, err = ask(s, commands[i])
		}
		return err
	})
}

func ask(s *broker.Socket, command string) (answer string, err error) {
	if _, err = io.WriteString(s, command+"\r\n"); err == nil {
		answer, err = line(s)
	}
	return answer, err
}

// line skips empty lines: Kestrel writes one after its version.
func line(s *broker.Socket) (text string, err error) {
	for text == "" && err == nil {
		text, err = s.R.ReadString('\n')
		text = strings.TrimSpace(text)
	}
	return text, err
}

// get returns nil if there is no item.
func get(s *broker.Socket, what string) ([]byte, error) {
	answer, err := ask(s, "get "+what)
	if err != nil || answer == "END" {
		return nil, err
	}
	var name string
	var size int
	if _, err := fmt.Sscanf(answer, "VALUE %s 0 %d", &name, &size); err != nil {
		return nil, fmt.Errorf("unexpected %q", answer)
	}
	item := make([]byte, size+len("\r\nEND\r\n"))
	_, err = io.ReadFull(s.R, item)
	return item[:size], err
}
