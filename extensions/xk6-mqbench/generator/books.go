package generator

import (
	"regexp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/ledger"
)

// books knows of every message what became of it, by producer and sequence.
type books struct {
	messages, warmup, producers int64
	acks                        bool
	failedSets                  []*ledger.Set
	ackedSets                   []*ledger.Set
	receivedSets                []*ledger.Set
	failures                    atomic.Int64
	foreign                     atomic.Int64
	// By scope: 0 warm-up, 1 window.
	duplicates, lates [2]atomic.Int64

	mu     sync.Mutex
	errors map[string]*errorNote
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
		errors:    map[string]*errorNote{},
	}
	for p := range b.producers {
		size := b.sequences(p, b.messages)
		b.failedSets = append(b.failedSets, ledger.NewSet(size))
		b.ackedSets = append(b.ackedSets, ledger.NewSet(size))
		b.receivedSets = append(b.receivedSets, ledger.NewSet(size))
	}
	return b
}

// received notes a copy of message i and reports whether it is the first.
func (b *books) received(i int64) bool {
	already, _ := b.receivedSets[i%b.producers].Add(i / b.producers)
	if already {
		b.duplicates[b.scope(i)].Add(1)
	}
	return !already
}

func (b *books) late(i int64) { b.lates[b.scope(i)].Add(1) }

func (b *books) acked(i int64) { b.ackedSets[i%b.producers].Add(i / b.producers) }

func (b *books) failed(i int64) {
	if already, ok := b.failedSets[i%b.producers].Add(i / b.producers); ok && !already {
		b.failures.Add(1)
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
	return c
}

// errorKinds is how many different messages are kept apart.
const errorKinds = 20

var credentials = regexp.MustCompile(`://[^/@\s]*@`)

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

// --- internal ---

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
