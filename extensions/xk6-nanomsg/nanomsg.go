// Package nanomsg is the driver for nanomsg's protocols, by mangos, a library in pure Go, of which extensions/README.md has the consequences.
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
	"sync/atomic"
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
	// ownQueue is the library's default. Dropping modes get more, because a burst must not be lost in a queue.
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

// New makes a session.
var New = brokerless.Driver("nanomsg", options{Options: brokerless.Defaults}, func(own options) (brokerless.Options, brokerless.Library, map[string]string) {
	own.Queue = Library{own.Queue}.queueOf(own.Mode)
	return own.Options, Library{own.Queue}, map[string]string{
		"flush": "each message, by the library's own goroutine", "turns": "the library's: whoever is ready",
		"queue": fmt.Sprint(own.Queue), "prefetch": fmt.Sprintf("%d in the receiving socket", own.Queue),
		"noDelay": "true", "maxRecvSize": "no limit", "linger": "none", "reconnectWait": reconnectWait.String(),
	}
})

// Library is mangos's sockets, with queues of that length, or 0 for New's length.
type Library struct{ queue int }

// Version shows that it is not libnanomsg or nng.
func (Library) Version() string {
	return "mangos " + broker.LibraryVersion("go.nanomsg.org/mangos/v3") + " (pure Go, not nng)"
}

// Listen binds PULL, SUB or a raw REP.
func (l Library) Listen(mode brokerless.Mode, prefix, address string, take func(brokerless.Message)) (brokerless.In, string, error) {
	options := map[string]any{mangos.OptionReadQLen: l.queueOf(mode)}
	open := pull.NewSocket
	switch mode {
	case brokerless.PubSub:
		open, options[mangos.OptionSubscribe] = sub.NewSocket, []byte(prefix)
	case brokerless.ReqRep:
		open, options[mangos.OptionWriteQLen] = xrep.NewSocket, l.queueOf(mode)
	}
	socket, err := opened(open, options)
	if err != nil {
		return nil, "", err
	}
	listener, err := socket.NewListener(address, ofConnections(address))
	if err == nil {
		err = listener.Listen()
	}
	if err != nil {
		return nil, "", errors.Join(err, socket.Close())
	}
	go receive(socket, mode, take)
	return in{socket}, listener.Address(), nil
}

// Sender makes PUSH, PUB or a raw REQ.
func (l Library) Sender(mode brokerless.Mode, reply func(brokerless.Message), b *broker.Base) (brokerless.Out, error) {
	options := map[string]any{
		mangos.OptionWriteQLen: l.queueOf(mode), mangos.OptionReconnectTime: reconnectWait, mangos.OptionMaxReconnectTime: time.Duration(0),
	}
	open := pub.NewSocket
	switch mode {
	case brokerless.PushPull:
		open, options[mangos.OptionFailNoPeers] = push.NewSocket, true
	case brokerless.ReqRep:
		open, options[mangos.OptionReadQLen] = xreq.NewSocket, l.queueOf(mode)
	}
	socket, err := opened(open, options)
	if err != nil {
		return nil, err
	}
	o := &out{socket: socket, mode: mode, session: b, dialers: map[mangos.Dialer]bool{}}
	socket.SetPipeEventHook(o.happens)
	if mode == brokerless.ReqRep {
		go receive(socket, mode, reply)
	}
	return o, nil
}

type in struct{ mangos.Socket }

func (i in) Reply(m brokerless.Message) error {
	return send(i, nil, m.Payload, bytes.Join(m.Path, nil))
}

type out struct {
	socket  mangos.Socket
	mode    brokerless.Mode
	session *broker.Base
	number  uint32
	// up is how many connections there are.
	up atomic.Int64

	mu sync.Mutex
	// dialers have connected; the library does so again when a connection is lost.
	dialers map[mangos.Dialer]bool
	closed  bool
}

func (o *out) Connect(_ context.Context, address, _ string) error {
	made, err := o.socket.NewDialer(address, ofConnections(address))
	if err != nil {
		return err
	}
	return made.Dial()
}

func (o *out) Disconnect(address string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for one := range o.dialers {
		if one.Address() == address {
			delete(o.dialers, one)
			go func() { _ = one.Close() }()
		}
	}
}

func (o *out) Send(m brokerless.Message) error {
	var before, path []byte
	switch o.mode {
	case brokerless.PubSub:
		before = append([]byte(m.Topic), topicEnd)
	case brokerless.ReqRep:
		// Raw REQ waits for a receiver that may never come.
		if o.up.Load() <= 0 { // the library may report an end before it reports the connection
			return brokerless.ErrNotConnected
		}
		if path = bytes.Join(m.Path, nil); len(path) == 0 {
			// A request's number, whose first bit means that the path ends with it.
			o.number++
			path = binary.BigEndian.AppendUint32(nil, o.number|1<<31)
		}
	}
	return send(o.socket, before, m.Payload, path)
}

func (o *out) Close() error {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	return o.socket.Close()
}

// --- internal ---

func (l Library) queueOf(mode brokerless.Mode) int {
	if mode == brokerless.PubSub {
		return cmp.Or(l.queue, droppingQueue)
	}
	return cmp.Or(l.queue, ownQueue)
}

func opened(open func() (mangos.Socket, error), options map[string]any) (mangos.Socket, error) {
	socket, err := open()
	if err != nil {
		return nil, err
	}
	for name, value := range options {
		if err := socket.SetOption(name, value); err != nil {
			return nil, errors.Join(fmt.Errorf("set %s: %w", name, err), socket.Close())
		}
	}
	return socket, nil
}

// ofConnections are options of connections to an address: no limit to the size of messages.
func ofConnections(address string) map[string]any {
	options := map[string]any{mangos.OptionMaxRecvSize: 0}
	if strings.HasPrefix(address, "tcp:") {
		options[mangos.OptionNoDelay] = true
	}
	return options
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

// happens gets the library's events of connections.
func (o *out) happens(event mangos.PipeEvent, pipe mangos.Pipe) {
	if event == mangos.PipeEventAttaching {
		return
	}
	o.mu.Lock()
	again, closed := o.dialers[pipe.Dialer()], o.closed
	o.dialers[pipe.Dialer()] = true
	o.mu.Unlock()
	if event == mangos.PipeEventAttached {
		o.up.Add(1)
		if again && !closed {
			o.session.Reconnected()
		}
		return
	}
	o.up.Add(-1)
	if !closed {
		o.session.Report("connection lost", errors.New("the other side has closed it"))
	}
}
