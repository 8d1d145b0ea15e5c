package brokertest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// How subscriptions of a topic affect each other and other sessions, and which objects stay on the broker.

func fansOut(t *testing.T, s System) {
	topic := named("all")[0]
	many := shape{connections: 3, consumers: alone(topic, 1, 2, 1)}
	if s.NoFanOut {
		refused(t, s, many, "a second subscription without a group", topic)
		return
	}
	r := open(t, s, many, topic)
	to := r.consume(nil)
	const n = 200
	r.sendAll(0, n)
	for _, one := range to {
		r.inOrder("subscriber", r.gets("subscriber", n, one))
	}
}

func sharesAmongMembers(t *testing.T, s System) {
	to := shape{connections: 3}
	if s.Partitions {
		to.partitions = 4
	}
	topic := named("work")[0]
	to.consumers = members(topic, "workers", 1, 2)
	if s.NoGroups || s.OneMember {
		refused(t, s, to, "a group", topic)
		return
	}
	r := open(t, s, to, topic)
	members := r.consume(func(receipt) { time.Sleep(time.Millisecond) })
	const n = 200
	for i := range int64(n) {
		r.sendTo(0, &broker.Message{Name: r.topics[0], Index: i, Partition: int32(i) % int32(r.shape.partitions)})
		time.Sleep(500 * time.Microsecond)
	}
	r.gets("members together", n, members...)
	r.allWork(members)
	if r.session.Describe().GroupOrder {
		for k := range members {
			r.inOrder("member", members[k].receipts())
		}
	}
}

func subscribesAtOnce(t *testing.T, s System) {
	const each = 10 // messages to a topic
	topics := named("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11")
	connections := []int{0}
	if s.Partitions {
		connections = append(connections, 1) // with more members than partitions one of them has none
	}
	var wanted []broker.Subscription
	want := 0
	add := func(messages int, to ...broker.Subscription) { wanted, want = append(wanted, to...), want+messages }
	for _, topic := range topics {
		if !s.NoGroups {
			add(each, members(topic, "workers", connections...)...)
		}
		if !s.NoFanOut {
			add(each, alone(topic, 2)...)
		}
	}
	if s.facts(t).Wildcards {
		pattern := broker.Subscription{Topic: strings.TrimSuffix(topics[0], "0") + "*", Wildcard: true}
		add(2*each*len(topics), pattern, pattern)
	}
	r := open(t, s, shape{connections: 3, consumers: wanted}, topics...)
	other := open(t, s, shape{}, named("0")...)
	got := r.consume(nil)
	other.send(0, other.topics[0], 0) // has another number, and does not match the pattern
	for i := range int64(each * len(topics)) {
		r.send(int(i%3), topics[int(i)%len(topics)], i)
	}
	total := func() (n int) {
		for _, one := range got {
			n += one.count()
		}
		return n
	}
	r.eventually(func() bool { return total() >= want }, func() string {
		return fmt.Sprintf("%d subscriptions get %d messages (they have %d)", len(got), want, total())
	})
	settled()
	if total() != want {
		t.Errorf("%d messages arrive, want %d", total(), want)
	}
	for _, one := range got {
		once := map[uint64]bool{}
		for _, m := range one.receipts() {
			once[m.Sequence] = true
			if topic := topics[int(m.Sequence)%len(topics)]; !broker.Matches(one.Topic, topic) {
				t.Errorf("a message to %s arrives at a subscription to %s", topic, one.Topic)
			}
		}
		want := each
		if one.Wildcard {
			want *= len(topics)
		}
		if one.Group == "" && (len(once) != want || one.count() != want) {
			t.Errorf("a subscription to %s gets %d messages, %d of them different, want %d", one.Topic, one.count(), len(once), want)
		}
	}
}

func echoes(t *testing.T, s System, responders int) {
	topics := named("ask", "ask.reply")
	r := open(t, s, shape{
		connections: 2, consumers: append(alone(topics[1], 0), members(topics[0], s.group(), slices.Repeat([]int{1}, responders)...)...),
	}, topics...)
	replies := r.consumer(0, nil)
	var replying sync.Mutex // one goroutine at a time sends on a connection
	answered := map[uint64]bool{}
	for k := range responders {
		r.consumer(1+k, func(m receipt) {
			replying.Lock()
			defer replying.Unlock()
			if again := answered[m.Sequence] && r.late(m); !again {
				r.sendTo(1, &broker.Message{Name: topics[1], Index: int64(m.Sequence), Payload: slices.Clone(m.payload)})
			}
			answered[m.Sequence] = true
		})
	}
	const n = 500
	r.within("an echo", func() { r.sendAll(0, n) })
	if got := r.gets("requester", n, replies); responders == 1 {
		r.inOrder("requester", got)
	}
}

