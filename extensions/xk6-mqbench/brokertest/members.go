package brokertest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Members of a group that leave, are killed and join, each as a client of the run that it is by itself.

const (
	membersRate = 400
	// before the first change, between changes, and after the last one.
	membersPause = 400 * time.Millisecond
)

func membersComeAndGo(t *testing.T, s System) {
	s.needs(t, broker.Part{Clients: 2})
	facts := s.facts(t)
	if s.NoGroups || s.OneMember || facts.Inline {
		t.Skip("the system has no groups of several members, or no server")
	}
	const stays, leaves, dies, joins = 0, 1, 2, 3
	topic := named("members")[0]
	to := shape{connections: 1, partitions: 1, part: broker.Part{Clients: 4}}
	if s.Partitions {
		to.partitions = 4
	}
	for client := range 4 {
		to.consumers = append(to.consumers, broker.Subscription{Client: client, Topic: topic, Group: "workers"})
	}
	first := open(t, s, to, topic)
	if _, peer := broker.Ability[broker.Peer](first.session); peer {
		t.Skip("there is no server that would notice that a member is gone")
	}
	member := func(client int, before func(receipt)) *subscription {
		of := to
		of.part.Client = client
		r := start(t, s, of, topic)
		if err := r.prepare(); err != nil {
			t.Fatalf("prepare as client %d: %v", client, err)
		}
		return r.consumer(client, before)
	}
	all := make([]*subscription, 4)
	all[stays] = first.consumer(stays, nil)
	held, over := make(chan uint64, 1), make(chan struct{})
	t.Cleanup(func() { close(over) })
	gone := make(chan struct{})
	all[leaves] = member(leaves, func(receipt) {
		select {
		case <-gone: // as in a run: a member that left takes nothing
			<-over
		default:
		}
	})
	all[dies] = member(dies, func(m receipt) {
		if m.Sequence < membersRate/4 {
			return
		}
		select {
		case held <- m.Sequence:
		default:
		}
		<-over
	})
	stop, sent := make(chan struct{}), make(chan int64)
	go func() {
		for began, i := time.Now(), int64(0); ; i++ {
			select {
			case <-stop:
				sent <- i
				return
			case <-time.After(time.Until(began.Add(time.Duration(i) * time.Second / membersRate))):
			}
			first.sendTo(0, &broker.Message{Name: topic, Index: i, Partition: int32(i) % int32(to.partitions)})
		}
	}()
	all[leaves].wait(1)
	time.Sleep(membersPause)

	leaver := all[leaves].rig
	leaver.within("Leave and Close", func() {
		if able, ok := leaver.session.(broker.Leaver); ok {
			if err := bounded(able.Leave); err != nil {
				t.Errorf("Leave = %v", err)
			}
		}
		close(gone)
		settled() // its last message is acknowledged
		leaver.close()
	})
	left := all[leaves].count()

	var unfinished uint64
	first.within("the wait of the member that is killed for a message", func() { unfinished = <-held })
	if err := broker.Kill(all[dies].rig.session); err != nil {
		t.Fatal(err)
	}
	killedNs := now()
	all[dies].rig.within("Close of a killed session", all[dies].rig.close)
	time.Sleep(membersPause)

	all[joins] = member(joins, nil)
	all[joins].wait(1)
	time.Sleep(membersPause)
	close(stop)
	n := <-sent

	keeps := facts.Stores && !s.NoTakeover
	missing := func() (missing []int64) {
		have := counts(together(all...))
		first.mu.Lock()
		defer first.mu.Unlock()
		for i := range n {
			// Messages of a dead member are lost if the system gives them to no other member.
			if have[uint64(i)] == 0 && (keeps || first.done[i].sentNs > killedNs+int64(membersPause)) {
				missing = append(missing, i)
			}
		}
		return missing
	}
	first.eventually(func() bool { return len(missing()) == 0 }, func() string {
		lost := missing()
		return fmt.Sprintf("all of %d messages arrive; %d are missing: %v", n, len(lost), lost[:min(10, len(lost))])
	})
	settled()
	if all[leaves].count() > left {
		t.Errorf("the member that left got %d messages before and %d after", left, all[leaves].count()-left)
	}
	others := counts(together(all[stays], all[joins]))
	for _, m := range all[leaves].receipts() {
		if others[m.Sequence] > 0 && !first.late(m) {
			t.Errorf("message %d was handled by the member that left, and came again", m.Sequence)
			break
		}
	}
	for _, m := range slices.Concat(all[stays].receipts(), all[joins].receipts()) {
		if keeps && s.FlagsRedelivery && m.Sequence == unfinished && !m.redelivered {
			t.Errorf("message %d was handed to the killed member before, and has no flag that says so", unfinished)
		}
	}
}
