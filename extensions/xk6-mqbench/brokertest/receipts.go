package brokertest

import (
	"fmt"
	"slices"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
)

// subscription is one consumer and its receipts.
type subscription struct {
	broker.Subscription
	rig *rig
	// before is called with each delivery before it is recorded, and may block.
	before func(receipt)
	got    []receipt
}

type receipt struct {
	envelope.Envelope
	// payload is only for the handler.
	payload     []byte
	receivedNs  int64
	redelivered bool
}

func (s *subscription) handle(d broker.Delivery) {
	r := s.rig
	e, ok := envelope.Get(d.Payload)
	if !ok || !slices.Equal(d.Payload, payload(r.bytes, e)) {
		r.t.Errorf("a payload of %d bytes arrives changed", len(d.Payload))
		return
	}
	got := receipt{Envelope: e, payload: d.Payload, receivedNs: d.ReceivedNs, redelivered: d.Redelivered}
	if last := now(); got.receivedNs < e.Sent || got.receivedNs > last {
		r.t.Errorf("message %d is received at %d, sent at %d, now is %d", e.Sequence, got.receivedNs, e.Sent, last)
	}
	if s.before != nil {
		s.before(got)
	}
	got.payload = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	s.got = append(s.got, got)
}

// wait returns the first n messages that a subscription gets.
func (s *subscription) wait(n int) []receipt {
	s.rig.t.Helper()
	s.rig.eventually(func() bool { return s.count() >= n }, func() string {
		return fmt.Sprintf("%d messages arrive (%d have)", n, s.count())
	})
	return s.receipts()[:n]
}

func (s *subscription) count() int { return len(s.receipts()) }

// receipts of the subscription, without redeliveries that were in time.
func (s *subscription) receipts() []receipt { return together(s) }

// together are some subscriptions' receipts, one after the other, without copies that came so long after the send that the system had to
// deliver the message again.
func together(all ...*subscription) (got []receipt) {
	for _, s := range all {
		s.rig.mu.Lock()
		got = append(got, s.got...)
		s.rig.mu.Unlock()
	}
	times := counts(got)
	slices.Reverse(got) // the first copy stays
	got = slices.DeleteFunc(got, func(m receipt) bool {
		again := times[m.Sequence] > 1 && all[0].rig.late(m)
		if again {
			times[m.Sequence]--
		}
		return again
	})
	slices.Reverse(got)
	return got
}

// counts is how often each message was received.
func counts(got []receipt) map[uint64]int {
	times := map[uint64]int{}
	for _, m := range got {
		times[m.Sequence]++
	}
	return times
}

// late reports whether the message came so long after its send that the system may have delivered it before.
func (r *rig) late(m receipt) bool {
	return r.redeliversAfter > 0 && m.receivedNs-m.Sent >= int64(r.redeliversAfter)
}

// gets waits until n messages have arrived at subscriptions, together, and fails unless they are the messages 0 .. n-1, each once.
func (r *rig) gets(what string, n int, to ...*subscription) []receipt {
	r.t.Helper()
	r.eventually(func() bool { return len(together(to...)) >= n }, func() string {
		return fmt.Sprintf("%s: %d messages arrive (%d have)", what, n, len(together(to...)))
	})
	settled()
	got := together(to...)
	times := counts(got)
	for i := range uint64(n) {
		if times[i] != 1 {
			r.t.Fatalf("%s: message %d arrives %d times", what, i, times[i])
		}
	}
	if len(times) != n {
		r.t.Errorf("%s: %d different messages arrive; %d were sent", what, len(times), n)
	}
	return got
}

// allWork fails unless each of the members of a group has got something.
func (r *rig) allWork(members []*subscription) {
	r.t.Helper()
	for k, one := range members {
		if one.count() == 0 { // how evenly depends on the scheduling of cores
			r.t.Errorf("member %d of %d gets nothing", k, len(members))
		}
	}
}

// inOrder fails unless sequences go up within each stream, if the system promises that.
func (r *rig) inOrder(what string, got []receipt) {
	r.t.Helper()
	if r.session.Describe().Order != "per-producer" {
		return
	}
	last := map[uint32]uint64{}
	for k, m := range got {
		if before, seen := last[m.Stream]; seen && m.Sequence <= before {
			r.t.Fatalf("%s: message %d comes after message %d, as number %d", what, m.Sequence, before, k)
		}
		last[m.Stream] = m.Sequence
	}
}
