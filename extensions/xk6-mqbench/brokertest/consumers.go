package brokertest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// How subscriptions of a topic affect each other and other sessions, and what stays on the broker.

func fansOut(t *testing.T, s System) {
	r := open(t, s, shape{connections: 3}, named("all")...)
	if s.NoFanOut {
		r.plain(1, r.topics[0])
		r.refuses(broker.Subscription{Connection: 2, Topic: r.topics[0], Members: 1}, "a second subscription without a group")
		return
	}
	var to []*subscription
	for k := range 3 {
		to = append(to, r.plain(1+k%2, r.topics[0]))
	}
	const n = 200
	for i := range int64(n) {
		r.send(0, r.topics[0], i)
	}
	for k := range to {
		to[k].wait(n)
	}
	settled()
	for k := range to {
		r.eachOnce("subscriber", n, to[k].receipts())
		r.inOrder("subscriber", to[k].receipts())
	}
}

func takesPatterns(t *testing.T, s System) {
	topics := named("0", "1", "2")
	r := open(t, s, shape{connections: 2}, topics...)
	if !r.session.Describe().Wildcards {
		t.Skip("a subscription cannot be a pattern")
	}
	pattern := topics[0][:len(topics[0])-1] + "*"
	// Another test's topics have another number and do not match the pattern.
	other := open(t, s, shape{}, named("0")...)
	to := []*subscription{
		r.consume(broker.Subscription{Connection: 1, Topic: pattern, Wildcard: true}, nil),
		r.consume(broker.Subscription{Connection: 1, Topic: pattern, Wildcard: true}, nil),
	}
	other.send(0, other.topics[0], 1_000_000)
	const n = 300
	for i := range int64(n) {
		r.send(0, topics[i%3], i)
	}
	for k := range to {
		to[k].wait(n)
	}
	settled()
	for k := range to {
		r.eachOnce("subscriber by pattern", n, to[k].receipts())
	}
}

func sharesAmongMembers(t *testing.T, s System) {
	to := shape{connections: 3}
	if s.Partitions {
		to.partitions = 4
	}
	r := open(t, s, to, named("work")...)
	if s.NoGroups {
		r.refuses(broker.Subscription{Topic: r.topics[0], Group: "workers", Members: 2}, "a group")
		return
	}
	slowly := func(receipt) { time.Sleep(time.Millisecond) }
	var members []*subscription
	for k := range 2 {
		members = append(members, r.consume(
			broker.Subscription{Connection: 1 + k, Topic: r.topics[0], Group: "workers", Members: 2}, slowly))
	}
	all := func() []receipt { return together(members...) }
	const n = 200
	for i := range int64(n) {
		r.sendTo(0, &broker.Message{Name: r.topics[0], Index: i, Partition: int32(i) % int32(r.shape.partitions)})
		time.Sleep(500 * time.Microsecond)
	}
	r.eventually(func() bool { return len(all()) >= n }, func() string { return "all messages arrive" })
	settled()
	r.eachOnce("members together", n, all())
	for k := range members {
		if members[k].count() == 0 {
			t.Errorf("member %d of 2 gets none of %d messages", k, n)
		}
	}
	if r.session.Describe().GroupOrder {
		for k := range members {
			r.inOrder("member", members[k].receipts())
		}
	}
}

