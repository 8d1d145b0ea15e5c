// Package nanomsg is the driver for nanomsg's protocols, by a library in pure Go: sockets that are connected to each other, or by a
// forwarder. What mangos does, and what follows for a run, is in extensions/README.md.
package nanomsg

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.nanomsg.org/mangos/v3"
	"go.nanomsg.org/mangos/v3/protocol/pub"
	"go.nanomsg.org/mangos/v3/protocol/pull"
	"go.nanomsg.org/mangos/v3/protocol/push"
	"go.nanomsg.org/mangos/v3/protocol/sub"
	"go.nanomsg.org/mangos/v3/protocol/xrep"
	"go.nanomsg.org/mangos/v3/protocol/xreq"
	_ "go.nanomsg.org/mangos/v3/transport/ipc" // ipc://
	_ "go.nanomsg.org/mangos/v3/transport/tcp" // tcp://

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokerless"
)

const (
	// ownQueue is the library's own; dropping modes get more, so that a queue is not what loses a burst.
	ownQueue      = 128
	droppingQueue = 10_000
	reconnectWait = 100 * time.Millisecond
	// topicEnd is between the topic and the payload of a published message: subscriptions are to the bytes at the beginning.
	topicEnd = 0
)

// options are the driver's own.
type options struct {
	brokerless.Options
	// Queue is how many messages a socket keeps in each direction, PUB and SUB for each connection.
	Queue int `json:"queue"`
}

func queueOf(mode brokerless.Mode) int {
	if mode == brokerless.PubSub {
		return droppingQueue
	}
	return ownQueue
}

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	own := options{Options: brokerless.Defaults}
	if err := o.Decode(&own); err != nil {
		return nil, fmt.Errorf("nanomsg: %w", err)
	}
	own.Queue = cmp.Or(own.Queue, queueOf(own.Mode))
	return brokerless.New("nanomsg", o, own.Options, Library{own.Queue}, map[string]string{
		"flush":         "each message, by the library's own goroutine",
		"prefetch":      fmt.Sprintf("%d in the receiving socket", own.Queue),
		"queue":         fmt.Sprint(own.Queue),
		"noDelay":       "true",
		"maxRecvSize":   "no limit",
		"linger":        "none",
		"reconnectWait": reconnectWait.String(),
		"turns":         "the library's: whoever is ready",
	})
}

// Library is mangos's sockets, with queues of that length; 0: as New has them.
type Library struct{ queue int }

var _ brokerless.Library = Library{}

// Version says that it is not libnanomsg or nng.
func (Library) Version() string {
	return "mangos " + broker.LibraryVersion("go.nanomsg.org/mangos/v3") + " (pure Go, not nng)"
}

// Listen binds PULL, SUB or a raw REP.
func (l Library) Listen(mode brokerless.Mode, prefix, address string, take func(brokerless.Message)) (brokerless.In, error) {
	socket, err := makers{brokerless.PushPull: pull.NewSocket, brokerless.PubSub: sub.NewSocket, brokerless.ReqRep: xrep.NewSocket}[mode]()
	if err != nil {
		return nil, err
	}
	i := &in{socket: socket}
	set := settings{socket.SetOption, nil}
	set.to(mangos.OptionReadQLen, cmp.Or(l.queue, queueOf(mode)))
	if mode == brokerless.PubSub {
		set.to(mangos.OptionSubscribe, []byte(prefix))
	}
	if mode == brokerless.ReqRep {
		set.to(mangos.OptionWriteQLen, cmp.Or(l.queue, queueOf(mode)))
	}
	var listener mangos.Listener
	if set.failed == nil {
		listener, set.failed = socket.NewListener(address, nil)
	}
	if set.failed == nil {
		set.set = listener.SetOption
		set.to(mangos.OptionMaxRecvSize, 0)
		if strings.HasPrefix(address, "tcp:") {
			set.to(mangos.OptionNoDelay, true)
		}
	}
	if set.failed == nil {
		set.failed = listener.Listen()
	}
	if set.failed != nil {
		return nil, errors.Join(set.failed, socket.Close())
	}
	i.address = listener.Address()
	go receive(socket, mode, take)
	return i, nil
}

// Sender makes PUSH, PUB or a raw REQ.
func (l Library) Sender(mode brokerless.Mode, reply func(brokerless.Message), lost func(error), back func()) (brokerless.Out, error) {
	socket, err := makers{brokerless.PushPull: push.NewSocket, brokerless.PubSub: pub.NewSocket, brokerless.ReqRep: xreq.NewSocket}[mode]()
	if err != nil {
		return nil, err
	}
	o := &out{socket: socket, mode: mode, lost: lost, back: back, dialers: map[string]*dialer{}}
	set := settings{socket.SetOption, nil}
	set.to(mangos.OptionWriteQLen, cmp.Or(l.queue, queueOf(mode)))
	set.to(mangos.OptionReconnectTime, reconnectWait)
	set.to(mangos.OptionMaxReconnectTime, time.Duration(0))
	switch mode {
	case brokerless.PushPull:
		set.to(mangos.OptionFailNoPeers, true)
	case brokerless.ReqRep:
		set.to(mangos.OptionReadQLen, cmp.Or(l.queue, queueOf(mode)))
	}
	if set.failed != nil {
		return nil, errors.Join(set.failed, socket.Close())
	}
	socket.SetPipeEventHook(o.happens)
	if mode == brokerless.ReqRep {
		go receive(socket, mode, reply)
	}
	return o, nil
}

