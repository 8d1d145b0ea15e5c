// Package books keeps the fate of each message and the errors, from any goroutine. Message i is sequence i / P of producer i mod P.
package books

import (
	"maps"
	"math"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/ledger"
)

// Shape is which messages are in the books of one client.
type Shape struct {
	// Messages of all clients; those below Warmup belong to the warm-up.
	Messages, Warmup, Producers, Subscribers int64
	// First is the first message that is sent: above 0 in a run that goes on after a cut.
	First int64
	// Own are the producers that live on this client, ascending.
	Own []int64
	// Crosses: messages are received by other clients than their sender. Acks: messages are acknowledged. Checksum: damage can be seen.
	// Limited: the number of messages in flight is limited.
	Crosses, Acks, Checksum, Limited bool
	// Here reports whether a subscriber is on this client; nil if nothing is consumed.
	Here func(subscriber int64) bool
}

// Books keep the fate of each message by producer and sequence, and its receipts by subscriber too.
type Books struct {
	Shape
	// The first message of the window, and the first one after it.
	from, to   atomic.Int64
	failedSets []*ledger.Set
	ackedSets  []*ledger.Set
	// unknownSets are the messages that may or may not have left. With acknowledgements that follows from the other sets.
	unknownSets []*ledger.Set
	// receivedSets has the sets of subscriber s from index s * producers on; it is empty where nothing is consumed. A set is nil if the
	// subscriber is not on this client, or is not to get that producer's messages.
	receivedSets []*ledger.Set
	// freedSets are the messages that have given back their slot: completed, failed, or timed out. timedOutSets are the ones that timed out,
	// and settledLateSets those that have completed or failed since then.
	freedSets, timedOutSets, settledLateSets []*ledger.Set
	// copies has the copies under way, by producer; it is nil if every message has one copy, or if messages cross.
	copies []copies
	// order is nil if the system promises no order, or if order cannot be seen.
	order *order
	// Failures are the messages that failed so far.
	Failures atomic.Int64
	// Unanswered messages may have left and may have arrived; no answer will come.
	Unanswered atomic.Int64
	// Foreign deliveries do not belong to this run.
	Foreign atomic.Int64
	// By scope: 0 warm-up, 1 window.
	duplicates, lates, timeouts, redeliveries, corruptions, reorderings, behinds [2]atomic.Int64

	// mu also makes a timeout one step.
	mu sync.Mutex
	// firsts has the first message of each kind of offence.
	firsts map[string]Message
}

// Message names a message, with its intended time in ns since T0, or nil if unknown.
type Message struct {
	Producer   int64  `json:"producer"`
	Sequence   int64  `json:"sequence"`
	IntendedNs *int64 `json:"intendedNs"`
}

const (
	// NoTime is an unknown time.
	NoTime = math.MaxInt64
	// NoMessage is an unidentified message. It counts as part of the window.
	NoMessage = -1
)

// New opens books in which nothing has happened.
func New(shape Shape) *Books {
	b := &Books{Shape: shape, firsts: map[string]Message{}}
	b.Move(shape.Warmup, shape.Messages)
	sets := func() []*ledger.Set {
		all := make([]*ledger.Set, b.Producers)
		for _, p := range b.Own {
			all[p] = ledger.NewSet(b.Sequences(p, b.Messages))
		}
		return all
	}
	b.failedSets, b.freedSets, b.timedOutSets, b.settledLateSets = sets(), sets(), sets(), sets()
	if b.Acks {
		b.ackedSets = sets()
	} else {
		b.unknownSets = sets()
	}
	switch {
	case b.Here == nil:
	case b.Crosses:
		b.receivedSets = make([]*ledger.Set, b.Subscribers*b.Producers)
		for k := range b.receivedSets {
			if b.Here(int64(k) / b.Producers) {
				b.receivedSets[k] = ledger.NewSet(b.Sequences(int64(k)%b.Producers, b.Messages))
			}
		}
	default:
		for range b.Subscribers {
			b.receivedSets = append(b.receivedSets, sets()...)
		}
		if b.Subscribers > 1 {
			b.copies = make([]copies, b.Producers)
		}
	}
	return b
}

// Move sets the messages of the window: at least from and below to, which is at most Messages.
func (b *Books) Move(from, to int64) {
	b.from.Store(from)
	b.to.Store(to)
}

// WatchOrder turns on counting of overtaken messages in each of a producer's streams. Call it before the first receipt.
func (b *Books) WatchOrder(streams int64) { b.order = newOrder(b.Subscribers, b.Producers, streams) }

// WatchesOrder reports whether overtaken messages are counted.
func (b *Books) WatchesOrder() bool { return b.order != nil }

// Expects reports whether the subscriber is to get messages of producer p on this client.
func (b *Books) Expects(subscriber int, p int64) bool {
	return b.receivedSets[int64(subscriber)*b.Producers+p] != nil
}

