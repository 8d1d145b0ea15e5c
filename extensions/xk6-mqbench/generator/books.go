package generator

import (
	"maps"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/ledger"
)

// books knows of every message what became of it, by producer and sequence.
type books struct {
	messages, warmup, producers int64
	acks, checksum              bool
	failedSets                  []*ledger.Set
	ackedSets                   []*ledger.Set
	receivedSets                []*ledger.Set
	// settledSets are the messages out of flight: received or failed.
	settledSets []*ledger.Set
	// ordered: the system promises each producer's order, and one consumer sees it.
	ordered  bool
	failures atomic.Int64
	foreign  atomic.Int64
	// highest is, by producer, the largest sequence received so far.
	highest []atomic.Int64
	// By scope: 0 warm-up, 1 window.
	duplicates, lates, redeliveries, corruptions, reorderings, behinds [2]atomic.Int64

	mu     sync.Mutex
	errors map[string]*errorNote
	// firsts is, by kind of offence, the first message that committed it.
	firsts map[string]firstMessage
}

// firstMessage names a message.
type firstMessage struct {
	Producer   int64 `json:"producer"`
	Sequence   int64 `json:"sequence"`
	IntendedNs int64 `json:"intendedNs"`
}

type errorNote struct {
	Message string `json:"message"`
	Count   int64  `json:"count"`
	FirstNs *int64 `json:"firstNs"`
}

func newBooks(plan *Plan) *books {
	b := &books{
		messages:  plan.Schedule.Messages,
		warmup:    plan.Schedule.WarmupMessages,
		producers: int64(plan.Producers),
		checksum:  plan.Message.Checksum,
		highest:   make([]atomic.Int64, plan.Producers),
		errors:    map[string]*errorNote{},
		firsts:    map[string]firstMessage{},
	}
	for p := range b.producers {
		size := b.sequences(p, b.messages)
		b.failedSets = append(b.failedSets, ledger.NewSet(size))
		b.ackedSets = append(b.ackedSets, ledger.NewSet(size))
		b.receivedSets = append(b.receivedSets, ledger.NewSet(size))
		b.settledSets = append(b.settledSets, ledger.NewSet(size))
	}
	return b
}