func subscribesAtOnce(t *testing.T, s System) {
	const topics = 12
	var short []string
	for i := range topics {
		short = append(short, strconv.Itoa(i))
	}
	r := open(t, s, shape{connections: 3}, named(short...)...)
	groups := []string{"workers", ""}
	switch {
	case s.NoGroups:
		groups = []string{"", ""}
	case s.NoFanOut:
		groups = []string{"workers"}
	}
	members := 1
	if s.Partitions {
		members = 2 // with more members than partitions one of them has none
	}
	var wanted []broker.Subscription
	for i, topic := range r.topics {
		for k, group := range groups {
			here := 1
			if group != "" {
				here = members
			}
			for m := range here {
				wanted = append(wanted, broker.Subscription{Connection: (i + k + m) % 3, Topic: topic, Group: group, Members: here})
			}
		}
	}
	if r.session.Describe().Wildcards {
		last := strings.LastIndexByte(r.topics[0], '.') + 1
		wanted = append(wanted, broker.Subscription{Topic: r.topics[0][:last] + "*", Wildcard: true})
	}
	got := make([]*subscription, len(wanted))
	err := deadline.Each(t.Context(), broker.ConsumesAtOnce(r.session), len(wanted), func(ctx context.Context, i int) (err error) {
		got[i], err = r.tryConsume(ctx, wanted[i], nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, topic := range r.topics {
		r.send(0, topic, int64(i))
	}
	total := func() (n int) {
		for _, one := range got {
			n += one.count()
		}
		return n
	}
	want := len(groups) * topics
	if r.session.Describe().Wildcards {
		want += topics
	}
	r.eventually(func() bool { return total() >= want }, func() string {
		return fmt.Sprintf("%d subscriptions get %d messages (they have %d)", len(got), want, total())
	})
	settled()
	if total() != want {
		t.Errorf("%d messages arrive, want %d", total(), want)
	}
	for i, one := range got {
		for _, m := range one.receipts() {
			if !broker.Matches(wanted[i].Topic, r.topics[m.Sequence]) {
				t.Errorf("the message to %s arrives at a subscription to %s", r.topics[m.Sequence], wanted[i].Topic)
			}
		}
	}
}

func echoes(t *testing.T, s System) {
	r := open(t, s, shape{connections: 2}, named("ask", "reply")...)
	group := "responders"
	if s.NoGroups {
		group = ""
	}
	replies := r.plain(0, r.topics[1])
	answered := map[uint64]bool{}
	r.consume(broker.Subscription{Connection: 1, Topic: r.topics[0], Group: group}, func(m receipt) {
		if answered[m.Sequence] && r.late(m) {
			return
		}
		answered[m.Sequence] = true
		r.send(1, r.topics[1], int64(m.Sequence))
	})
	const n = 500
	r.within("an echo", func() {
		for i := range int64(n) {
			r.send(0, r.topics[0], i)
		}
	})
	replies.wait(n)
	settled()
	r.eachOnce("requester", n, replies.receipts())
	r.inOrder("requester", replies.receipts())
}

func survivesPause(t *testing.T, s System)         { survivesPauseOf(t, s, "") }
func survivesPauseOfAGroup(t *testing.T, s System) { survivesPauseOf(t, s, "workers") }

func survivesPauseOf(t *testing.T, s System, group string) {
	if group != "" && s.NoGroups {
		t.Skip("the system has no groups")
	}
	r := open(t, s, shape{connections: 2}, named("pause")...)
	const n = 2000
	began, resume := make(chan struct{}, n), make(chan struct{})
	to := r.consume(broker.Subscription{Connection: 1, Topic: r.topics[0], Group: group}, func(receipt) { began <- struct{}{}; <-resume })
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		r.send(0, r.topics[0], 0)
		<-began // alone: a library that hands over all that it has at once holds nothing afterwards
		for i := int64(1); i < n; i++ {
			r.send(0, r.topics[0], i)
		}
	}()
	time.Sleep(500 * time.Millisecond)
	r.holds(s.Holds, n)
	close(resume)
	to.wait(n)
	<-sent
	settled()
	r.holds(0, 0)
	r.eachOnce("consumer after a pause", n, to.receipts())
	r.inOrder("consumer after a pause", to.receipts())
	r.dropsNothing()
}

func keepsForGroup(t *testing.T, s System) {
	topics := named("stored")
	first := open(t, s, shape{}, topics...)
	if s.NoGroups || !first.session.Describe().Stores {
		t.Skip("the system stores nothing for groups")
	}
	second := open(t, s, shape{}, topics...)
	// A group exists once it has had a member; it gets the messages from then on.
	to := first.consume(broker.Subscription{Topic: topics[0], Group: "workers"}, nil)
	second.send(0, topics[0], 0)
	to.wait(1)
	settled()
	first.within("Close", first.close)
	const n = 50
	for i := range int64(n) {
		second.send(0, topics[0], 1+i)
	}
	again := second.consume(broker.Subscription{Topic: topics[0], Group: "workers"}, nil)
	missing := func() int {
		got := map[uint64]bool{}
		for _, m := range again.receipts() {
			got[m.Sequence] = m.Sequence > 0
		}
		delete(got, 0)
		return n - len(got)
	}
	second.eventually(func() bool { return missing() == 0 }, func() string { return "the group gets what was sent while it had no member" })
}

func deliversAgain(t *testing.T, s System) {
	topics := named("again")
	dies := open(t, s, shape{}, topics...)
	if s.NoGroups || s.NoTakeover || !dies.session.Describe().Stores {
		t.Skip("the system stores nothing for groups, or gives it to nobody else")
	}
	lives := open(t, s, shape{}, topics...)
	over := make(chan struct{})
	t.Cleanup(sync.OnceFunc(func() { close(over) }))
	taken := make(chan uint64, 100)
	dies.consume(broker.Subscription{Topic: topics[0], Group: "workers"}, func(m receipt) {
		taken <- m.Sequence
		<-over
	})
	const n = 10
	for i := range int64(n) {
		lives.send(0, topics[0], i)
	}
	var held uint64
	lives.eventually(func() bool {
		select {
		case held = <-taken:
			return true
		default:
			return false
		}
	}, func() string { return "a message arrives at the member that will die" })
	dies.within("Close while a handler blocks", dies.close)
	to := lives.consume(broker.Subscription{Topic: topics[0], Group: "workers"}, nil)
	to.wait(n)
	settled()
	lives.eachOnce("the member that lives", n, to.receipts())
	if !s.FlagsRedelivery {
		return
	}
	for _, m := range to.receipts() {
		if m.Sequence == held && !m.redelivered {
			t.Errorf("message %d was handed out before, and has no flag that says so", held)
		}
	}
}

func preparesEmpty(t *testing.T, s System) {
	topics := named("again", "other")
	group := "workers"
	if s.NoGroups {
		group = ""
	}
	first := open(t, s, shape{}, topics...)
	to := first.consume(broker.Subscription{Topic: topics[0], Group: group}, nil)
	for i := range int64(10) {
		first.send(0, topics[0], i)
		first.send(0, topics[1], i)
	}
	to.wait(10)
	first.within("Close", first.close) // without Remove, like a run that was killed

	second := open(t, s, shape{}, topics...)
	var again []*subscription
	for _, topic := range topics {
		again = append(again, second.consume(broker.Subscription{Topic: topic, Group: group}, nil))
	}
	for i := range int64(5) {
		second.send(0, topics[0], i)
		second.send(0, topics[1], i)
	}
	for k := range again {
		again[k].wait(5)
	}
	settled()
	for k := range again {
		for _, m := range again[k].receipts() {
			if m.redelivered {
				t.Errorf("message %d on %s is of the session before", m.Sequence, topics[k])
			}
		}
		second.eachOnce("consumer of "+topics[k], 5, again[k].receipts())
	}
}

func removes(t *testing.T, s System) {
	stays := open(t, s, shape{}, named("stays")...)
	kept := stays.plain(0, stays.topics[0])
	goes := open(t, s, shape{}, named("goes", "goes-too")...)
	group := "workers"
	if s.NoGroups {
		group = ""
	}
	to := goes.consume(broker.Subscription{Topic: goes.topics[0], Group: group}, nil)
	goes.send(0, goes.topics[0], 0)
	goes.send(0, goes.topics[1], 0)
	to.wait(1)
	if s.Exists != nil && !s.Exists(t, goes.topics[1]) {
		t.Errorf("%s does not exist on the broker before Remove: Exists looks for something else", goes.topics[1])
	}
	goes.remove()
	if _, able := goes.session.(broker.Remover); !able {
		goes.within("Close", goes.close) // what it made goes with its connections
	}
	if s.Exists != nil {
		for _, topic := range goes.topics {
			if s.Exists(t, topic) {
				t.Errorf("%s is still there after Remove", topic)
			}
		}
		if !s.Exists(t, stays.topics[0]) {
			t.Errorf("%s, of another session, is gone", stays.topics[0])
		}
	}
	goes.within("Close", goes.close)
	stays.send(0, stays.topics[0], 0)
	kept.wait(1)
}
