package books

import "sync"

// copies counts those of one producer's messages, from the first copy to the last, or until the message is forgotten. So what it
// keeps does not grow with the number of messages.
type copies struct {
	mu sync.Mutex
	// arrived has the messages of which some copies have arrived, by sequence.
	arrived map[int64]arrived
	// from is the first sequence that is not forgotten.
	from int64
}

type arrived struct {
	copies int64
	// lastNs is the latest receipt, ns since T0.
	lastNs int64
}

func newCopies(producers int64) []copies {
	all := make([]copies, producers)
	for p := range all {
		all[p].arrived = map[int64]arrived{}
	}
	return all
}

// Arrived records a copy of message i, received at atNs since T0, and returns when the latest copy so far was received, and whether
// it was the last one. Call it once for each copy.
func (b *Books) Arrived(i, atNs int64) (lastNs int64, all bool) {
	if b.copies == nil {
		return atNs, true
	}
	c, seq := &b.copies[i%b.Producers], i/b.Producers
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
	for ; c.from < seq; c.from++ {
		delete(c.arrived, c.from)
	}
}