// Received records a copy of a message of a stream at a subscriber, and reports whether it is the first one there.
func (b *Books) Received(subscriber int, p, seq, stream, offsetNs int64) bool {
	if !b.receivedSets[int64(subscriber)*b.Producers+p].Add(seq) {
		b.offence(&b.duplicates, "duplicated", seq*b.Producers+p, offsetNs)
		return false
	}
	if b.order != nil && b.order.overtaken(subscriber, p, stream, seq) {
		b.offence(&b.reorderings, "reordered", seq*b.Producers+p, offsetNs)
	}
	return true
}

// Duplicated is the number of second copies so far, warm-up included.
func (b *Books) Duplicated() int64 { return b.duplicates[0].Load() + b.duplicates[1].Load() }

// Late records a message whose response took longer than the timeout.
func (b *Books) Late(i int64) { b.lates[b.scope(i)].Add(1) }

// Behind records a message that was due while an earlier one of its connection was in flight: a tool that waits for replies would have sent it late.
func (b *Books) Behind(i int64) { b.behinds[b.scope(i)].Add(1) }

// Redelivered records a delivery that the broker marks as a second one.
func (b *Books) Redelivered(i, offsetNs int64) {
	b.offence(&b.redeliveries, "redelivered", i, offsetNs)
}

// Corrupted records a payload that was changed on its way. It does not count as received, because only the damaged payload names its message.
func (b *Books) Corrupted(i, offsetNs int64) { b.offence(&b.corruptions, "corrupted", i, offsetNs) }

// Settle takes a message out of flight, and reports whether it was in flight and whether it still had its slot: one that has timed out
// has none. A failed message may still be received, but it leaves only once.
func (b *Books) Settle(p, seq int64) (settled, freed bool) {
	if b.freedSets[p].Add(seq) {
		return true, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.timedOutSets[p].Has(seq) && b.settledLateSets[p].Add(seq), false
}

// TimeOut gives back the slot of a message that has not settled, and reports whether it had one.
func (b *Books) TimeOut(p, seq int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.freedSets[p].Add(seq) {
		return false
	}
	b.timedOutSets[p].Add(seq)
	b.timeouts[b.scope(seq*b.Producers+p)].Add(1)
	return true
}

// NextHeld is the first sequence of producer p in [from, to) that has not given back its slot, or to.
func (b *Books) NextHeld(p, from, to int64) int64 { return b.freedSets[p].NextAbsent(from, to) }

// Timeouts is the number of messages that have timed out so far, warm-up included.
func (b *Books) Timeouts() int64 { return b.timeouts[0].Load() + b.timeouts[1].Load() }

// Acked records an acknowledgement.
func (b *Books) Acked(p, seq int64) { b.ackedSets[p].Add(seq) }

// Unknown records that no answer will show whether a message left. Call it once for a message.
func (b *Books) Unknown(p, seq int64) {
	b.Unanswered.Add(1)
	if !b.Acks {
		b.unknownSets[p].Add(seq)
	}
}

// Failed records that a send failed. A second call for the same message changes nothing.
func (b *Books) Failed(p, seq, offsetNs int64) {
	if b.failedSets[p].Add(seq) {
		b.Failures.Add(1)
		b.first("failed", seq*b.Producers+p, offsetNs)
	}
}

// FindLost finds the first message that is missing at a subscriber, at the end; none where messages cross, which takes all clients' ledgers.
func (b *Books) FindLost(tried []int64, offset func(i int64) int64) {
	best := int64(-1)
	for k, received := range b.receivedSets {
		if b.Crosses || received == nil {
			continue
		}
		p := int64(k) % b.Producers
		first := b.Sequences(p, b.First)
		some := func(below int64) bool {
			var receipts receiptCounts
			receipts.add(b, p, received, first, below)
			return receipts.lost > 0
		}
		if !some(tried[p]) {
			continue
		}
		seq := first + int64(sort.Search(int(tried[p]-first), func(n int) bool { return some(first + int64(n) + 1) }))
		if i := seq*b.Producers + p; best < 0 || i < best {
			best = i
		}
	}
	if best >= 0 {
		b.first("lost", best, offset(best))
	}
}

// Offenders lists the first message of each kind of offence.
func (b *Books) Offenders() map[string]Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.firsts)
}

// --- internal ---

func (b *Books) offence(counter *[2]atomic.Int64, kind string, i, offsetNs int64) {
	counter[b.scope(i)].Add(1)
	if i != NoMessage {
		b.first(kind, i, offsetNs)
	}
}

// first keeps the message with the earliest intended time of a kind.
func (b *Books) first(kind string, i, offsetNs int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.firsts[kind]; ok && (offsetNs == NoTime || old.IntendedNs != nil && *old.IntendedNs <= offsetNs) {
		return
	}
	m := Message{Producer: i % b.Producers, Sequence: i / b.Producers}
	if offsetNs != NoTime {
		m.IntendedNs = &offsetNs
	}
	b.firsts[kind] = m
}

// Sequences is how many messages below i belong to producer p: message i is sequence i/P of producer i mod P.
func (b *Books) Sequences(p, i int64) int64 {
	if i <= p {
		return 0
	}
	return (i-p-1)/b.Producers + 1
}

func (b *Books) scope(i int64) int {
	if i != NoMessage && i < b.from.Load() {
		return 0
	}
	return 1
}