type in struct {
	socket  mangos.Socket
	address string
}

func (i *in) Address() string { return i.address }

func (i *in) Reply(m brokerless.Message) error {
	return send(i.socket, nil, m.Payload, bytes.Join(m.Path, nil))
}

func (i *in) Close() error { return closed(i.socket) }

type out struct {
	socket mangos.Socket
	mode   brokerless.Mode
	lost   func(error)
	back   func()
	number uint32

	mu      sync.Mutex
	dialers map[string]*dialer
	closed  bool
}

// dialer is a connection that the library keeps up.
type dialer struct {
	mangos.Dialer
	up, wasUp bool
}

func (o *out) Connect(_ context.Context, address, _ string) error {
	made, err := o.socket.NewDialer(address, nil)
	if err != nil {
		return err
	}
	set := settings{made.SetOption, nil}
	set.to(mangos.OptionMaxRecvSize, 0)
	if strings.HasPrefix(address, "tcp:") {
		set.to(mangos.OptionNoDelay, true)
	}
	if set.failed != nil {
		return set.failed
	}
	o.mu.Lock()
	o.dialers[address] = &dialer{Dialer: made}
	o.mu.Unlock()
	return made.Dial()
}

func (o *out) Disconnect(address string) {
	o.mu.Lock()
	one := o.dialers[address]
	delete(o.dialers, address)
	o.mu.Unlock()
	if one != nil {
		_ = one.Close()
	}
}

func (o *out) Send(m brokerless.Message) error {
	switch o.mode {
	case brokerless.PubSub:
		return send(o.socket, append([]byte(m.Topic), topicEnd), m.Payload, nil)
	case brokerless.ReqRep:
		// Raw REQ waits for a receiver that may never come.
		if !o.connected() {
			return brokerless.ErrNotConnected
		}
		path := bytes.Join(m.Path, nil)
		if len(path) == 0 {
			// A request's number, whose first bit says that the path ends with it.
			o.number++
			path = binary.BigEndian.AppendUint32(nil, o.number|1<<31)
		}
		return send(o.socket, nil, m.Payload, path)
	}
	return send(o.socket, nil, m.Payload, nil)
}

func (o *out) Close() error {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	return closed(o.socket)
}

// --- internal ---

type makers = map[brokerless.Mode]func() (mangos.Socket, error)

// settings set options until one fails.
type settings struct {
	set    func(name string, value any) error
	failed error
}

func (s *settings) to(name string, value any) {
	if s.failed == nil {
		s.failed = broker.Wrap("set "+name, s.set(name, value))
	}
}

func send(socket mangos.Socket, before, payload, path []byte) error {
	m := mangos.NewMessage(len(before) + len(payload))
	m.Header = append(m.Header, path...)
	m.Body = append(append(m.Body, before...), payload...)
	err := socket.SendMsg(m)
	if err == nil {
		return nil
	}
	m.Free()
	if errors.Is(err, mangos.ErrNoPeers) {
		return brokerless.ErrNotConnected
	}
	return err
}

func receive(socket mangos.Socket, mode brokerless.Mode, take func(brokerless.Message)) {
	for {
		got, err := socket.RecvMsg()
		if errors.Is(err, mangos.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		m := brokerless.Message{Payload: got.Body}
		switch mode {
		case brokerless.PubSub:
			topic, payload, whole := bytes.Cut(got.Body, []byte{topicEnd})
			if !whole {
				continue
			}
			m.Topic, m.Payload = string(topic), payload
		case brokerless.ReqRep:
			// Subtle: the way back is read again while the message is the library's no more.
			m.Path = [][]byte{slices.Clone(got.Header)}
		}
		take(m)
		got.Free()
	}
}

// happens is told by the library of connections.
func (o *out) happens(event mangos.PipeEvent, pipe mangos.Pipe) {
	if pipe.Dialer() == nil {
		return
	}
	o.mu.Lock()
	one := o.dialers[pipe.Dialer().Address()]
	var tell func()
	switch {
	case one == nil || o.closed:
	case event == mangos.PipeEventAttached:
		if one.wasUp {
			tell = o.back
		}
		one.up, one.wasUp = true, true
	case event == mangos.PipeEventDetached:
		one.up = false
		tell = func() { o.lost(errors.New("the other side has closed it")) }
	}
	o.mu.Unlock()
	if tell != nil {
		tell()
	}
}

func (o *out) connected() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.dialers {
		if one.up {
			return true
		}
	}
	return false
}

func closed(socket mangos.Socket) error {
	if err := socket.Close(); !errors.Is(err, mangos.ErrClosed) {
		return err
	}
	return nil
}
