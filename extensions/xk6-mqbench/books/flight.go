package books

import (
	"sync"
	"sync/atomic"
)

const (
	flightChunk = 1 << 14
	// A chunk that began flightBehind chunks ago keeps only the messages that have not arrived, which are the lost ones.
	flightBehind = 16
)

// Flight keeps one number for each message between its send call and its last receipt: the lag where response - lag is counted, or
// the time of the send call in closed loads. Messages are numbered without gaps, or no chunk would ever be complete. A chunk takes
// 128 KiB (384 KiB with several copies a message) and is freed when all of its messages have arrived.
type Flight struct {
	// copies is how many copies of each message have to arrive.
	copies int32
	chunks []atomic.Pointer[flightPart]
	mu     sync.Mutex
	// missing has the messages whose chunk was freed before they arrived.
	missing map[int64]*missed
	// newest is the latest chunk.
	newest atomic.Int64
}

type flightPart struct {
	values  [flightChunk]atomic.Int64
	arrived atomic.Int32
	// With several copies a message: what is known of them, guarded by mu. gone: the chunk was freed.
	mu     sync.Mutex
	copies []copies
	gone   bool
}

// copies counts the copies of one message that have arrived.
type copies struct {
	count int32
	// lastNs is the latest receipt, ns since T0.
	lastNs int64
}

type missed struct {
	value int64
	copies
}

// Landed replaces a value that is no longer needed. Values are not negative.
const Landed = -1

// NewFlight is for messages of which so many copies each arrive.
func NewFlight(messages, copies int64) *Flight {
	return &Flight{
		copies: int32(copies), chunks: make([]atomic.Pointer[flightPart], messages/flightChunk+1), missing: map[int64]*missed{},
	}
}

// Reserve makes the chunk of message i, unless it is there or may have been freed. Call it before Depart, where there is time.
func (f *Flight) Reserve(i int64) {
	n := i / flightChunk
	if f.chunks[n].Load() != nil || n <= f.newest.Load()-flightBehind {
		return
	}
	fresh := &flightPart{}
	if f.copies > 1 {
		fresh.copies = make([]copies, flightChunk)
	}
	if f.chunks[n].CompareAndSwap(nil, fresh) {
		f.newest.Store(max(n, f.newest.Load()))
		f.thin(n - flightBehind)
	}
}

// Depart notes the value of message i.
func (f *Flight) Depart(i, value int64) {
	if c := f.chunks[i/flightChunk].Load(); c != nil {
		c.values[i%flightChunk].Store(value)
		return
	}
	// This sender is far behind the others, and its chunk has been freed.
	f.mu.Lock()
	defer f.mu.Unlock()
	f.missing[i] = &missed{value: value}
}

// Value of message i; Landed if it has arrived or never departed.
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

// Arrive records a copy of message i, received at atNs since T0. Call it once for each copy. It returns the value, the time of the
// latest copy so far, and whether this was the last one.
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

// Forget stops waiting for the copies of message i that have not arrived, where there are several. What arrives later is not the last
// copy, and finds no value.
func (f *Flight) Forget(i int64) {
	if c := f.chunks[i/flightChunk].Load(); c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.gone {
			if c.values[i%flightChunk].Load() != Landed {
				f.land(c, i)
			}
			return
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.missing, i)
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
	if value = c.values[k].Load(); value == Landed { // forgotten
		return 0, atNs, false
	}
	copies := &c.copies[k]
	copies.count++
	copies.lastNs = max(copies.lastNs, atNs)
	all = copies.count == f.copies
	if all {
		f.land(c, i)
	}
	return value, copies.lastNs, all
}

// land marks message i as one that nobody waits for. The caller holds c.mu.
func (f *Flight) land(c *flightPart, i int64) {
	c.values[i%flightChunk].Store(Landed)
	if c.arrived.Add(1) == flightChunk {
		c.gone = true
		f.chunks[i/flightChunk].Store(nil)
	}
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

// thin frees an old chunk when most of it has arrived. Subtle: with one copy a message, a goroutine that still holds the chunk reads
// the right values from it; a message that arrives at this very moment stays in missing, which costs 40 bytes.
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
