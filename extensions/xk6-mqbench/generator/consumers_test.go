package generator

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

func TestMembersOfAGroupShareTheMessagesAndOrderCountsWhereEachHasItsTopics(t *testing.T) {
	few := workQueuePlan(3000, 500, 2)
	few.Topics, few.Producers = []string{"a", "b", "c"}, 3
	for words, c := range map[string]struct {
		plan          *Plan
		subscriptions int
		// The last subscription's fields.
		topic      string
		connection int
		ordered    bool
	}{
		"4 members on one topic": {workQueuePlan(3000, 500, 4), 4, "a", 2, false},
		"2 members on 3 topics":  {few, 3, "c", 1, true},
	} {
		s := &stub{}
		m := measure(t, c.plan, s, nil)
		m.has("received 1500")
		last := s.subscriptions[len(s.subscriptions)-1]
		if len(s.subscriptions) != c.subscriptions || last.Topic != c.topic || last.Connection != c.connection || (m.window.Reordered != nil) != c.ordered {
			t.Errorf("%s: %d subscriptions, the last one %+v, reordered %v", words, len(s.subscriptions), last.Subscription, m.window.Reordered)
		}
	}
}

func TestWorkTakesTheConsumersTimeAndNotTheProducers(t *testing.T) {
	p := workQueuePlan(200, 500, 1)
	p.Work = &Work{MeanNs: 10 * ms, Distribution: "constant"}
	p.DrainNs = 10_000 * ms
	m := measure(t, p, &stub{}, nil)
	m.has("received 100")
	// Messages come every 5 ms and take 10: number i waits at least 5i ms for the one consumer.
	if sum := m.metrics["service"].Sum / ms; sum < 99*100/2*5 {
		t.Errorf("the sum of service is %d ms; want at least %d", sum, 99*100/2*5)
	}
	if q := m.metrics["queued"].Sum; q > m.metrics["service"].Sum/10 {
		t.Errorf("queued is %d ms: producers wait for consumers", q/ms)
	}
}

func TestWorkHasItsMean(t *testing.T) {
	p := workQueuePlan(1000, 100, 1)
	p.Work = &Work{MeanNs: 1_000_000, Distribution: "exponential"}
	var sum int64
	const n = 100_000
	for i := range int64(n) {
		sum += p.workNs(i)
	}
	if mean := sum / n; mean < 980_000 || mean > 1_020_000 {
		t.Errorf("mean work is %d ns; want 1 000 000", mean)
	}
}

func TestARunDoesNotWaitForConsumersThatAreStillAtWork(t *testing.T) {
	p := workQueuePlan(100, 300, 1)
	p.Work = &Work{MeanNs: 60_000 * ms, Distribution: "constant"}
	p.DrainNs = 200 * ms
	m := measure(t, p, &stub{}, nil)
	if m.has("received 1 lost 29"); m.took > 10*time.Second {
		t.Errorf("the run took %s; want not a minute", m.took)
	}
}

func TestABacklogIsBuiltWhileConsumersPauseAndDrainedAfterwards(t *testing.T) {
	p := workQueuePlan(1000, 900, 2)
	p.Pattern, p.Acks = backlog, true
	p.Backlog = &Backlog{PauseNs: 300 * ms, ResumeNs: 700 * ms}
	m := measure(t, p, &stub{acks: true, facts: broker.Description{Stores: true}}, nil)
	m.has("received 900 lost 0 acked 900 late 0 #response 0 #service 0 #last 0 #lag 900 #ack 900")
	// If producers waited for consumers that pause, 400 messages would wait 200 ms in the mean.
	if q := m.metrics["queued"].Sum; q > 400*200*ms/10 {
		t.Errorf("queued is %d ms: producers wait for consumers that pause", q/ms)
	}
	g := &Generator{plan: p, clock: clock.New(), t0: -1000 * ms}
	for _, at := range [][2]int64{{299, 299}, {300, 700}, {699, 700}, {700, 700}} {
		if got := g.pause(at[0]*ms, []Backlog{*p.Backlog}); got != at[1]*ms {
			t.Errorf("a message handed over at %d ms is taken at %d; want %d", at[0], got/ms, at[1])
		}
	}
}

func TestARequestIsAnsweredByOneResponderOnTheRequestersConnection(t *testing.T) {
	s := &stub{}
	// Two responders share a topic of a system without order in groups.
	measure(t, requestReplyPlan(2000, 800), s, nil).has("received 1600 lost 0 foreign 0 reordered null")
	want := []broker.Subscription{
		{Connection: 2, Topic: "a", Group: "responders"},
		{Connection: 3, Topic: "b", Group: "responders"},
		{Connection: 2, Topic: "a", Group: "responders"},
		{Connection: 0, Topic: "reply.a"},
		{Connection: 1, Topic: "reply.b"},
	}
	if !slices.Equal(s.prepared.Subscriptions, want) || !slices.Equal(s.prepared.Names(), []string{"a", "b", "reply.a", "reply.b"}) {
		t.Errorf("topics %v, subscriptions\n%v, want\n%v", s.prepared.Names(), s.prepared.Subscriptions, want)
	}
	// 2 connections of producers and 2 of responders.
	if s.connections[0] != 4 || !slices.Equal(s.events, []string{"make 4 topics", "remove topics", "close"}) {
		t.Errorf("%d connections, %v; want 4, and the topics removed once", s.connections[0], s.events)
	}
}

func TestOnlyTheFirstReplyCounts(t *testing.T) {
	var requests, replies atomic.Int64
	m := measure(t, requestReplyPlan(2000, 500), &stub{copies: func(subscription int, i int64) int {
		if subscription < 3 { // a request
			requests.Add(1)
			return without(every(10, 3))(0, i)
		}
		replies.Add(1)
		return map[int64]int{4: -1, 5: 1}[i%10] + 1
	}}, nil)
	m.has("received 800 lost 200 duplicated 100")
	if requests.Load() != 1000 || replies.Load() != 900 {
		t.Errorf("%d requests, %d replies; want 1000 and 900", requests.Load(), replies.Load())
	}
}

func TestAReplyThatIsRefusedIsALostRequestAndAnErrorAndItsPayloadIsNotUsedAgain(t *testing.T) {
	var failed sync.Map
	var again atomic.Int64
	m := measure(t, requestReplyPlan(1000, 400), &stub{onSend: func(msg *broker.Message) error {
		if _, before := failed.Load(msg); before {
			again.Add(1)
		}
		if strings.HasPrefix(msg.Name, "reply.") && msg.Index%2 == 0 {
			failed.Store(msg, true)
			return errors.New("no room")
		}
		return nil
	}}, nil)
	m.has("lost 200 failed 0")
	if e := m.totals.Errors; len(e) != 1 || e[0].Message != "reply: no room" || e[0].Count != 200 || again.Load() > 0 {
		t.Errorf("errors %+v; want 200 of 'reply: no room'; %d messages had the payload of one", e, again.Load())
	}
}

func TestRepliesKeepTheOrderOfARequesterWhereTheSystemKeepsItInGroups(t *testing.T) {
	p := requestReplyPlan(2000, 500)
	p.Partitions = 2
	measure(t, p, &stub{facts: broker.Description{GroupOrder: true}}, nil).has("reordered 0 received 1000")
}
