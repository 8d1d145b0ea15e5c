package books

import "sync/atomic"

// order finds overtaken messages. Its unit is what one producer sends to one stream (a partition, or the messages with one key), as one
// subscriber receives it.
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
