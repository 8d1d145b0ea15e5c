package books

import (
	"sync"
	"sync/atomic"
)

const (
	flightChunk = 1 << 14
	// flightBehind chunks after it was begun, a chunk keeps only the messages that have not arrived: the lost ones.
	flightBehind = 16
)

// Flight remembers of each message between its send call and its last receipt one number: the lag, where response - lag
// is counted, or in closed loads the time of the send call. A chunk takes 128 KiB (with several copies a message 384 KiB) and
// is let go when all of its messages have arrived.
type Flight struct {
	// copies of each message that have to arrive.
	copies int32
	chunks []atomic.Pointer[flightPart]
	mu     sync.Mutex
	// missing are messages whose chunk has been let go before they arrived.
	missing map[int64]*missed
	// newest is the latest chunk that was begun.
	newest atomic.Int64
}

type flightPart struct {
	values  [flightChunk]atomic.Int64
	arrived atomic.Int32
	// Where each message has several copies: what is known of them, guarded by mu. gone: the chunk has been let go.
	mu     sync.Mutex
	copies []copies
	gone   bool
}

// copies of one message that have arrived.
type copies struct {
	count int32
	// lastNs is the latest receipt, ns since T0.
	lastNs int64
}

type missed struct {
	value int64
	copies
}

// Landed takes the place of a value that nobody needs any more. Values are not negative.
const Landed = -1

// NewFlight is for messages that arrive in so many copies each.
func NewFlight(messages, copies int64) *Flight {
	return &Flight{
		copies: int32(copies), chunks: make([]atomic.Pointer[flightPart], messages/flightChunk+1), missing: map[int64]*missed{},
	}
}

// Depart notes the value of message i.
func (f *Flight) Depart(i, value int64) {
	n := i / flightChunk
	slot := &f.chunks[n]
	c := slot.Load()
	if c == nil && n <= f.newest.Load()-flightBehind {
		// A sender far behind the others: its chunk may have been let go already, and is not begun again.
		f.mu.Lock()
		f.missing[i] = &missed{value: value}
		f.mu.Unlock()
		return
	}
	if c == nil {
		fresh := &flightPart{}
		if f.copies > 1 {
			fresh.copies = make([]copies, flightChunk)
		}
		if slot.CompareAndSwap(nil, fresh) {
			f.newest.Store(max(n, f.newest.Load()))
			f.thin(n - flightBehind)
		}
		c = slot.Load()
	}
	c.values[i%flightChunk].Store(value)
}

// Value of message i, or Landed when it has arrived, or never departed.
func (f *Flight) Value(i int64) int64 {
	if c := f.chunks[i/flightChunk].Load(); c != nil {
		return c.values[i%flightChunk].Load()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.missing[i]; m != nil {
		return m.value
	}
	return Landed
}

// Arrive notes a copy of message i, received at atNs since T0; it is called once for each. It returns the value, the time
// of the latest copy so far, and whether that was the last one.
func (f *Flight) Arrive(i, atNs int64) (value, lastNs int64, all bool) {
	slot := &f.chunks[i/flightChunk]
	c := slot.Load()
	if c == nil {
		return f.arriveMissing(i, atNs)
	}
	if f.copies > 1 {
		return f.arriveCopy(c, i, atNs)
	}
	value = max(0, c.values[i%flightChunk].Swap(Landed))
	if c.arrived.Add(1) == flightChunk {
		slot.Store(nil)
	}
	return value, atNs, true
}

// --- internal ---

func (f *Flight) arriveCopy(c *flightPart, i, atNs int64) (value, lastNs int64, all bool) {
	c.mu.Lock()
	if c.gone {
		c.mu.Unlock()
		return f.arriveMissing(i, atNs)
	}
	defer c.mu.Unlock()
	k := i % flightChunk
	copies := &c.copies[k]
	copies.count++
	copies.lastNs = max(copies.lastNs, atNs)
	value = max(0, c.values[k].Load())
	all = copies.count == f.copies
	if all {
		c.values[k].Store(Landed)
		if c.arrived.Add(1) == flightChunk {
			c.gone = true
			f.chunks[i/flightChunk].Store(nil)
		}
	}
	return value, copies.lastNs, all
}

func (f *Flight) arriveMissing(i, atNs int64) (value, lastNs int64, all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.missing[i]
	if m == nil {
		return 0, atNs, f.copies == 1
	}
	m.count++
	m.lastNs = max(m.lastNs, atNs)
	if all = m.count == f.copies; all {
		delete(f.missing, i)
	}
	return m.value, m.lastNs, all
}

// thin lets go of an old chunk of which most has arrived. Subtle: with one copy a message, who still holds the chunk goes on
// reading the right values from it, and what arrives in the very moment stays in missing, which costs 40 bytes.
func (f *Flight) thin(n int64) {
	if n < 0 {
		return
	}
	c := f.chunks[n].Load()
	if c == nil || c.arrived.Load() < flightChunk/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	f.mu.Lock()
	for k := range c.values {
		value := c.values[k].Load()
		if value == Landed {
			continue
		}
		m := &missed{value: value}
		if c.copies != nil {
			m.copies = c.copies[k]
		}
		f.missing[n*flightChunk+int64(k)] = m
	}
	f.mu.Unlock()
	c.gone = true
	f.chunks[n].Store(nil)
}
