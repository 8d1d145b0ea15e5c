package books

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/ledger"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// WriteLedger writes the fate of the messages that were sent here, and the messages received here: lines of client-<i>.ledger, one for
// each set that is not empty. tried[p] is how many messages of producer p were sent or prevented from leaving.
func (b *Books) WriteLedger(file *recorder.File, tried []int64) {
	for _, p := range b.Own {
		set := ledger.NewSet(b.Sequences(p, b.Messages))
		for seq := range tried[p] {
			set.Add(seq)
		}
		writeSet(file, "tried", p, 0, set)
		writeSet(file, "failed", p, 0, b.failedSets[p])
		if b.Acks {
			writeSet(file, "acked", p, 0, b.ackedSets[p])
		} else {
			writeSet(file, "unknown", p, 0, b.unknownSets[p])
		}
	}
	for k, received := range b.receivedSets {
		if received != nil {
			writeSet(file, "received", int64(k)%b.Producers, int64(k)/b.Producers, received)
		}
	}
}

// FinishLedger writes the trailer and makes the file durable. An error comes from the disk.
func FinishLedger(file *recorder.File) error {
	file.Line(fmt.Appendf(nil, `{"type":"trailer","lines":%d,"sha256":%q}`, file.Lines(), file.Sum()))
	return file.Finish()
}

// order finds overtaken messages. A unit is one producer's messages to one stream (a partition or key) at one subscriber.
type order struct {
	producers, streams int64
	// highest has the largest sequence received so far for each unit, in chunks that are made on demand.
	highest []atomic.Pointer[orderChunk]
}

const orderChunkUnits = 512

type orderChunk [orderChunkUnits]atomic.Int64

func newOrder(subscribers, producers, streams int64) *order {
	units := subscribers * producers * streams
	return &order{producers: producers, streams: streams, highest: make([]atomic.Pointer[orderChunk], units/orderChunkUnits+1)}
}

// overtaken records the first receipt of a sequence and reports whether a later sequence came before it: RFC 4737, section 4.
func (o *order) overtaken(subscriber int, producer, stream, seq int64) bool {
	unit := (int64(subscriber)*o.producers+producer)*o.streams + stream
	slot := &o.highest[unit/orderChunkUnits]
	c := slot.Load()
	if c == nil {
		slot.CompareAndSwap(nil, &orderChunk{})
		c = slot.Load()
	}
	highest := &c[unit%orderChunkUnits]
	for {
		old := highest.Load()
		if seq < old {
			return true
		}
		if highest.CompareAndSwap(old, seq) {
			return false
		}
	}
}

// copies counts the copies of one producer's messages from the first to the last, or until forgotten: its size does not grow with the run.
type copies struct {
	mu sync.Mutex
	// arrived has the messages of which some copies have arrived, by sequence.
	arrived map[int64]arrived
	// from is the first sequence that is not forgotten.
	from int64
}

type arrived struct {
	copies int64
	lastNs int64
}

// Arrived records a copy of a message, once, and returns when the latest copy so far came, and whether this was the last one to come.
func (b *Books) Arrived(p, seq, atNs int64) (lastNs int64, all bool) {
	if b.copies == nil {
		return atNs, true
	}
	c := &b.copies[p]
	c.mu.Lock()
	defer c.mu.Unlock()
	if seq < c.from {
		return atNs, false
	}
	m := c.arrived[seq]
	m.copies++
	m.lastNs = max(m.lastNs, atNs)
	if all = m.copies == b.Subscribers; all {
		delete(c.arrived, seq)
	} else if c.arrived == nil {
		c.arrived = map[int64]arrived{seq: m}
	} else {
		c.arrived[seq] = m
	}
	return m.lastNs, all
}

// Forget stops waiting for copies of producer p's messages below seq. A copy that comes later is not the last one.
func (b *Books) Forget(p, seq int64) {
	if b.copies == nil {
		return
	}
	c := &b.copies[p]
	c.mu.Lock()
	defer c.mu.Unlock()
	if seq-c.from > int64(len(c.arrived)) { // usually only a few are on their way
		maps.DeleteFunc(c.arrived, func(s int64, _ arrived) bool { return s < seq })
		c.from = max(c.from, seq)
	}
	for ; c.from < seq; c.from++ {
		delete(c.arrived, c.from)
	}
}

// --- internal ---

// writeSet writes the sequences of one producer as this client saw them: LedgerLine of runner/model/client-file.ts.
func writeSet(file *recorder.File, name string, producer, subscriber int64, set *ledger.Set) {
	count := set.Count(0, set.Size())
	if count == 0 {
		return
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	// Writes to memory do not fail.
	_, _ = z.Write(set.Bits())
	_ = z.Close()
	file.Line(fmt.Appendf(nil, `{"type":"set","set":%q,"producer":%d,"subscriber":%d,"count":%d,"bits":%q}`,
		name, producer, subscriber, count, base64.StdEncoding.EncodeToString(packed.Bytes())))
}
