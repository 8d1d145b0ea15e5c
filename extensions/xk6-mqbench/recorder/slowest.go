package recorder

import "slices"

// SlowestKept is how many of the slowest messages are kept.
const SlowestKept = 20

// Slow is one completed message and what its response time consists of: ResponseNs = QueuedNs + LagNs + ServiceNs.
type Slow struct {
	Index      int64
	OffsetNs   int64
	ResponseNs int64
	QueuedNs   int64
	LagNs      int64
	ServiceNs  int64
}

// slowest keeps the messages with the largest response times: a binary heap with the least of them on top.
type slowest struct {
	heap []Slow
}

// offer keeps m if it belongs to the slowest; for nearly all messages that is one comparison.
func (s *slowest) offer(m Slow) {
	if len(s.heap) < SlowestKept {
		s.heap = append(s.heap, m)
		for child := len(s.heap) - 1; child > 0; {
			parent := (child - 1) / 2
			if s.heap[parent].ResponseNs <= s.heap[child].ResponseNs {
				return
			}
			s.heap[parent], s.heap[child] = s.heap[child], s.heap[parent]
			child = parent
		}
		return
	}
	if m.ResponseNs <= s.heap[0].ResponseNs {
		return
	}
	s.heap[0] = m
	for parent := 0; ; {
		child := 2*parent + 1
		if child >= len(s.heap) {
			return
		}
		if right := child + 1; right < len(s.heap) && s.heap[right].ResponseNs < s.heap[child].ResponseNs {
			child = right
		}
		if s.heap[parent].ResponseNs <= s.heap[child].ResponseNs {
			return
		}
		s.heap[parent], s.heap[child] = s.heap[child], s.heap[parent]
		parent = child
	}
}

// Slowest lists the slowest messages of the window, the slowest first.
func (r *Recorder) Slowest() []Slow {
	var all []Slow
	for _, s := range r.shards {
		s.mu.Lock()
		all = append(all, s.slow.heap...)
		s.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b Slow) int {
		if a.ResponseNs != b.ResponseNs {
			return int(b.ResponseNs - a.ResponseNs)
		}
		return int(a.Index - b.Index)
	})
	return all[:min(len(all), SlowestKept)]
}
