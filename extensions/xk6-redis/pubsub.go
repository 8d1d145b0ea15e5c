package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// subscriber receives channels, on one socket after another. Redis sends a message once to each socket, however many subscriptions that
// has, so a second subscription to the same channel gets a separate subscriber.
type subscriber struct {
	s     *session
	shard *shard
	link  broker.Link[*socket]
	// opened makes the first socket, with this result.
	opened  sync.Once
	err     error
	targets map[channel]*target
}

// channel is a channel, or a pattern over channels, in Redis's notation.
type channel struct {
	name    string
	pattern bool
}

type target struct {
	// handle is nil before Consume.
	handle atomic.Pointer[broker.Handler]
	// topic as the plan writes it: in Redis the "*" of a pattern also matches dots, ours matches one word.
	topic string
}

// place gives a subscription to the first subscriber of its connection that does not have it yet.
func (s *session) place(to broker.Subscription) {
	on, all, at := channelOf(to), &s.subscribers[to.Connection], s.shards[0]
	if t := s.named[to.Topic]; t != nil { // patterns have any
		at = t.shard
	}
	i := slices.IndexFunc(*all, func(r *subscriber) bool { return r.shard == at && r.targets[on] == nil })
	if i < 0 {
		i, *all = len(*all), append(*all, &subscriber{s: s, shard: at, link: newLink[*socket](), targets: map[channel]*target{}})
	}
	(*all)[i].targets[on] = &target{topic: to.Topic}
}

func (s *session) subscribe(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	for _, r := range s.subscribers[to.Connection] {
		if t := r.targets[channelOf(to)]; t != nil && t.handle.CompareAndSwap(nil, &handle) {
			r.opened.Do(func() { r.err = r.link.Open(ctx, s.Base, r.dial) })
			return r.err
		}
	}
	return errors.New("there is no such subscription in the layout")
}

// --- internal ---

func channelOf(to broker.Subscription) channel {
	if to.Wildcard {
		// Other characters of ours are special in Redis, too.
		return channel{strings.NewReplacer(`\`, `\\`, "?", `\?`, "[", `\[`, "]", `\]`).Replace(to.Topic), true}
	}
	return channel{to.Topic, false}
}

// dial makes a socket with all channels, and returns when the server has confirmed them. Messages published since the last one are lost.
func (r *subscriber) dial(ctx context.Context) (*socket, error) {
	k, err := r.s.connect(ctx, r.shard, true)
	if err != nil {
		return nil, err
	}
	for on := range r.targets {
		subscribe := k.pubsub.Subscribe
		if on.pattern {
			subscribe = k.pubsub.PSubscribe
		} else if r.s.sharded {
			subscribe = k.pubsub.SSubscribe
		}
		_ = subscribe(ctx, on.name) // an error shows in receive
	}
	for confirmed := 0; confirmed < len(r.targets); {
		is, err := r.receive(ctx, k)
		if err != nil {
			if gone(err) {
				r.shard.moved.Store(true)
			}
			k.End(err)
			return nil, err
		}
		if is {
			confirmed++
		}
	}
	go func() {
		for err == nil {
			_, err = r.receive(r.s.Over, k)
		}
		// The server does not say why it disconnects a subscriber; only its log has the reason, which people overlook.
		k.End(fmt.Errorf("%w (a server ends subscribers that are further behind than its client-output-buffer-limit for pubsub: see its log)", address.Cause(err)))
	}()
	return k, nil
}

// receive handles the next item, a message or the confirmation of a channel.
func (r *subscriber) receive(ctx context.Context, k *socket) (confirmation bool, err error) {
	message, err := k.pubsub.Receive(ctx)
	nowNs := r.s.Now()
	if m, ok := message.(*redis.Message); ok {
		t := r.targets[channel{cmp.Or(m.Pattern, m.Channel), m.Pattern != ""}]
		if t == nil || !broker.Matches(t.topic, m.Channel) {
			return false, nil
		}
		if handle := t.handle.Load(); handle != nil {
			(*handle)(broker.Delivery{ReceivedNs: nowNs, Payload: bytesOf(m.Payload)})
		}
	}
	change, confirmation := message.(*redis.Subscription)
	if confirmation && change.Kind == "sunsubscribe" {
		r.shard.moved.Store(true)
		return false, errors.New("the channel's slot is on another node now")
	}
	return confirmation, err
}

// bytesOf returns the bytes of a string without a copy: handlers only read.
func bytesOf(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
