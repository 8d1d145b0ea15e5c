package recorder

// Totals counts messages by when things really happened: all of them, and those while the window was open.
type Totals struct {
	Sent, Acked, Received int64
	// Settled messages were completed or failed.
	Settled                                       int64
	SentInWindow, AckedInWindow, ReceivedInWindow int64
	// Sends, Acks and Receipts are the spans of the window's messages.
	Sends, Acks, Receipts Span
}

// Span is the first and the last of some moments, ns since T0. Its zero value is empty.
type Span struct {
	FirstNs, LastNs int64
	any             bool
}

// First is nil if the span is empty.
func (s Span) First() *int64 { return s.or(s.FirstNs) }

// Last is nil if the span is empty.
func (s Span) Last() *int64 { return s.or(s.LastNs) }

// Totals of all shards so far.
func (r *Recorder) Totals() Totals {
	var t Totals
	r.each(func(s *Shard) {
		t.Sent += s.totals.Sent
		t.Acked += s.totals.Acked
		t.Received += s.totals.Received
		t.Settled += s.totals.Settled
		t.SentInWindow += s.totals.SentInWindow
		t.AckedInWindow += s.totals.AckedInWindow
		t.ReceivedInWindow += s.totals.ReceivedInWindow
		t.Sends.merge(s.totals.Sends)
		t.Acks.merge(s.totals.Acks)
		t.Receipts.merge(s.totals.Receipts)
	})
	return t
}

// --- internal ---

func (s *Span) add(ns int64) {
	if !s.any {
		*s = Span{ns, ns, true}
		return
	}
	s.FirstNs, s.LastNs = min(s.FirstNs, ns), max(s.LastNs, ns)
}

func (s *Span) merge(o Span) {
	if o.any {
		s.add(o.FirstNs)
		s.add(o.LastNs)
	}
}

func (s Span) or(ns int64) *int64 {
	if !s.any {
		return nil
	}
	return &ns
}
