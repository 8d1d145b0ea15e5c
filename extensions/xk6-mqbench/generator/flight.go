package generator

import (
	"sync"
	"sync/atomic"
)

const (
	flightChunk = 1 << 14
	// flightBehind chunks after it was begun, a chunk keeps only the messages that have not arrived: the lost ones.
	flightBehind = 16
)

// flight remembers the lag of each message between its send call and its receipt, where response - lag is counted. A
// chunk takes 128 KiB and is let go when all of its messages have arrived.
type flight struct {
	chunks []atomic.Pointer[flightLags]
	mu     sync.Mutex
	// missing is the lag of messages whose chunk has been let go before they arrived.
	missing map[int64]int64
	// newest is the latest chunk that was begun.
	newest atomic.Int64
}

type flightLags struct {
	lags    [flightChunk]atomic.Int64
	arrived atomic.Int32
}

// landed takes the place of a lag that nobody needs any more. Lags are not negative.
const landed = -1

func newFlight(messages int64) *flight {
	return &flight{chunks: make([]atomic.Pointer[flightLags], messages/flightChunk+1), missing: map[int64]int64{}}
}

// depart notes the lag of message i.
func (f *flight) depart(i, lagNs int64) {
	n := i / flightChunk
	slot := &f.chunks[n]
	c := slot.Load()
	if c == nil && n <= f.newest.Load()-flightBehind {
		// A sender far behind the others: its chunk may have been let go already, and is not begun again.
		f.mu.Lock()
		f.missing[i] = lagNs
		f.mu.Unlock()
		return
	}
	if c == nil {
		if slot.CompareAndSwap(nil, &flightLags{}) {
			f.newest.Store(max(n, f.newest.Load()))
			f.thin(n - flightBehind)
		}
		c = slot.Load()
	}
	c.lags[i%flightChunk].Store(lagNs)
}

// lag of message i, which departed and has not arrived.
func (f *flight) lag(i int64) int64 {
	if c := f.chunks[i/flightChunk].Load(); c != nil {
		return max(0, c.lags[i%flightChunk].Load())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.missing[i]
}

// arrive lets message i go. Called once for each.
func (f *flight) arrive(i int64) {
	slot := &f.chunks[i/flightChunk]
	c := slot.Load()
	if c == nil {
		f.mu.Lock()
		delete(f.missing, i)
		f.mu.Unlock()
		return
	}
	c.lags[i%flightChunk].Store(landed)
	if c.arrived.Add(1) == flightChunk {
		slot.Store(nil)
	}
}

// --- internal ---

// thin lets go of an old chunk of which most has arrived. Subtle: who still holds the chunk goes on reading the right
// lags from it; and what arrives in the very moment stays in missing, which costs 16 bytes.
func (f *flight) thin(n int64) {
	if n < 0 {
		return
	}
	c := f.chunks[n].Load()
	if c == nil || c.arrived.Load() < flightChunk/2 {
		return
	}
	f.mu.Lock()
	for k := range c.lags {
		if lag := c.lags[k].Load(); lag != landed {
			f.missing[n*flightChunk+int64(k)] = lag
		}
	}
	f.mu.Unlock()
	f.chunks[n].Store(nil)
}
