package redis

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// subscriber is a socket that receives channels. Redis sends a message once to each socket, however many subscriptions that has, so a
// second subscription to the same channel gets a socket of its own.
type subscriber struct {
	s *session

	mu     sync.Mutex
	socket *socket
	// channels and patterns, as Redis writes them.
	channels, patterns map[string]*target
}

type target struct {
	handle broker.Handler
	// pattern or "": in Redis "*" also matches dots, ours matches one word.
	pattern string
	// confirmed is closed when the server has answered, with refusal if that was an error.
	confirmed chan struct{}
	refusal   error
	once      sync.Once
}

func (s *session) subscribe(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	t := &target{handle: handle, confirmed: make(chan struct{})}
	name := to.Topic
	if to.Wildcard {
		name, t.pattern = glob(to.Topic), to.Topic
	}
	if err := s.place(ctx, to, name, t); err != nil {
		return err
	}
	select {
	case <-t.confirmed:
		return t.refusal
	case <-ctx.Done():
		return ctx.Err()
	case <-s.Over.Done():
		return errClosed
	}
}

// --- internal ---

// place puts a subscription on the first socket of its connection that does not have it yet.
func (s *session) place(ctx context.Context, to broker.Subscription, name string, t *target) error {
	s.consuming.Lock()
	defer s.consuming.Unlock()
	for _, one := range s.subscribers[to.Connection] {
		if !one.has(to.Wildcard, name) {
			return one.add(ctx, to.Wildcard, name, t)
		}
	}
	k, err := s.listen(ctx)
	if err != nil {
		return err
	}
	one := &subscriber{s: s, socket: k, channels: map[string]*target{}, patterns: map[string]*target{}}
	s.subscribers[to.Connection] = append(s.subscribers[to.Connection], one)
	if err := one.add(ctx, to.Wildcard, name, t); err != nil {
		return err
	}
	go one.run()
	return nil
}

func (r *subscriber) has(wildcard bool, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of(wildcard)[name] != nil
}

func (r *subscriber) of(wildcard bool) map[string]*target {
	if wildcard {
		return r.patterns
	}
	return r.channels
}

func (r *subscriber) add(ctx context.Context, wildcard bool, name string, t *target) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(wildcard)[name] = t
	if wildcard {
		return r.socket.pubsub.PSubscribe(ctx, name)
	}
	return r.socket.pubsub.Subscribe(ctx, name)
}

func (r *subscriber) find(wildcard bool, name string) *target {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of(wildcard)[name]
}

func (r *subscriber) run() {
	for {
		// Only this goroutine replaces the socket.
		message, err := r.socket.pubsub.Receive(r.s.Over)
		nowNs := r.s.Now()
		if err != nil {
			if refused(err) && r.refuse(err) {
				continue
			}
			if !r.again(err) {
				return
			}
			continue
		}
		switch m := message.(type) {
		case *redis.Subscription:
			if t := r.find(m.Kind == "psubscribe", m.Channel); t != nil {
				t.once.Do(func() { close(t.confirmed) })
			}
		case *redis.Message:
			t := r.find(m.Pattern != "", cmp.Or(m.Pattern, m.Channel))
			if t != nil && (t.pattern == "" || broker.Matches(t.pattern, m.Channel)) {
				t.handle(broker.Delivery{ReceivedNs: nowNs, Payload: bytesOf(m.Payload)})
			}
		}
	}
}

// refuse ends the wait of the subscriptions that the server has not confirmed: its error does not say which of them it refuses. It returns
// false if there are none.
func (r *subscriber) refuse(err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	any := false
	for _, targets := range []map[string]*target{r.channels, r.patterns} {
		for name, t := range targets {
			t.once.Do(func() {
				any = true
				t.refusal = err
				close(t.confirmed)
				delete(targets, name)
			})
		}
	}
	return any
}

// again replaces the broken socket and subscribes again; messages published in between are lost. It returns false if the session has ended.
func (r *subscriber) again(reason error) bool {
	// A subscriber is not told why it was disconnected; only the server's log says so. This is the reason that people overlook.
	reason = fmt.Errorf("%w (a server ends subscribers that are further behind than its client-output-buffer-limit for pubsub: see its log)", address.Cause(reason))
	k := r.s.again(r.socket, reason, r.s.listen)
	if k == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.socket = k
	for name := range r.channels {
		_ = k.pubsub.Subscribe(r.s.Over, name) // an error shows in Receive
	}
	for name := range r.patterns {
		_ = k.pubsub.PSubscribe(r.s.Over, name)
	}
	return true
}

// glob writes one of our patterns for Redis, where other characters are special, too.
func glob(pattern string) string {
	return strings.NewReplacer(`\`, `\\`, "?", `\?`, "[", `\[`, "]", `\]`).Replace(pattern)
}

// bytesOf returns the bytes of a string without a copy: handlers only read.
func bytesOf(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
