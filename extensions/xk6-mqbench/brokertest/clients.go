package brokertest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Several clients of one run, and topics that existed before the run.

const (
	// old is the number of the first message that was sent before the run.
	old = 1_000_000
	// ours is how many messages a run sends.
	ours = 300
)

func servesClients(t *testing.T, s System) {
	s.needs(t, broker.Part{Clients: 2})
	if s.facts(t).Inline {
		t.Skip("there is no broker between clients")
	}
	topics := named("shared", "all")
	first := s.share(t, s.several(t), topics, !s.NoFanOut)
	s.exist(t, false, topics...)
	first.within("Close", first.close)
}

func usesExisting(t *testing.T, s System) {
	topics := named("existing", "existing-too")
	to := s.make(t, topics)
	first := s.share(t, to, topics, !s.NoFanOut && !s.Queues)
	if s.Make != nil {
		s.exist(t, true, topics...)
	}
	if s.Traces != nil {
		if left := s.Traces(t, to.part.Run, topics); len(left) > 0 {
			t.Errorf("the run leaves %q behind", left)
		}
	}
	first.within("Close", first.close)
}

// replays reads a topic in a separate session, like a catch-up: the messages that were already consumed, and those sent during the read.
func replays(t *testing.T, s System) {
	if !s.facts(t).Replays {
		t.Skip("a topic keeps nothing that was received")
	}
	topics := named("log")
	to := s.several(t)
	to.consumers = members(topics[0], s.group(), 1)
	sender := open(t, s, to, topics...)
	taken := sender.consumer(0, nil)
	send := func(from, end int64) {
		for i := from; i < end; i++ {
			sender.sendTo(0, &broker.Message{Name: topics[0], Index: i, Partition: int32(i) % int32(to.partitions)})
		}
	}
	const before, all = 1000, 2000
	send(0, before)
	sender.gets("the group", before, taken)
	late := broker.Subscription{Client: 1, Topic: topics[0], FromStart: true}
	reader := start(t, s, shape{
		connections: 1, partitions: to.partitions, part: broker.Part{Client: 1, Clients: 2}, consumers: []broker.Subscription{late},
	}, topics...)
	if err := reader.prepare(); err != nil {
		t.Fatal(err)
	}
	sent := make(chan struct{})
	go func() { defer close(sent); send(before, all) }()
	got := reader.consumer(0, nil)
	<-sent
	reader.inOrder("the reader", reader.gets("the reader", all, got))
	sender.gets("the group beside a reader", all, taken)
	// Nothing of the topic leaves with the reader.
	reader.remove()
	reader.within("Close", reader.close)
	send(all, all+1)
	sender.gets("the group after a reader", all+1, taken)
}

func keepsRunsApart(t *testing.T, s System) {
	if s.NoGroups || s.NoFanOut || s.Queues {
		t.Skip("a topic has one group")
	}
	topics := named("runs")
	to := s.make(t, topics)
	to.part.Clients, to.consumers = 1, members(topics[0], "workers", 1)
	var runs []*rig
	var got []*subscription
	for _, run := range []string{"x", "y"} {
		to.part.Run = to.part.Run[:len(to.part.Run)-1] + run
		r := open(t, s, to, topics...)
		runs = append(runs, r)
		got = append(got, r.consumer(0, nil))
	}
	for i := range int64(ours) {
		runs[i%2].send(0, topics[0], i)
	}
	for k, r := range runs {
		r.gets("the group of one of two runs", ours, got[k])
	}
}

func refusesMissing(t *testing.T, s System) {
	s.needs(t, broker.Part{Run: "run"})
	topics := named("missing")
	if s.Make == nil {
		t.Skip("topics are there when they are used")
	}
	err := start(t, s, shape{part: broker.Part{Run: runName(topics)}}, topics...).prepare()
	if err == nil || !strings.Contains(err.Error(), topics[0]+" does not exist") || !strings.Contains(err.Error(), "drop create: false") {
		t.Errorf("Prepare = %v; want a sentence that %s does not exist, and what to do", err, topics[0])
	}
	s.exist(t, false, topics...)
}

// --- internal ---

// refuses reports whether the driver cannot take that part in a run.
func (s System) refuses(t *testing.T, part broker.Part) bool {
	t.Helper()
	session, err := s.Driver(s.options(shape{connections: 1, part: part}))
	if err == nil {
		_ = session.Close()
	}
	return err != nil
}

// needs skips the test if the driver cannot take that part in a run: it serves one client, or makes its topics.
func (s System) needs(t *testing.T, part broker.Part) {
	t.Helper()
	if s.refuses(t, part) {
		t.Skipf("the driver refuses to be %+v", part)
	}
}

// exist fails unless topics are there, or unless they are not, if that can be checked.
func (s System) exist(t *testing.T, want bool, topics ...string) {
	t.Helper()
	for _, topic := range topics {
		if s.Exists != nil && s.Exists(t, topic) != want {
			t.Errorf("%s is on the broker: %t; want %t", topic, !want, want)
		}
	}
}

