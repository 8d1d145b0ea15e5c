package generator

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/ledger"
)

// books knows of every message what became of it, by producer and sequence; of its receipts also by subscriber.
type books struct {
	messages, warmup, producers, subscribers int64
	// own producers: those whose messages are sent here. All others have no sets but those of receipts.
	own            []int64
	crosses        bool
	acks, checksum bool
	failedSets     []*ledger.Set
	ackedSets      []*ledger.Set
	// receivedSets has those of subscriber s from s * producers on; it is empty where nothing is consumed. A set is nil where
	// the subscriber is not here, or is not to have that producer's messages.
	receivedSets []*ledger.Set
	// settledSets are the messages out of flight: completed or failed.
	settledSets []*ledger.Set
	// order is nil where the system promises none, or none that can be seen.
	order    *order
	failures atomic.Int64
	// unanswered messages will never be acknowledged, and may have arrived: they are neither acked nor failed.
	unanswered atomic.Int64
	foreign    atomic.Int64
	// By scope: 0 warm-up, 1 window.
	duplicates, lates, redeliveries, corruptions, reorderings, behinds [2]atomic.Int64

	mu sync.Mutex
	// firsts is, by kind of offence, the first message that committed it.
	firsts map[string]firstMessage
}

// firstMessage names a message.
type firstMessage struct {
	Producer   int64 `json:"producer"`
	Sequence   int64 `json:"sequence"`
	IntendedNs int64 `json:"intendedNs"`
}

func newBooks(plan *Plan, share *share) *books {
	b := &books{
		own:         share.own,
		crosses:     plan.crosses(),
		messages:    plan.Schedule.Messages,
		warmup:      plan.Schedule.WarmupMessages,
		producers:   int64(plan.Producers),
		subscribers: plan.subscribers(),
		acks:        plan.Acks,
		checksum:    plan.Message.Checksum,
		firsts:      map[string]firstMessage{},
	}
	sets := func() []*ledger.Set {
		all := make([]*ledger.Set, b.producers)
		for _, p := range b.own {
			all[p] = ledger.NewSet(b.sequences(p, b.messages))
		}
		return all
	}
	b.failedSets, b.settledSets = sets(), sets()
	if b.acks {
		b.ackedSets = sets()
	}
	switch {
	case b.crosses:
		b.receivedSets = make([]*ledger.Set, b.subscribers*b.producers)
		for k := range b.receivedSets {
			if _, here := share.consumer(k / plan.Producers); here || plan.Pattern != fanOut {
				b.receivedSets[k] = ledger.NewSet(b.sequences(int64(k)%b.producers, b.messages))
			}
		}
	case plan.receives():
		for range b.subscribers {
			b.receivedSets = append(b.receivedSets, sets()...)
		}
	}
	return b
}

// expects: the subscriber is to have message i here.
func (b *books) expects(subscriber int, i int64) bool {
	return b.receivedSets[int64(subscriber)*b.producers+i%b.producers] != nil
}

// received notes a copy of message i, sent into a stream, at a subscriber, and reports whether it is the first there.
func (b *books) received(subscriber int, i, stream, offsetNs int64) bool {
	p, seq := i%b.producers, i/b.producers
	if already, _ := b.receivedSets[int64(subscriber)*b.producers+p].Add(seq); already {
		b.offence(&b.duplicates, "duplicated", i, offsetNs)
		return false
	}
	if b.order != nil && b.order.overtaken(subscriber, p, stream, seq) {
		b.offence(&b.reorderings, "reordered", i, offsetNs)
	}
	return true
}

// duplicated is the number of second copies so far, warm-up included.
func (b *books) duplicated() int64 { return b.duplicates[0].Load() + b.duplicates[1].Load() }

func (b *books) late(i int64) { b.lates[b.scope(i)].Add(1) }

// behind notes a message that was due while an earlier one of its connection was in flight: a tool that waits for each
// reply would not have sent it at its time.
func (b *books) behind(i int64) { b.behinds[b.scope(i)].Add(1) }

func (b *books) redelivered(i, offsetNs int64) {
	b.offence(&b.redeliveries, "redelivered", i, offsetNs)
}

// corrupted notes a payload that was changed on its way. It counts as not received: whose it is is only what it says itself.
func (b *books) corrupted(i, offsetNs int64) { b.offence(&b.corruptions, "corrupted", i, offsetNs) }

// settle takes message i out of flight and reports whether it was in it: a message that failed may be received all the
// same, and leaves only once.
func (b *books) settle(i int64) bool {
	already, ok := b.settledSets[i%b.producers].Add(i / b.producers)
	return ok && !already
}

func (b *books) acked(i int64) { b.ackedSets[i%b.producers].Add(i / b.producers) }

func (b *books) failed(i, offsetNs int64) {
	if already, ok := b.failedSets[i%b.producers].Add(i / b.producers); ok && !already {
		b.failures.Add(1)
		b.first("failed", i, offsetNs)
	}
}

// findLost finds the first message that is missing at a subscriber; only the end can tell, and where messages cross only all
// clients together.
func (b *books) findLost(tried []int64, offset func(i int64) int64) {
	best := int64(-1)
	for k, received := range b.receivedSets {
		if b.crosses || received == nil {
			continue
		}
		p := int64(k) % b.producers
		var receipts receiptCounts
		if receipts.add(b, p, received, 0, tried[p]); receipts.lost == 0 {
			continue
		}
		for seq := int64(0); seq < tried[p]; seq++ {
			if received.Has(seq) || b.acks && !b.ackedSets[p].Has(seq) || !b.acks && b.failedSets[p].Has(seq) {
				continue
			}
			if i := seq*b.producers + p; best < 0 || i < best {
				best = i
			}
			break
		}
	}
	if best >= 0 {
		b.first("lost", best, offset(best))
	}
}

// offenders lists the first message of each kind of offence.
func (b *books) offenders() map[string]firstMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.firsts)
}

// --- internal ---

func (b *books) offence(counter *[2]atomic.Int64, kind string, i, offsetNs int64) {
	counter[b.scope(i)].Add(1)
	b.first(kind, i, offsetNs)
}

// first keeps the earliest intended message of a kind.
func (b *books) first(kind string, i, offsetNs int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.firsts[kind]; !ok || offsetNs < old.IntendedNs {
		b.firsts[kind] = firstMessage{Producer: i % b.producers, Sequence: i / b.producers, IntendedNs: offsetNs}
	}
}

// sequences is how many messages below i belong to producer p: message i is sequence i/P of producer i mod P.
func (b *books) sequences(p, i int64) int64 {
	if i <= p {
		return 0
	}
	return (i-p-1)/b.producers + 1
}

func (b *books) scope(i int64) int {
	if i < b.warmup {
		return 0
	}
	return 1
}