func survivesPause(group string) func(*testing.T, System) {
	return func(t *testing.T, s System) {
		if group != "" && s.NoGroups {
			t.Skip("the system has no groups")
		}
		r := open(t, s, shape{connections: 2, group: group}, named("pause")...)
		const n = 2000
		began, resume := make(chan struct{}, n), make(chan struct{})
		to := r.consumer(0, func(receipt) { began <- struct{}{}; <-resume })
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			r.send(0, r.topics[0], 0)
			<-began // so it comes as a single message: a library that hands over everything at once holds nothing afterwards
			r.sendAll(1, n)
		}()
		time.Sleep(500 * time.Millisecond)
		r.holds(s.Holds, n)
		close(resume)
		<-sent
		r.inOrder("consumer after a pause", r.gets("consumer after a pause", n, to))
		r.holds(0, 0)
		r.countsNothing()
	}
}

func keepsForGroup(t *testing.T, s System) {
	if s.NoGroups || !s.facts(t).Stores {
		t.Skip("the system stores nothing for groups")
	}
	topics := named("stored")
	first := open(t, s, shape{group: "workers"}, topics...)
	second := open(t, s, shape{group: "workers"}, topics...)
	// A group exists once it has had a member; it gets the messages from then on.
	to := first.consumer(0, nil)
	second.send(0, topics[0], 0)
	to.wait(1)
	settled()
	first.within("Close", first.close)
	const n = 50
	second.sendAll(1, 1+n)
	again := second.consumer(0, nil)
	second.eventually(func() bool {
		got := map[uint64]bool{}
		for _, m := range again.receipts() {
			got[m.Sequence] = true
		}
		delete(got, 0) // may come again
		return len(got) == n
	}, func() string { return "the group gets what was sent while it had no member" })
}

func deliversAgain(t *testing.T, s System) {
	if s.NoGroups || s.NoTakeover || !s.facts(t).Stores {
		t.Skip("the system stores nothing for groups, or gives it to nobody else")
	}
	topics := named("again")
	dies := open(t, s, shape{group: "workers"}, topics...)
	lives := open(t, s, shape{group: "workers"}, topics...)
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	taken := make(chan uint64, 100)
	dies.consumer(0, func(m receipt) {
		taken <- m.Sequence
		<-over
	})
	const n = 10
	lives.sendAll(0, n)
	var held uint64
	lives.within("the wait of the member that will die for a message", func() { held = <-taken })
	dies.within("Close while a handler blocks", dies.close)
	to := lives.consumer(0, nil)
	for _, m := range lives.gets("the member that lives", n, to) {
		if s.FlagsRedelivery && m.Sequence == held && !m.redelivered {
			t.Errorf("message %d was handed out before, and has no flag that says so", held)
		}
	}
}

func preparesEmpty(t *testing.T, s System) {
	topics := named("again", "other")
	first := open(t, s, shape{consumers: members(topics[0], s.group(), 0)}, topics...)
	to := first.consumer(0, nil)
	for i := range int64(10) {
		first.send(0, topics[0], i)
		first.send(0, topics[1], i)
	}
	to.wait(10)
	first.settles()
	first.within("Close", first.close) // without Remove, like a run that was killed

	second := open(t, s, shape{group: s.group()}, topics...)
	again := second.consume(nil)
	for i := range int64(5) {
		second.send(0, topics[0], i)
		second.send(0, topics[1], i)
	}
	for _, one := range again {
		for _, m := range second.gets("consumer of "+one.Topic, 5, one) {
			if m.redelivered {
				t.Errorf("message %d on %s is of the session before", m.Sequence, one.Topic)
			}
		}
	}
}

func removes(t *testing.T, s System) {
	stays := open(t, s, shape{}, named("stays")...)
	kept := stays.consumer(0, nil)
	topics := named("goes", "goes-too")
	goes := open(t, s, shape{consumers: members(topics[0], s.group(), 0)}, topics...)
	to := goes.consumer(0, nil)
	goes.send(0, goes.topics[0], 0)
	goes.send(0, goes.topics[1], 0)
	to.wait(1)
	s.exist(t, true, goes.topics[1])
	goes.remove()
	if _, able := goes.session.(broker.Remover); !able {
		goes.within("Close", goes.close) // its topics go with its connections
	}
	s.exist(t, false, goes.topics...)
	s.exist(t, true, stays.topics...)
	goes.within("Close", goes.close)
	stays.send(0, stays.topics[0], 0)
	kept.wait(1)
}