// several makes a session that is the first of two clients.
func (s System) several(t *testing.T) shape {
	to := shape{connections: 3, partitions: 1}
	if !s.refuses(t, broker.Part{Clients: 2}) {
		to.part.Clients = 2
	}
	if s.Partitions {
		to.partitions = 4
	}
	return to
}

// make makes topics as their user would, with messages in them, and returns a session of two on them. It skips the test without a broker,
// and for a driver that uses only its own.
func (s System) make(t *testing.T, topics []string) shape {
	t.Helper()
	s.needs(t, broker.Part{Run: "run"})
	to := s.several(t)
	to.part.Run = runName(topics)
	if s.Make != nil {
		for _, topic := range topics {
			s.Make(t, topic, to.partitions)
		}
	}
	before := to
	before.part.Run += "before"
	for k, topic := range topics {
		before.consumers = append(before.consumers, alone(topic, k+1)...)
	}
	user := open(t, s, before, topics...)
	if user.session.Describe().Inline {
		t.Skip("there is no broker on which topics could be")
	}
	if !s.Queues && !s.NoFanOut {
		for k, topic := range topics {
			for i := range int64(20) {
				user.sendTo(0, &broker.Message{Name: topic, Index: old + i, Partition: int32(i % int64(to.partitions))})
			}
			user.settles()
			// A server that acknowledges nothing may not have read them yet. It has when one that was sent after them arrives.
			reads := user.consumer(k, nil)
			var sent time.Time
			user.eventually(func() bool {
				// Without acknowledgements, one is lost if the server has not yet noticed that it leads the topic.
				if time.Since(sent) > patience/10 {
					sent = time.Now()
					user.sendTo(0, &broker.Message{Name: topic, Index: old + 20})
				}
				return slices.ContainsFunc(reads.receipts(), func(got receipt) bool { return got.Sequence == old+20 })
			}, func() string { return "the last message before the run arrives" })
		}
	}
	user.removeAndClose()
	return to
}

// runName is a name that no other test has.
func runName(topics []string) string { return "run-" + strings.ReplaceAll(topics[0], ".", "-") }

// share opens a session, and a second client's session if the driver can. All are members of a group on the first topic; on the second
// topic, if it has fanOut, each gets all messages. All send to both. Then the second client leaves, which the first must not notice, and
// the first removes the run's objects. share returns the first.
func (s System) share(t *testing.T, to shape, topics []string, fanOut bool) *rig {
	t.Helper()
	count := max(1, to.part.Clients)
	for client := range count {
		if !s.NoGroups && (client == 0 || !s.OneMember) {
			to.consumers = append(to.consumers, broker.Subscription{Client: client, Connection: 1, Topic: topics[0], Group: "workers"})
		}
		if fanOut {
			to.consumers = append(to.consumers, broker.Subscription{Client: client, Connection: 2, Topic: topics[1]})
		}
	}
	var clients []*rig
	var members, all []*subscription
	for to.part.Client = range count {
		r := open(t, s, to, topics...)
		clients = append(clients, r)
		// Slowly: with one queue, a fast member would have all of it before the other one wakes up.
		for _, one := range r.consume(func(receipt) { time.Sleep(100 * time.Microsecond) }) {
			if one.Group == "" {
				all = append(all, one)
			} else {
				members = append(members, one)
			}
		}
	}
	meet(clients)
	send := func(i int64, r *rig) {
		for k, subscribed := range []bool{len(members) > 0, len(all) > 0} {
			if subscribed {
				r.sendTo(0, &broker.Message{Name: topics[k], Index: i, Partition: int32(i) % int32(to.partitions)})
			}
		}
	}
	for i := range int64(ours) {
		send(i, clients[int(i)%count])
	}
	first := clients[0]
	if len(members) > 0 {
		first.gets("group of all clients", ours, members...)
		first.allWork(members)
	}
	for _, one := range all {
		first.gets("subscriber of one of the clients", ours, one)
	}
	for _, second := range clients[1:] {
		second.within("Remove by client 1", second.remove)
		second.within("Close by client 1", second.close)
	}
	if len(broker.Endpoints(first.session)) == 0 { // without a server a sender notices that a receiver has left only when it sends to it
		settled() // a system that stores nothing may still be handing over messages
		for i := range int64(to.partitions) {
			send(ours+i, first)
		}
		if len(members) > 0 {
			first.eventually(func() bool { return len(together(members...)) >= ours+to.partitions }, func() string { return "the group goes on" })
		}
		if len(all) > 0 {
			all[0].wait(ours + to.partitions)
		}
	}
	first.remove()
	return first
}

// meet exchanges the subscriptions of clients, if there is no server between them.
func meet(clients []*rig) {
	for _, one := range clients {
		var others []broker.Endpoint
		for _, other := range clients {
			if other != one {
				others = append(others, broker.Endpoints(other.session)...)
			}
		}
		if len(others) == 0 {
			continue
		}
		if err := bounded(func(ctx context.Context) error { return broker.Meet(ctx, one.session, others) }); err != nil {
			one.t.Fatalf("meet: %v", err)
		}
	}
}
