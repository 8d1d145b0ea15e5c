package books

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/ledger"
)

// Counters is the line of one scope (runner/model/client-file.ts). A figure is null if the system or pattern does not have it.
type Counters struct {
	Type            string `json:"type"`
	Scope           string `json:"scope"`
	Intended        int64  `json:"intended"`
	NotOffered      int64  `json:"notOffered"`
	Sent            int64  `json:"sent"`
	Acked           *int64 `json:"acked"`
	Failed          int64  `json:"failed"`
	Unknown         int64  `json:"unknown"`
	Received        *int64 `json:"received"`
	Delivered       *int64 `json:"delivered"`
	Lost            *int64 `json:"lost"`
	Duplicated      int64  `json:"duplicated"`
	Reordered       *int64 `json:"reordered"`
	FailedReceived  *int64 `json:"failedReceived"`
	UnackedReceived *int64 `json:"unackedReceived"`
	Late            int64  `json:"late"`
	// TimedOut messages gave back their slot before they completed, if they ever did; null where slots are not limited.
	TimedOut    *int64 `json:"timedOut"`
	Redelivered int64  `json:"redelivered"`
	// Corrupted is null where payloads carry no checksum.
	Corrupted *int64 `json:"corrupted"`
	// Behind messages were due while an earlier one of the connection was in flight; null if the sender is not notified of arrivals.
	Behind *int64 `json:"behind"`
}

// Count adds up the messages of one scope. tried[p] is how many sequences of producer p were sent or prevented from leaving. They are
// all below that number, since a producer sends in order.
//
// With S subscribers (1 except for fan-out): sent = acked + failed + unknown and S * acked = delivered + lost. Without
// acknowledgements S * (sent - failed - unknown) = delivered + lost.
func (b *Books) Count(scope string, tried []int64) Counters {
	return b.CountUntil(scope, tried, b.to.Load())
}

// CountUntil is Count of a window that ends before message to.
func (b *Books) CountUntil(scope string, tried []int64, to int64) Counters {
	from, n := b.from.Load(), 1
	if scope == "warmup" {
		from, to, n = b.First, from, 0
	}
	c := Counters{Type: "counters", Scope: scope}
	var acked int64
	var receipts receiptCounts
	for _, p := range b.Own {
		c.Intended += b.Sequences(p, to) - b.Sequences(p, from)
		lo, hi := b.Sequences(p, from), min(b.Sequences(p, to), tried[p])
		if hi <= lo {
			continue
		}
		failed := b.failedSets[p]
		c.Sent += hi - lo
		c.Failed += failed.Count(lo, hi)
		if b.Acks {
			n := b.ackedSets[p].Count(lo, hi)
			acked += n
			c.Unknown += hi - lo - n - ledger.CountWhere(lo, hi, failed, b.ackedSets[p])
		} else {
			c.Unknown += b.unknownSets[p].Count(lo, hi)
		}
		for k := p; k < int64(len(b.receivedSets)) && !b.Crosses; k += b.Producers {
			receipts.add(b, p, b.receivedSets[k], lo, hi)
		}
	}
	c.NotOffered = c.Intended - c.Sent
	only := func(where bool, n int64) *int64 {
		if !where {
			return nil
		}
		return &n
	}
	c.Acked = only(b.Acks, acked)
	// Where messages cross only the ledgers of all clients show receipts.
	consumed := b.receivedSets != nil && !b.Crosses
	c.FailedReceived = only(!b.Crosses, receipts.failed)
	c.Received, c.Lost = only(consumed, receipts.received), only(consumed, receipts.lost)
	c.Delivered = only(consumed, receipts.received-receipts.failed-receipts.unacked)
	c.UnackedReceived = only(consumed && (b.Acks || c.Unknown > 0), receipts.unacked)
	c.Duplicated, c.Late, c.Redelivered = b.duplicates[n].Load(), b.lates[n].Load(), b.redeliveries[n].Load()
	c.TimedOut = only(b.Limited, b.timeouts[n].Load())
	c.Behind = only(!b.Crosses, b.behinds[n].Load())
	c.Reordered = only(b.order != nil, b.reorderings[n].Load())
	c.Corrupted = only(b.Checksum, b.corruptions[n].Load())
	return c
}

