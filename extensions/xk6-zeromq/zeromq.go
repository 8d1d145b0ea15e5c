// Package zeromq is the driver for ZeroMQ, by a library in pure Go, whose differences from libzmq are in extensions/README.md.
package zeromq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokerless"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	dialTimeout   = 5 * time.Second
	reconnectWait = 100 * time.Millisecond
	// PUB does not report subscriptions that come and go: they are looked at this often.
	subscribedEvery = time.Millisecond
	watchEvery      = 50 * time.Millisecond
)

// options are the driver's own.
type options struct {
	brokerless.Options
	// HighWaterMark is how many messages a PUB socket keeps for a subscriber; 0 means the library's default, without limit.
	HighWaterMark int `json:"highWaterMark"`
}

// New makes a session.
var New = brokerless.Driver("zeromq", options{Options: brokerless.Defaults}, func(own options) (brokerless.Options, brokerless.Library, map[string]string) {
	return own.Options, Library{own.HighWaterMark}, map[string]string{
		"flush": "each message, with the send", "turns": "the driver's: the library hands each message to every receiver",
		"highWaterMark": cmp.Or(map[bool]string{true: fmt.Sprint(own.HighWaterMark)}[own.HighWaterMark > 0], "none, the library's own"),
		"prefetch":      "10 in the receiving socket, as the library has it", "noDelay": "true", "reconnectWait": reconnectWait.String(),
	}
})

// Library is go-zeromq's sockets.
type Library struct{ highWaterMark int }

// Version shows that it is not libzmq.
func (Library) Version() string {
	return "go-zeromq/zmq4 " + broker.LibraryVersion("github.com/go-zeromq/zmq4") + " (pure Go, not libzmq)"
}

// Listen binds PULL, SUB or ROUTER.
func (l Library) Listen(mode brokerless.Mode, prefix, address string, take func(brokerless.Message)) (brokerless.In, string, error) {
	i := in{sockets[mode].in(context.Background(), common()...)}
	var err error
	if mode == brokerless.PubSub {
		err = i.SetOption(zmq4.OptionSubscribe, prefix)
	}
	if err == nil {
		err = i.Listen(address)
	}
	if err != nil {
		return nil, "", errors.Join(err, i.Close())
	}
	go func() {
		for !errors.Is(receive(i, mode, take), context.Canceled) { // another error is of one connection
		}
	}()
	return i, address[:len("tcp://")] + i.Addr().String(), nil
}

// Sender makes no socket yet: each receiver gets one.
func (l Library) Sender(mode brokerless.Mode, reply func(brokerless.Message), b *broker.Base) (brokerless.Out, error) {
	return &out{mode: mode, highWaterMark: l.highWaterMark, reply: reply, session: b}, nil
}

// sockets receive and send.
var sockets = map[brokerless.Mode]struct {
	in, out func(context.Context, ...zmq4.Option) zmq4.Socket
}{
	brokerless.PushPull: {zmq4.NewPull, zmq4.NewPush},
	brokerless.PubSub:   {zmq4.NewSub, zmq4.NewPub},
	brokerless.ReqRep:   {zmq4.NewRouter, zmq4.NewDealer},
}

type in struct{ zmq4.Socket }

func (i in) Reply(m brokerless.Message) error {
	return i.SendMulti(zmq4.NewMsgFrom(append(slices.Clone(m.Path), m.Payload)...))
}

// out has a peer for each receiver.
type out struct {
	mode          brokerless.Mode
	highWaterMark int
	reply         func(brokerless.Message)
	session       *broker.Base
	turn          int

	mu    sync.Mutex
	peers []*peer
}

// peer is one receiver.
type peer struct {
	broker.Link[*wire]
	address, prefix string
}

func (o *out) Connect(ctx context.Context, address, prefix string) error {
	p := &peer{broker.Link[*wire]{Wait: reconnectWait}, address, prefix}
	if err := p.Open(ctx, o.session, func(ctx context.Context) (*wire, error) { return o.dial(ctx, p) }); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.peers = append(o.peers, p)
	return nil
}

func (o *out) Disconnect(address string) { o.end(func(p *peer) bool { return p.address == address }) }

func (o *out) Close() error {
	o.end(func(*peer) bool { return true })
	return nil
}

// end ends some peers.
func (o *out) end(these func(*peer) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.peers {
		if these(p) {
			p.End()
		}
	}
	o.peers = slices.DeleteFunc(slices.Clone(o.peers), these)
}

func (o *out) Send(m brokerless.Message) error {
	o.mu.Lock()
	peers := o.peers
	o.mu.Unlock()
	if o.mode == brokerless.PubSub {
		// PUB keeps a message until it has left.
		message := zmq4.NewMsgFrom([]byte(m.Topic), slices.Clone(m.Payload))
		for _, p := range peers {
			if w, is := p.Now(); is {
				if err := w.SendMulti(message); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for range peers { // the next one of those that are connected
		o.turn++
		if w, is := peers[o.turn%len(peers)].Now(); is {
			err := w.SendMulti(zmq4.NewMsgFrom(append(slices.Clone(m.Path), m.Payload)...))
			if err != nil {
				w.End(err)
			}
			return err
		}
	}
	return brokerless.ErrNotConnected
}

// wire is a socket with one connection. Its context ends with that, or with the peer.
type wire struct {
	zmq4.Socket
	broker.Lifetime
}

// --- internal ---

// common are the options of all sockets. SendMulti writes a message at once, Send in two parts for each frame.
func common() []zmq4.Option {
	return []zmq4.Option{
		zmq4.WithLogger(log.New(io.Discard, "", 0)), zmq4.WithDialerTimeout(dialTimeout), zmq4.WithDialerMaxRetries(0),
		zmq4.WithAutomaticReconnect(false),
	}
}

// receive hands messages over until there is an error.
func receive(socket zmq4.Socket, mode brokerless.Mode, take func(brokerless.Message)) error {
	for {
		got, err := socket.Recv()
		if err != nil {
			return err
		}
		if len(got.Frames) == 0 {
			continue
		}
		last := len(got.Frames) - 1
		m := brokerless.Message{Payload: got.Frames[last]}
		if mode == brokerless.PubSub {
			m.Topic = string(got.Frames[0])
		} else if last > 0 {
			m.Path = got.Frames[:last]
		}
		take(m)
	}
}

// dial connects a new socket, and watches for a loss that no failing send shows; one of PUB has the subscription when it returns.
func (o *out) dial(ctx context.Context, p *peer) (*wire, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	w := &wire{sockets[o.mode].out(p.Over, common()...), broker.NewLifetime(p.Over)}
	context.AfterFunc(w, func() { _ = w.Close() })
	err := w.SetOption(zmq4.OptionHWM, o.highWaterMark)
	if err == nil {
		err = w.Dial(p.address)
	}
	subscribed := func() bool { return slices.Contains(w.Socket.(zmq4.Topics).Topics(), p.prefix) }
	if err == nil && o.mode == brokerless.PubSub {
		err = broker.Wrap("its subscription does not arrive", deadline.Until(ctx, subscribedEvery, subscribed))
	}
	if err != nil {
		w.End(err)
		return nil, err
	}
	switch o.mode {
	case brokerless.PubSub:
		go func() {
			if deadline.Until(w, watchEvery, func() bool { return !subscribed() }) == nil {
				w.End(io.EOF)
			}
		}()
	case brokerless.ReqRep:
		go func() { w.End(receive(w, o.mode, o.reply)) }() // it does not share this connection
	}
	return w, nil
}
