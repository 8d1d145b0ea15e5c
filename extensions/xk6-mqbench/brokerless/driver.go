package brokerless

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	loopback = "127.0.0.1"
	// replySuffix is the end of the name of a topic for replies, after its requests' topic (replyTopics of runner/plan/expand.ts).
	replySuffix = ".reply"
)

// Driver makes the driver of a library. The name is also the scheme of a forwarder's URL. of takes the driver's own options, and returns settings that
// Describe prints too. Without a URL each subscription listens, and senders connect when they first send to it.
func Driver[Own any](name string, defaults Own, of func(Own) (Options, Library, map[string]string)) broker.Driver {
	return func(o broker.Options) (broker.Session, error) {
		direct := o.URL == ""
		if direct {
			o.URL = name + "://" + loopback // a SimpleDriver needs one
		}
		return broker.SimpleDriver(name, "5555", defaults, func(b *broker.Base, own Own) broker.Simple {
			d := &driver{Base: b, name: name, direct: direct, replies: map[string]broker.Handler{}}
			d.own, d.library, d.settings = of(own)
			return d
		})(o)
	}
}

// driver has a connection to the forwarder for each sender and each subscription, if there is a forwarder.
type driver struct {
	*broker.Base
	name     string
	direct   bool
	own      Options
	library  Library
	settings map[string]string
	// receivers are the subscriptions that senders can reach without a forwarder: those here, and on other clients.
	here, receivers broker.List[broker.Endpoint]

	mu sync.Mutex
	// version is what the forwarder says of itself.
	version string
	ins     []*in
	// replies are the handlers of topics of replies, whichever connection brings them.
	replies map[string]broker.Handler
}

type in struct {
	broker.Endpoint
	socket In
	// request is the request that its responder handles at the moment, and has not replied to.
	request Message
}

var _ broker.Peer = (*driver)(nil)

// Prepare has nothing to make: a topic exists by being used.
func (d *driver) Prepare(_ context.Context, layout broker.Layout) error {
	switch {
	case d.Clients > 1 && d.own.Transport == "ipc":
		return errors.New("clients may be on different machines, and transport ipc is of one; write transport: tcp")
	case len(d.At.Hosts) > 1:
		return fmt.Errorf("there is one forwarder, and the URL has %d", len(d.At.Hosts))
	}
	for _, to := range layout.Subscriptions {
		if d.own.Mode == PubSub && to.Group != "" {
			return fmt.Errorf("subscribe to %q: every subscriber gets every message: there are no groups with mode pub-sub", to.Topic)
		}
	}
	if d.own.Mode == PushPull {
		return layout.Rivals()
	}
	return nil
}

func (d *driver) Remove(context.Context, broker.Layout) error { return nil }

func (d *driver) Sender(ctx context.Context) (broker.Sender, error) {
	p := &sender{of: d, outs: map[string]Out{}}
	var err error
	p.conn, err = d.connect(ctx, p.drop)
	return p, err
}

func (d *driver) Consumer(ctx context.Context, to broker.Subscription, _ string, handle broker.Handler) (broker.Conn, error) {
	if d.own.Mode == ReqRep && to.Group == "" {
		d.mu.Lock()
		d.replies[to.Topic] = handle
		d.mu.Unlock()
		return d.connect(ctx, func() {})
	}
	one := &in{Endpoint: broker.Endpoint{Topic: to.Topic, Wildcard: to.Wildcard, Group: to.Group}}
	place, folder, err := d.place()
	if err == nil {
		one.socket, one.Address, err = d.library.Listen(d.own.Mode, prefixOf(one.Endpoint), place, func(m Message) { d.take(one, m, handle) })
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder)) // "" removes nothing
	}
	c, err := d.connect(ctx, func() { _ = errors.Join(one.socket.Close(), os.RemoveAll(folder)) })
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.ins = append(d.ins, one)
	d.mu.Unlock()
	if d.direct {
		d.here.Add(one.Endpoint)
		d.receivers.Add(one.Endpoint)
	} else if _, err = c.ask(ctx, "Subscribe", one.Endpoint); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Endpoints are where this session's subscriptions listen; empty with a forwarder, which connects to them.
func (d *driver) Endpoints() []broker.Endpoint { return d.here.All() }

func (d *driver) Meet(_ context.Context, others []broker.Endpoint) error {
	for _, one := range others {
		d.receivers.Add(one)
	}
	return nil
}

func (d *driver) Describe() broker.Description {
	settings := maps.Clone(d.settings)
	maps.Copy(settings, map[string]string{
		"mode": string(d.own.Mode), "transport": d.own.Transport,
		"connections": "a socket for each sender and topic, connected to each subscription of it when it first sends there",
		"confirm":     "none", "batching": "none", "compression": "none",
		"acknowledgeAlone": "never", "acknowledgeInGroup": "never",
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	return broker.Description{
		Order: "per-producer", Wildcards: d.own.Mode == PubSub, Library: d.library.Version(),
		Server: cmp.Or(d.version, d.library.Version()+", without a server"), Settings: settings,
	}
}

// --- internal ---

// place is an address for a subscription, and a folder that is for it alone; "" if it needs none.
func (d *driver) place() (address, folder string, err error) {
	if d.own.Transport != "ipc" {
		return "tcp://" + net.JoinHostPort(cmp.Or(d.Listen, loopback), "0"), "", nil
	}
	folder, err = os.MkdirTemp("", "mqbench-")
	return "ipc://" + filepath.ToSlash(filepath.Join(folder, "socket")), folder, err
}

// take hands a message over, unless its topic only begins like the subscription's.
func (d *driver) take(one *in, m Message, handle broker.Handler) {
	at := d.Now()
	if d.own.Mode == PubSub && !covers(one.Endpoint, m.Topic) {
		return
	}
	if d.own.Mode == ReqRep {
		d.asks(one, m)
		defer d.asks(one, Message{})
	}
	handle(broker.Delivery{ReceivedNs: at, Payload: m.Payload})
}

func (d *driver) asks(one *in, m Message) {
	d.mu.Lock()
	one.request = m
	d.mu.Unlock()
}

// reply is called within the handler of a responder, which has one request at a time and sends it back. Several members of one topic may be
// here; the right one handles this very message.
func (d *driver) reply(m *broker.Message) error {
	topic := strings.TrimSuffix(m.Name, replySuffix)
	d.mu.Lock()
	for _, one := range d.ins {
		if path := one.request.Path; one.Topic == topic && path != nil && bytes.Equal(one.request.Payload, m.Payload) {
			one.request.Path = nil
			d.mu.Unlock()
			return one.socket.Reply(Message{Path: path, Payload: m.Payload})
		}
	}
	d.mu.Unlock()
	return errors.New("a reply to no request")
}

// replied is what takes the replies to requests of a topic. Consumers are there before the first request.
func (d *driver) replied(topic string) func(Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	handle := d.replies[topic+replySuffix]
	return func(m Message) { handle(broker.Delivery{ReceivedNs: d.Now(), Payload: m.Payload}) }
}

func covers(e broker.Endpoint, topic string) bool {
	return e.Topic == topic || e.Wildcard && broker.Matches(e.Topic, topic)
}

// prefixOf is the common beginning of the subscription's topics.
func prefixOf(e broker.Endpoint) string {
	prefix, _, _ := strings.Cut(e.Topic, "*")
	return prefix
}
