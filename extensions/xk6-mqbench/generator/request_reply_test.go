package generator

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func requestReplyPlan(rate, ms int64) *Plan {
	p := testPlan(rate, ms)
	p.Pattern, p.Topics, p.ReplyTopics = requestReply, []string{"a", "b"}, []string{"reply.a", "reply.b"}
	p.Consumers, p.ConsumerConnections, p.Producers, p.Connections = 3, 2, 4, 2
	return p
}

func TestARequestIsAnsweredByOneResponderOnTheRequestersConnection(t *testing.T) {
	s := &stub{}
	m := measure(t, requestReplyPlan(2000, 800), s, nil)
	if *m.window.Received != 1600 || *m.window.Lost != 0 || m.totals.Foreign != 0 {
		t.Errorf("received %d, lost %d, foreign %d; want 1600 0 0", *m.window.Received, *m.window.Lost, m.totals.Foreign)
	}
	var got []broker.Subscription
	for _, sub := range s.subscriptions {
		got = append(got, sub.Subscription)
	}
	want := []broker.Subscription{
		{Connection: 2, Topic: "a", Group: "responders"},
		{Connection: 3, Topic: "b", Group: "responders"},
		{Connection: 2, Topic: "a", Group: "responders"},
		{Connection: 0, Topic: "reply.a"},
		{Connection: 1, Topic: "reply.b"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("subscriptions are\n%v, want\n%v", got, want)
	}
	if s.options.Connections != 4 {
		t.Errorf("%d connections; want 2 of producers and 2 of responders", s.options.Connections)
	}
	if names, topics := s.prepared.Names(), []string{"a", "b", "reply.a", "reply.b"}; !slices.Equal(names, topics) || !slices.Equal(s.prepared.Subscriptions, want) {
		t.Errorf("prepared are topics %v; want %v; and %v", names, topics, s.prepared.Subscriptions)
	}
	if m.window.Reordered != nil {
		t.Errorf("reordered is %d although two responders share a topic of a system without order in groups", *m.window.Reordered)
	}
	if s.removed.Load() != 1 {
		t.Errorf("Remove was called %d times; want once", s.removed.Load())
	}
}

func TestOnlyTheFirstReplyCounts(t *testing.T) {
	var requests, replies atomic.Int64
	s := &stub{deliveriesAt: func(subscription int, i int64) int {
		if subscription < 3 { // a request
			requests.Add(1)
			if i%10 == 3 {
				return 0
			}
			return 1
		}
		replies.Add(1)
		switch {
		case i%10 == 4:
			return 0
		case i%10 == 5:
			return 2
		}
		return 1
	}}
	m := measure(t, requestReplyPlan(2000, 500), s, nil)
	if *m.window.Received != 800 || *m.window.Lost != 200 || m.window.Duplicated != 100 {
		t.Errorf("received %d, lost %d, duplicated %d; want 800 200 100", *m.window.Received, *m.window.Lost, m.window.Duplicated)
	}
	if requests.Load() != 1000 || replies.Load() != 900 {
		t.Errorf("%d requests, %d replies; want 1000 and 900", requests.Load(), replies.Load())
	}
}

func TestAReplyThatIsRefusedIsALostRequestAndAnError(t *testing.T) {
	m := measure(t, requestReplyPlan(1000, 400), &stub{onSend: func(msg *broker.Message) error {
		if strings.HasPrefix(msg.Name, "reply.") && msg.Index%50 == 7 {
			return errors.New("no room")
		}
		return nil
	}}, nil)
	if *m.window.Lost != 8 || m.window.Failed != 0 {
		t.Errorf("lost %d, failed %d; want 8 and 0", *m.window.Lost, m.window.Failed)
	}
	if len(m.totals.Errors) != 1 || m.totals.Errors[0].Message != "reply: no room" || m.totals.Errors[0].Count != 8 {
		t.Errorf("errors %+v; want 8 of 'reply: no room'", m.totals.Errors)
	}
}

func TestRepliesKeepTheOrderOfARequesterWhereTheSystemKeepsItInGroups(t *testing.T) {
	p := requestReplyPlan(2000, 500)
	p.Partitions = 2
	m := measure(t, p, &stub{facts: broker.Description{GroupOrder: true}}, nil)
	if m.window.Reordered == nil || *m.window.Reordered != 0 || *m.window.Received != 1000 {
		t.Errorf("%+v; want 1000 received in order", m.window)
	}
}

func TestThePayloadOfAReplyThatFailedIsNotUsedAgain(t *testing.T) {
	var failed sync.Map
	var again atomic.Int64
	m := measure(t, requestReplyPlan(2000, 300), &stub{onSend: func(msg *broker.Message) error {
		if _, before := failed.Load(msg); before {
			again.Add(1)
		}
		if strings.HasPrefix(msg.Name, "reply.") && msg.Index%2 == 0 {
			failed.Store(msg, true)
			return errRefused
		}
		return nil
	}}, nil)
	if *m.window.Lost == 0 || again.Load() > 0 {
		t.Errorf("%d replies failed, and %d messages had the payload of one", *m.window.Lost, again.Load())
	}
}
