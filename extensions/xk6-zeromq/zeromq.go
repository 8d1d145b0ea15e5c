// Package zeromq is the driver for ZeroMQ, by a library in pure Go: sockets that are connected to each other, or by a forwarder. What
// that library does otherwise than libzmq is in extensions/README.md.
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
	// PUB says nothing of subscriptions that come and go: they are looked at so often.
	subscribedEvery = time.Millisecond
	watchEvery      = 50 * time.Millisecond
)

// options are the driver's own.
type options struct {
	brokerless.Options
	// HighWaterMark is how many messages a PUB socket keeps for a subscriber; 0: the library's own, without limit.
	HighWaterMark int `json:"highWaterMark"`
}

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	own := options{Options: brokerless.Defaults}
	if err := o.Decode(&own); err != nil {
		return nil, fmt.Errorf("zeromq: %w", err)
	}
	return brokerless.New("zeromq", o, own.Options, Library{own.HighWaterMark}, map[string]string{
		"flush":         "each message, with the send",
		"prefetch":      "10 in the receiving socket, as the library has it",
		"highWaterMark": cmp.Or(map[bool]string{true: fmt.Sprint(own.HighWaterMark)}[own.HighWaterMark > 0], "none, the library's own"),
		"noDelay":       "true",
		"reconnectWait": reconnectWait.String(),
		"turns":         "the driver's: the library hands each message to every receiver",
	})
}

// Library is go-zeromq's sockets.
type Library struct{ highWaterMark int }

var _ brokerless.Library = Library{}

// Version says that it is not libzmq.
func (Library) Version() string {
	return "go-zeromq/zmq4 " + broker.LibraryVersion("github.com/go-zeromq/zmq4") + " (pure Go, not libzmq)"
}

// Listen binds PULL, SUB or ROUTER.
func (l Library) Listen(mode brokerless.Mode, prefix, address string, take func(brokerless.Message)) (brokerless.In, error) {
	i := &in{scheme: address[:len("tcp://")]}
	i.ctx, i.cancel = context.WithCancel(context.Background())
	switch mode {
	case brokerless.PubSub:
		i.socket = zmq4.NewSub(i.ctx, common()...)
		if err := i.socket.SetOption(zmq4.OptionSubscribe, prefix); err != nil {
			return nil, err
		}
	case brokerless.ReqRep:
		i.socket = zmq4.NewRouter(i.ctx, common()...)
	default:
		i.socket = zmq4.NewPull(i.ctx, common()...)
	}
	if err := i.socket.Listen(address); err != nil {
		i.cancel()
		return nil, err
	}
	go receive(i.ctx, i.socket, mode, take, func(error) bool { return true }) // of the other connections
	return i, nil
}

// Sender makes no socket yet: each receiver gets one.
func (l Library) Sender(mode brokerless.Mode, reply func(brokerless.Message), lost func(error), back func()) (brokerless.Out, error) {
	o := &out{mode: mode, highWaterMark: l.highWaterMark, reply: reply, lost: lost, back: back}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	return o, nil
}

type in struct {
	socket zmq4.Socket
	scheme string
	ctx    context.Context
	cancel context.CancelFunc
}

func (i *in) Address() string { return i.scheme + i.socket.Addr().String() }

func (i *in) Reply(m brokerless.Message) error {
	return i.socket.SendMulti(zmq4.NewMsgFrom(append(slices.Clone(m.Path), m.Payload)...))
}

func (i *in) Close() error {
	i.cancel()
	return i.socket.Close()
}

// out has a peer for each receiver.
type out struct {
	mode          brokerless.Mode
	highWaterMark int
	reply         func(brokerless.Message)
	lost          func(error)
	back          func()
	ctx           context.Context
	cancel        context.CancelFunc
	restoring     sync.WaitGroup

	// mu guards the list and the sockets in it; sends hold no lock.
	mu    sync.Mutex
	peers []*peer
	turn  int
}

type peer struct {
	address, prefix string
	// socket is nil while it is being replaced.
	socket zmq4.Socket
}

func (o *out) Connect(ctx context.Context, address, prefix string) error {
	p := &peer{address: address, prefix: prefix}
	socket, err := o.dial(ctx, p)
	if err != nil {
		return err
	}
	o.mu.Lock()
	p.socket = socket
	o.peers = append(o.peers, p)
	o.mu.Unlock()
	o.watch(p, socket)
	return nil
}

func (o *out) Disconnect(address string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.peers = slices.DeleteFunc(slices.Clone(o.peers), func(p *peer) bool {
		gone := p.address == address
		if gone && p.socket != nil {
			go func(socket zmq4.Socket) { _ = socket.Close() }(p.socket)
			p.socket = nil
		}
		return gone
	})
}

func (o *out) Send(m brokerless.Message) error {
	if o.mode == brokerless.PubSub {
		// PUB keeps what it is given until it has left.
		return o.publish(zmq4.NewMsgFrom([]byte(m.Topic), slices.Clone(m.Payload)))
	}
	p, socket := o.next()
	if p == nil {
		return brokerless.ErrNotConnected
	}
	if err := socket.SendMulti(zmq4.NewMsgFrom(append(slices.Clone(m.Path), m.Payload)...)); err != nil {
		o.breaks(p, socket, err)
		return err
	}
	return nil
}

