package recorder

// Totals counts messages by when things really happened.
type Totals struct {
	Sent, Acked, Received Flow
	// Settled messages were completed or failed.
	Settled int64
}

// Flow counts one step of messages: all of them, and those while the window was open.
type Flow struct {
	All, InWindow int64
	// Of the window's messages, ns since T0; any is false if there are none.
	firstNs, lastNs int64
	any             bool
}

// First is when the first of the window's messages took the step, ns since T0; nil if none did.
func (f Flow) First() *int64 { return f.or(f.firstNs) }

// Last is when the last one did.
func (f Flow) Last() *int64 { return f.or(f.lastNs) }

// Totals of all shards so far.
func (r *Recorder) Totals() Totals {
	var t Totals
	r.each(func(s *Shard) {
		t.Sent.merge(s.totals.Sent)
		t.Acked.merge(s.totals.Acked)
		t.Received.merge(s.totals.Received)
		t.Settled += s.totals.Settled
	})
	return t
}

// --- internal ---

// tally counts a step of message i at the given time.
func (s *Shard) tally(f *Flow, i, atNs int64) {
	r := s.recorder
	f.All++
	if atNs >= r.windowStartNs.Load() && atNs < r.windowEndNs.Load() {
		f.InWindow++
	}
	if i >= r.first.Load() {
		f.span(atNs)
	}
}

func (f *Flow) span(ns int64) {
	if !f.any {
		f.firstNs, f.lastNs, f.any = ns, ns, true
	}
	f.firstNs, f.lastNs = min(f.firstNs, ns), max(f.lastNs, ns)
}

func (f *Flow) merge(o Flow) {
	f.All += o.All
	f.InWindow += o.InWindow
	if o.any {
		f.span(o.firstNs)
		f.span(o.lastNs)
	}
}

func (f Flow) or(ns int64) *int64 {
	if !f.any {
		return nil
	}
	return &ns
}
