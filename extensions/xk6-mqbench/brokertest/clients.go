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
	if s.refuses(t, broker.Part{Clients: 2}) {
		t.Skip("the driver serves one client")
	}
	if s.facts(t).Inline {
		t.Skip("there is no broker between clients")
	}
	topics := named("shared", "all")
	to := s.several(t)
	first := open(t, s, s.shared(&to, topics, !s.NoFanOut), topics...)
	share(s, to, first)
	first.remove()
	if s.Exists != nil {
		for _, topic := range topics {
			if s.Exists(t, topic) {
				t.Errorf("%s is still there after Remove by client 0", topic)
			}
		}
	}
	first.within("Close", first.close)
}

func usesExisting(t *testing.T, s System) {
	if s.refuses(t, broker.Part{Run: "run"}) {
		t.Skip("the driver makes its topics")
	}
	topics := named("existing", "existing-too")
	to := s.make(t, topics)
	first := open(t, s, s.shared(&to, topics, !s.NoFanOut && !s.Queues), topics...)
	share(s, to, first)
	first.remove()
	if s.Exists != nil && s.Make != nil {
		for _, topic := range topics {
			if !s.Exists(t, topic) {
				t.Errorf("%s, which was there before the run, is gone", topic)
			}
		}
	}
	if s.Traces != nil {
		if left := s.Traces(t, to.part.Run, topics); len(left) > 0 {
			t.Errorf("the run leaves %q behind", left)
		}
	}
	first.within("Close", first.close)
}

func keepsRunsApart(t *testing.T, s System) {
	if s.NoGroups || s.NoFanOut || s.Queues {
		t.Skip("a topic has one group")
	}
	if s.refuses(t, broker.Part{Run: "run"}) {
		t.Skip("the driver makes its topics")
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
	if s.refuses(t, broker.Part{Run: "run"}) {
		t.Skip("the driver makes its topics")
	}
	topics := named("missing")
	if s.Make == nil {
		t.Skip("topics are there when they are used")
	}
	err := start(t, s, shape{part: broker.Part{Run: runName(topics)}}, topics...).prepare()
	if err == nil || !strings.Contains(err.Error(), topics[0]+" does not exist") || !strings.Contains(err.Error(), "drop create: false") {
		t.Errorf("Prepare = %v; want a sentence that %s does not exist, and what to do", err, topics[0])
	}
	if s.Exists(t, topics[0]) {
		t.Errorf("%s was not there, and now is", topics[0])
	}
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

// make makes topics as their user would, with messages in them, and returns a session of two on them. It skips the test without a broker.
func (s System) make(t *testing.T, topics []string) shape {
	t.Helper()
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
		for i := range int64(20) {
			for _, topic := range topics {
				user.sendTo(0, &broker.Message{Name: topic, Index: old + i, Partition: int32(i % int64(to.partitions))})
			}
		}
		user.settles()
		// A server that acknowledges nothing may not have read them yet. It has when one that was sent after them arrives.
		for k, topic := range topics {
			reads := user.consumer(k, nil)
			var sent time.Time
			user.eventually(func() bool {
				// One that nobody acknowledges is lost where the server does not yet know that it leads the topic.
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

// shared adds what share consumes: on each client a member of a group of the first topic, and a subscriber of the second one.
func (s System) shared(to *shape, topics []string, fanOut bool) shape {
	for client := range max(1, to.part.Clients) {
		if !s.NoGroups {
			to.consumers = append(to.consumers, broker.Subscription{Client: client, Connection: 1, Topic: topics[0], Group: "workers"})
		}
		if fanOut {
			to.consumers = append(to.consumers, broker.Subscription{Client: client, Connection: 2, Topic: topics[1]})
		}
	}
	return *to
}

// share lets a second client join the first, if the driver can. Both send to both topics; on the first topic they share a group, on the
// second one each gets all. Then the second client leaves, and the first must not notice.
func share(s System, to shape, first *rig) {
	t, topics := first.t, first.topics
	t.Helper()
	var members, all []*subscription
	consume := func(r *rig) {
		// Slowly: with one queue, a fast member would have all of it before the other one wakes up.
		for _, one := range r.consume(func(receipt) { time.Sleep(100 * time.Microsecond) }) {
			if one.Group == "" {
				all = append(all, one)
			} else {
				members = append(members, one)
			}
		}
	}
	consume(first)
	clients := []*rig{first}
	if to.part.Clients > 1 {
		to.part.Client = 1
		clients = append(clients, open(t, s, to, topics...))
		consume(clients[1])
		meet(clients)
	}
	send := func(i int64, r *rig) {
		for k, subscribed := range []bool{!s.NoGroups, len(all) > 0} {
			if subscribed {
				r.sendTo(0, &broker.Message{Name: topics[k], Index: i, Partition: int32(i) % int32(to.partitions)})
			}
		}
	}
	for i := range int64(ours) {
		send(i, clients[int(i)%len(clients)])
	}
	if len(members) > 0 {
		first.gets("group of two clients", ours, members...)
		first.allWork(members)
	}
	for _, one := range all {
		first.gets("subscriber of one of two clients", ours, one)
	}
	for _, second := range clients[1:] {
		second.within("Remove by client 1", second.remove)
		second.within("Close by client 1", second.close)
	}
	if len(broker.Endpoints(first.session)) > 0 {
		return // without a server nobody hears that a receiver has left before something is sent to it
	}
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

// meet makes the subscriptions of clients known to each other, where there is no server between them.
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
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if err := broker.Meet(ctx, one.session, others); err != nil {
			one.t.Fatalf("meet: %v", err)
		}
		cancel()
	}
}
