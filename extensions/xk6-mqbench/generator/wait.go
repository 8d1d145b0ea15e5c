package generator

// wait is how late an ideal generator, whose own work takes no time, would be at the next message, given how long the system held its
// send calls. This is Lindley's recursion W(i+1) = max(0, W(i) + S(i) - (offset(i+1) - offset(i))). A generator that is late for
// reasons of its own is later than that; the difference is lag.
type wait struct {
	// ns is W for the message at offsetNs.
	ns       int64
	offsetNs int64
}

// reset starts again at a message.
func (w *wait) reset(offsetNs, ns int64) { w.offsetNs, w.ns = offsetNs, ns }

// until goes on to the message at offsetNs.
func (w *wait) until(offsetNs int64) {
	w.ns = max(0, w.ns-(offsetNs-w.offsetNs))
	w.offsetNs = offsetNs
}

// add adds the time that a send call took.
func (w *wait) add(ns int64) { w.ns += ns }
