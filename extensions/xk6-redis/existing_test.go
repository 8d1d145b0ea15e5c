package redis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func TestATopicOfTheUsersOwnHasToBeWhatTheModeNeeds(t *testing.T) {
	s := startServer(t, "redis-server")
	client := s.client(t)
	client.RPush(t.Context(), "list", "theirs", "too")
	client.XAdd(t.Context(), &redis.XAddArgs{Stream: "stream", Values: []string{"a", "b"}})
	for _, c := range []struct{ mode, topic, want string }{
		{modeStreams, "stream", ""},
		{modeStreams, "list", "topic list is a key of type list, and mode streams needs a stream"},
		{modeStreams, "none", "topic none does not exist (there is no stream of this key); make it, or drop create: false"},
		{modeLists, "stream", "topic stream is a key of type stream, and mode lists needs a list"},
		{modeLists, "list", `consume "list": it holds 2 messages, which consumers of this run would take away`},
		{modeLists, "none", ""}, // an empty list
		{modePubSub, "list", ""},
	} {
		o := s.at(fmt.Sprintf(`{"mode": %q}`, c.mode))
		o.Run = "run-1"
		to := broker.Subscription{Topic: c.topic}
		session, err := opened(t, o, c.topic, to)
		if err == nil {
			err = session.Consume(t.Context(), to, func(broker.Delivery) {})
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("mode %s, topic %s: %v; want %q", c.mode, c.topic, err, c.want)
		}
		_ = session.Remove(t.Context())
	}
	if n := client.LLen(t.Context(), "list").Val(); n != 2 {
		t.Errorf("the list had 2 messages and has %d", n)
	}
}

func TestAStreamOfTheUsersOwnIsNotTrimmedAndNothingElseIsLeft(t *testing.T) {
	s := startServer(t, "redis-server", "--stream-node-max-entries", "10")
	client := s.client(t)
	client.XAdd(t.Context(), &redis.XAddArgs{Stream: "orders", Values: []string{"a", "b"}})
	// A run's own stream keeps 1000 messages of this size.
	theirs := s.at(`{"mode": "streams"}`)
	theirs.Run, theirs.MessageBytes = "run-1", 2<<20
	r := newRig(t, theirs, "orders", broker.Subscription{Group: "workers"}, broker.Subscription{})
	r.consume(nil)
	client.XAdd(t.Context(), &redis.XAddArgs{Stream: "orders", Values: []string{"of", "others"}}) // comes without a number: 0
	r.send(1500, 0)
	r.answered()
	r.eventually("all arrive, that of others too", func() bool { return len(r.received) == 1500 && r.received[0] == 4 })
	if err := r.session.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := client.XLen(t.Context(), "orders").Val(); n != 1502 {
		t.Errorf("the stream has %d of 1502 entries", n)
	}
	keys, groups := client.Keys(t.Context(), "*").Val(), client.XInfoGroups(t.Context(), "orders").Val()
	if !slices.Equal(keys, []string{"orders"}) || len(groups) != 0 {
		t.Errorf("there are the keys %q and the groups %v; want the stream alone", keys, groups)
	}
}

func TestWhatAConsumerOfAListHasNotFinishedGoesBackIfTheListIsTheUsersAndIsRemovedOtherwise(t *testing.T) {
	s := startServer(t, "redis-server")
	client := s.client(t)
	for run, want := range map[string][]string{"run-1": {"orders"}, "": {}} {
		o := s.at(`{"mode": "lists", "prefetch": 10}`)
		o.Run = run
		r := newRig(t, o, "orders", broker.Subscription{Group: "workers"})
		hold := make(chan struct{})
		r.consume(func(broker.Delivery) { <-hold })
		r.send(20, 0)
		r.answered()
		if err := r.session.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		close(hold)
		left := client.LRange(t.Context(), "orders", 0, -1).Val()
		for i, message := range left {
			if !strings.HasPrefix(message, fmt.Sprintf("%d ", 19-i)) {
				t.Errorf("message %q is at %d", strings.TrimRight(message, "\x00"), i)
			}
		}
		if keys := client.Keys(t.Context(), "*").Val(); len(left) != 20*len(want) || !slices.Equal(keys, want) {
			t.Errorf("run %q: %d of 20 messages are in the list, and there are the keys %q; want %q", run, len(left), keys, want)
		}
		client.FlushAll(t.Context())
	}
}
