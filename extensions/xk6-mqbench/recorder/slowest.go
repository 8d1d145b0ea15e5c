package recorder

import (
	"cmp"
	"slices"
)

// SlowestKept is how many of the slowest messages are kept.
const SlowestKept = 20

// Slow is one completed message with the parts of its response time: ResponseNs = QueuedNs + LagNs + ServiceNs.
type Slow struct {
	Index      int64
	OffsetNs   int64
	ResponseNs int64
	QueuedNs   int64
	LagNs      int64
	ServiceNs  int64
}

// slowest keeps the messages with the largest response times, the smallest of them first.
type slowest struct{ kept []Slow }

// offer keeps m if it is one of the slowest. For nearly all messages that is one comparison.
func (s *slowest) offer(m Slow) {
	if len(s.kept) == SlowestKept {
		if m.ResponseNs <= s.kept[0].ResponseNs {
			return
		}
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	at, _ := slices.BinarySearchFunc(s.kept, m.ResponseNs, func(k Slow, ns int64) int { return cmp.Compare(k.ResponseNs, ns) })
	s.kept = slices.Insert(s.kept, at, m)
}

// Slowest lists the slowest messages of the window, the slowest first.
func (r *Recorder) Slowest() []Slow {
	var all []Slow
	for _, s := range r.shards {
		s.mu.Lock()
		all = append(all, s.slow.kept...)
		s.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b Slow) int {
		return cmp.Or(cmp.Compare(b.ResponseNs, a.ResponseNs), cmp.Compare(a.Index, b.Index))
	})
	return all[:min(len(all), SlowestKept)]
}
