package books

import "github.com/mqbench/mqbench/extensions/xk6-mqbench/ledger"

// Counters is the line of one scope (runner/run/client-file.ts). null: the system or pattern has no such figure.
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
	// Behind messages were due while an earlier one of the connection was in flight; null if the sender does not learn of arrivals.
	Behind *int64 `json:"behind"`
}

// Count adds up the messages of one scope. tried[p] is how many sequences of producer p were sent or prevented from leaving. They are
// all below that number, since a producer sends in order.
//
// With S subscribers (1 except for fan-out): sent = acked + failed + unknown and S * acked = delivered + lost. Without
// acknowledgements S * (sent - failed - unknown) = delivered + lost.
func (b *Books) Count(scope string, tried []int64) Counters {
	from, to, n := int64(0), b.from.Load(), 0
	if scope == "window" {
		from, to, n = b.from.Load(), b.to.Load(), 1
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
	if b.Acks {
		c.Acked = &acked
	}
	// null where messages cross: only the ledgers of all clients show it.
	if !b.Crosses {
		c.FailedReceived = &receipts.failed
	}
	if b.receivedSets != nil && !b.Crosses {
		delivered := receipts.received - receipts.failed - receipts.unacked
		c.Received, c.Delivered, c.Lost = &receipts.received, &delivered, &receipts.lost
		if b.Acks || c.Unknown > 0 {
			c.UnackedReceived = &receipts.unacked
		}
	}
	c.Duplicated, c.Late = b.duplicates[n].Load(), b.lates[n].Load()
	if b.Limited {
		timedOut := b.timeouts[n].Load()
		c.TimedOut = &timedOut
	}
	c.Redelivered = b.redeliveries[n].Load()
	if !b.Crosses {
		behind := b.behinds[n].Load()
		c.Behind = &behind
	}
	if b.order != nil {
		reordered := b.reorderings[n].Load()
		c.Reordered = &reordered
	}
	if b.Checksum {
		corrupted := b.corruptions[n].Load()
		c.Corrupted = &corrupted
	}
	return c
}

// --- internal ---

// receiptCounts counts distinct receipts: all of them, those of messages whose send failed, those of messages that were neither
// acknowledged nor failed (without acknowledgements: unknown); and missing receipts.
type receiptCounts struct{ received, failed, unacked, lost int64 }

// add counts what one subscriber received of sequences [lo, hi) of producer p.
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
