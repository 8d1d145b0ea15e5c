package brokerless

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"
)

// connectTimeout is how long the forwarder tries to reach a subscription.
const connectTimeout = 10 * time.Second

// Forwarder stands between senders and receivers: for each topic a socket that takes messages, and one that hands them on. It stores nothing
// but what the library's queues hold.
type Forwarder struct {
	library Library
	host    string
	// Version is what it says of itself.
	Version string

	mu    sync.Mutex
	ways  map[way]*passage
	users int
}

// way is what a passage is for; in PubSub all topics share one.
type way struct {
	mode  Mode
	topic string
}

// passage takes messages in and hands them on.
type passage struct {
	in  In
	out Out
	// Sockets have one sender at a time.
	sending, replying sync.Mutex
}

// NewForwarder makes one whose sockets listen on that host.
func NewForwarder(library Library, host, version string) *Forwarder {
	return &Forwarder{library: library, host: host, Version: version, ways: map[way]*passage{}}
}

// Serve answers clients until the listener is closed.
func (f *Forwarder) Serve(listener net.Listener) error {
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go f.serve(conn)
	}
}

// --- internal ---

// serve answers one client; what it subscribed to ends with its connection, and everything with the last one.
func (f *Forwarder) serve(conn net.Conn) {
	f.mu.Lock()
	f.users++
	f.mu.Unlock()
	var subscribed []request
	defer func() {
		_ = conn.Close()
		f.leave(subscribed)
	}()
	say := json.NewEncoder(conn)
	if say.Encode(request{Version: f.Version}) != nil {
		return
	}
	for lines := bufio.NewReader(conn); ; {
		var question request
		if err := readLine(lines, &question); err != nil {
			return
		}
		answer, err := f.answer(question)
		if err != nil {
			answer.Error = err.Error()
		} else if question.Subscription != nil {
			subscribed = append(subscribed, question)
		}
		if say.Encode(answer) != nil {
			return
		}
	}
}

func (f *Forwarder) answer(question request) (answer request, err error) {
	topic := question.Entrance
	if question.Subscription != nil {
		topic = question.Subscription.Topic
	}
	passage, err := f.passage(question.Mode, topic)
	if err != nil {
		return answer, err
	}
	if question.Subscription == nil {
		answer.Address = passage.in.Address()
		return answer, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	return answer, passage.out.Connect(ctx, question.Subscription.Address, prefixOf(*question.Subscription))
}

// passage of a topic, which it makes if need be.
func (f *Forwarder) passage(mode Mode, topic string) (*passage, error) {
	if mode == PubSub {
		topic = ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.ways[way{mode, topic}]; p != nil {
		return p, nil
	}
	p := &passage{}
	var err error
	p.out, err = f.library.Sender(mode, func(m Message) {
		p.replying.Lock()
		defer p.replying.Unlock()
		_ = p.in.Reply(m)
	}, func(error) {}, func() {})
	if err != nil {
		return nil, err
	}
	// Nobody is told of what cannot be handed on: nothing here is acknowledged.
	p.in, err = f.library.Listen(mode, "", "tcp://"+net.JoinHostPort(f.host, "0"), func(m Message) {
		p.sending.Lock()
		defer p.sending.Unlock()
		_ = p.out.Send(m)
	})
	if err != nil {
		return nil, errors.Join(err, p.out.Close())
	}
	f.ways[way{mode, topic}] = p
	return p, nil
}

// leave disconnects what a client had subscribed to.
func (f *Forwarder) leave(subscribed []request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users--
	for _, one := range subscribed {
		topic := one.Subscription.Topic
		if one.Mode == PubSub {
			topic = ""
		}
		if p := f.ways[way{one.Mode, topic}]; p != nil {
			p.out.Disconnect(one.Subscription.Address)
		}
	}
	if f.users > 0 {
		return
	}
	for key, p := range f.ways {
		delete(f.ways, key)
		go func() { _ = errors.Join(p.in.Close(), p.out.Close()) }()
	}
}