// received notes a copy of message i and reports whether it is the first.
func (b *books) received(i, offsetNs int64) bool {
	p, seq := i%b.producers, i/b.producers
	if already, _ := b.receivedSets[p].Add(seq); already {
		b.offence(&b.duplicates, "duplicated", i, offsetNs)
		return false
	}
	if !b.ordered {
		return true
	}
	// RFC 4737: a message is reordered when a later one has been received before it.
	if highest := b.highest[p].Load(); seq < highest {
		b.offence(&b.reorderings, "reordered", i, offsetNs)
	} else {
		b.highest[p].Store(seq)
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

// findLost finds the first lost message; only the end can tell.
func (b *books) findLost(tried []int64, offset func(i int64) int64) {
	best := int64(-1)
	for p := range b.producers {
		promised := b.ackedSets[p]
		for seq := int64(0); seq < tried[p]; seq++ {
			if b.receivedSets[p].Has(seq) {
				continue
			}
			if b.acks && !promised.Has(seq) || !b.acks && b.failedSets[p].Has(seq) {
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

// counters is the line of one scope. null stands for what the system does not have.
type counters struct {
	Type            string `json:"type"`
	Scope           string `json:"scope"`
	Intended        int64  `json:"intended"`
	NotOffered      int64  `json:"notOffered"`
	Sent            int64  `json:"sent"`
	Acked           *int64 `json:"acked"`
	Failed          int64  `json:"failed"`
	Unknown         int64  `json:"unknown"`
	Received        int64  `json:"received"`
	Delivered       int64  `json:"delivered"`
	Lost            int64  `json:"lost"`
	Duplicated      int64  `json:"duplicated"`
	Reordered       *int64 `json:"reordered"`
	FailedReceived  int64  `json:"failedReceived"`
	UnackedReceived *int64 `json:"unackedReceived"`
	Late            int64  `json:"late"`
	Redelivered     int64  `json:"redelivered"`
	// Corrupted is null where payloads carry no checksum.
	Corrupted *int64 `json:"corrupted"`
	// Behind: due while an earlier message of the connection was in flight.
	Behind int64 `json:"behind"`
}

// count adds up the messages of one scope. tried[p] is how many sequences of producer p were sent, or kept from leaving;
// those are all below it, since a producer sends in order.
//
// sent = acked + failed + unknown and acked = delivered + lost; where nothing is acknowledged, sent = delivered + lost +
// failed, and unknown is 0.
func (b *books) count(scope string, tried []int64) counters {
	from, to := int64(0), b.warmup
	if scope == "window" {
		from, to = b.warmup, b.messages
	}
	c := counters{Type: "counters", Scope: scope, Intended: to - from}
	var acked, unackedReceived int64
	for p := range b.producers {
		lo, hi := b.sequences(p, from), min(b.sequences(p, to), tried[p])
		if hi <= lo {
			continue
		}
		failed, received := b.failedSets[p], b.receivedSets[p]
		c.Sent += hi - lo
		c.Failed += failed.Count(lo, hi)
		all := received.Count(lo, hi)
		c.Received += all
		c.FailedReceived += all - ledger.CountWhere(lo, hi, received, failed)
		if !b.acks {
			missing := ledger.CountWhere(lo, hi, nil, received)
			failedMissing := ledger.CountWhere(lo, hi, failed, received)
			c.Lost += missing - failedMissing
			continue
		}
		set := b.ackedSets[p]
		n := set.Count(lo, hi)
		acked += n
		c.Unknown += hi - lo - n - ledger.CountWhere(lo, hi, failed, set)
		c.Lost += ledger.CountWhere(lo, hi, set, received)
		unackedReceived += ledger.CountWhere(lo, hi, received, set)
	}
	c.NotOffered = c.Intended - c.Sent
	c.Delivered = c.Received - c.FailedReceived
	if b.acks {
		unackedReceived -= c.FailedReceived
		c.Delivered -= unackedReceived
		c.Acked, c.UnackedReceived = &acked, &unackedReceived
	}
	n := 0
	if scope == "window" {
		n = 1
	}
	c.Duplicated, c.Late = b.duplicates[n].Load(), b.lates[n].Load()
	c.Redelivered, c.Behind = b.redeliveries[n].Load(), b.behinds[n].Load()
	if b.ordered {
		reordered := b.reorderings[n].Load()
		c.Reordered = &reordered
	}
	if b.checksum {
		corrupted := b.corruptions[n].Load()
		c.Corrupted = &corrupted
	}
	return c
}

// errorKinds is how many different messages are kept apart.
const errorKinds = 20

// credentials of a URL; a password may hold anything but blanks and quotes.
var credentials = regexp.MustCompile(`://[^\s"']*@`)

// note counts an error by its wording. offsetNs is the intended time of the message that met it, if one did.
func (b *books) note(err error, offsetNs *int64) {
	text := credentials.ReplaceAllString(err.Error(), "://***@")
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.errors[text]
	if n == nil {
		if len(b.errors) >= errorKinds-1 {
			text = "other errors"
		}
		if n = b.errors[text]; n == nil {
			n = &errorNote{Message: text, FirstNs: offsetNs}
			b.errors[text] = n
		}
	}
	n.Count++
}

// notes lists the errors, the commonest first.
func (b *books) notes() []errorNote {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]errorNote, 0, len(b.errors))
	for _, n := range b.errors {
		list = append(list, *n)
	}
	slices.SortFunc(list, func(x, y errorNote) int {
		if x.Count != y.Count {
			return int(y.Count - x.Count)
		}
		if x.Message < y.Message {
			return -1
		}
		return 1
	})
	return list
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
