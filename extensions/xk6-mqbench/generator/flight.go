package generator

import "sync/atomic"

const flightChunk = 1 << 14

// flight remembers the lag of each message between its send call and its receipt, where response - lag is counted.
// It takes 8 bytes per message in flight: a chunk is let go when all of its messages have arrived.
type flight struct {
	chunks []atomic.Pointer[flightLags]
}

type flightLags struct {
	lags    [flightChunk]atomic.Int64
	arrived atomic.Int32
}

func newFlight(messages int64) *flight {
	return &flight{chunks: make([]atomic.Pointer[flightLags], messages/flightChunk+1)}
}

// depart notes the lag of message i.
func (f *flight) depart(i, lagNs int64) {
	slot := &f.chunks[i/flightChunk]
	c := slot.Load()
	if c == nil {
		slot.CompareAndSwap(nil, &flightLags{})
		c = slot.Load()
	}
	c.lags[i%flightChunk].Store(lagNs)
}

// lag of message i, which departed and has not arrived.
func (f *flight) lag(i int64) int64 {
	c := f.chunks[i/flightChunk].Load()
	if c == nil {
		return 0
	}
	return c.lags[i%flightChunk].Load()
}

// arrive lets message i go. Called once for each.
func (f *flight) arrive(i int64) {
	slot := &f.chunks[i/flightChunk]
	if c := slot.Load(); c != nil && c.arrived.Add(1) == flightChunk {
		slot.Store(nil)
	}
}