// Errors counts errors by their wording. Its zero value is empty. A known one takes no lock: the pacer's own thread may count it.
type Errors struct {
	// raw has a *note for each wording as it came, passwords included; kinds is their number.
	raw   sync.Map
	kinds atomic.Int64
}

type note struct {
	count   atomic.Int64
	firstNs *int64
}

// Error is one wording and how often it occurred.
type Error struct {
	Message string `json:"message"`
	Count   int64  `json:"count"`
	// FirstNs is the intended time (ns since T0) of the first message with this error; nil if the error belongs to no message.
	FirstNs *int64 `json:"firstNs"`
}

const (
	// errorKinds is how many different wordings are listed.
	errorKinds = 20
	// rawKinds is how many are kept apart until then.
	rawKinds = 1000
	others   = "other errors"
)

// Note counts an error that belongs to no message.
func (t *Errors) Note(err error) { t.count(err, nil) }

// NoteAt counts an error of the message with this intended time.
func (t *Errors) NoteAt(err error, offsetNs int64) { t.count(err, &offsetNs) }

// List is without passwords and sorted by count, the most frequent first. The rarest of too many are put together.
func (t *Errors) List() []Error {
	notes := map[string]*Error{}
	t.raw.Range(func(text, counted any) bool {
		message, n := address.MaskedText(text.(string)), counted.(*note)
		e := notes[message]
		if e == nil {
			e = &Error{Message: message}
			notes[message] = e
		}
		e.Count += n.count.Load()
		e.FirstNs = earlier(e.FirstNs, n.firstNs)
		return true
	})
	list := make([]Error, 0, len(notes))
	for _, n := range notes {
		list = append(list, *n)
	}
	slices.SortFunc(list, func(x, y Error) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), strings.Compare(x.Message, y.Message))
	})
	if len(list) > errorKinds {
		rest := Error{Message: others}
		for _, n := range list[errorKinds-1:] {
			rest.Count += n.Count
			rest.FirstNs = earlier(rest.FirstNs, n.FirstNs)
		}
		list = append(list[:errorKinds-1], rest)
	}
	return list
}

// --- internal ---

// receiptCounts counts distinct receipts: all receipts, receipts of messages whose send failed, receipts of messages that were neither
// acknowledged nor failed (without acknowledgements: unknown); and missing receipts.
type receiptCounts struct{ received, failed, unacked, lost int64 }

// add counts one subscriber's receipts of sequences [lo, hi) of producer p.
func (r *receiptCounts) add(b *Books, p int64, received *ledger.Set, lo, hi int64) {
	failed := b.failedSets[p]
	all := received.Count(lo, hi)
	failedReceived := all - ledger.CountWhere(lo, hi, received, failed)
	r.received += all
	r.failed += failedReceived
	if b.Acks {
		r.lost += ledger.CountWhere(lo, hi, b.ackedSets[p], received)
		r.unacked += ledger.CountWhere(lo, hi, received, b.ackedSets[p]) - failedReceived
		return
	}
	unknown := b.unknownSets[p]
	missing := ledger.CountWhere(lo, hi, unknown, received)
	r.unacked += unknown.Count(lo, hi) - missing
	r.lost += ledger.CountWhere(lo, hi, nil, received) - ledger.CountWhere(lo, hi, failed, received) - missing
}

func (t *Errors) count(err error, offsetNs *int64) {
	text := err.Error()
	n, known := t.raw.Load(text)
	if !known {
		if t.kinds.Add(1) > rawKinds {
			text = others
		}
		n, _ = t.raw.LoadOrStore(text, &note{firstNs: offsetNs})
	}
	n.(*note).count.Add(1)
}

func earlier(a, b *int64) *int64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}