func (o *out) Close() error {
	o.cancel()
	o.mu.Lock()
	peers := o.peers
	o.mu.Unlock()
	var failed error
	for _, p := range peers {
		if socket := o.socketOf(p); socket != nil {
			failed = errors.Join(failed, socket.Close())
		}
	}
	o.restoring.Wait()
	return failed
}

// --- internal ---

// common are what all sockets get. SendMulti writes a message at once, Send in two parts for each frame.
func common() []zmq4.Option {
	return []zmq4.Option{
		zmq4.WithLogger(log.New(io.Discard, "", 0)), zmq4.WithDialerTimeout(dialTimeout), zmq4.WithDialerMaxRetries(0),
		zmq4.WithAutomaticReconnect(false),
	}
}

// receive hands messages over until the socket is closed; lost is told when a connection ends, and says whether more can come.
func receive(ctx context.Context, socket zmq4.Socket, mode brokerless.Mode, take func(brokerless.Message), lost func(error) bool) {
	for {
		got, err := socket.Recv()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !lost(err) {
				return
			}
			continue
		case len(got.Frames) == 0:
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

// dial connects a new socket; one of PUB has heard of the subscription when it returns.
func (o *out) dial(ctx context.Context, p *peer) (zmq4.Socket, error) {
	var socket zmq4.Socket
	switch o.mode {
	case brokerless.PubSub:
		socket = zmq4.NewPub(o.ctx, common()...)
		if err := socket.SetOption(zmq4.OptionHWM, o.highWaterMark); err != nil {
			return nil, err
		}
	case brokerless.ReqRep:
		socket = zmq4.NewDealer(o.ctx, common()...)
	default:
		socket = zmq4.NewPush(o.ctx, common()...)
	}
	if err := socket.Dial(p.address); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	if o.mode != brokerless.PubSub {
		return socket, nil
	}
	defer context.AfterFunc(o.ctx, func() { _ = socket.Close() })()
	if err := deadline.Until(ctx, subscribedEvery, func() bool { return subscribed(socket, p.prefix) }); err != nil {
		return nil, errors.Join(errors.New("its subscription does not arrive"), err, socket.Close())
	}
	return socket, nil
}

// watch looks after a connection that can be lost without a send that fails.
func (o *out) watch(p *peer, socket zmq4.Socket) {
	switch o.mode {
	case brokerless.ReqRep:
		go receive(o.ctx, socket, o.mode, o.reply, func(err error) bool {
			o.breaks(p, socket, err)
			return false // it had this connection alone
		})
	case brokerless.PubSub:
		go func() {
			for range time.Tick(watchEvery) {
				switch {
				case o.ctx.Err() != nil || o.socketOf(p) != socket:
					return
				case !subscribed(socket, p.prefix):
					o.breaks(p, socket, io.EOF)
					return
				}
			}
		}()
	}
}

func subscribed(socket zmq4.Socket, prefix string) bool {
	return slices.Contains(socket.(zmq4.Topics).Topics(), prefix)
}

func (o *out) publish(m zmq4.Msg) error {
	o.mu.Lock()
	peers := o.peers
	o.mu.Unlock()
	for _, p := range peers {
		if socket := o.socketOf(p); socket != nil {
			if err := socket.SendMulti(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// next is whose turn it is among those that are connected.
func (o *out) next() (*peer, zmq4.Socket) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for range o.peers {
		o.turn++
		if p := o.peers[o.turn%len(o.peers)]; p.socket != nil {
			return p, p.socket
		}
	}
	return nil, nil
}

func (o *out) socketOf(p *peer) zmq4.Socket {
	o.mu.Lock()
	defer o.mu.Unlock()
	return p.socket
}

// breaks replaces the socket of a receiver whose connection is lost.
func (o *out) breaks(p *peer, socket zmq4.Socket, why error) {
	o.mu.Lock()
	if p.socket != socket || o.ctx.Err() != nil {
		o.mu.Unlock()
		return
	}
	defer o.mu.Unlock() // Close waits for what is begun here
	p.socket = nil
	o.restoring.Go(func() {
		o.lost(why)
		_ = socket.Close()
		_ = deadline.Retry(o.ctx, 0, reconnectWait, func() error {
			ctx, cancel := context.WithTimeout(o.ctx, dialTimeout)
			defer cancel()
			made, err := o.dial(ctx, p)
			if err == nil {
				o.restore(p, made)
			}
			return err
		})
	})
}

// restore gives a receiver its new socket, unless it has been disconnected meanwhile.
func (o *out) restore(p *peer, made zmq4.Socket) {
	o.mu.Lock()
	wanted := slices.Contains(o.peers, p) && o.ctx.Err() == nil
	if wanted {
		p.socket = made
	}
	o.mu.Unlock()
	if !wanted {
		_ = made.Close()
		return
	}
	o.back()
	o.watch(p, made)
}
