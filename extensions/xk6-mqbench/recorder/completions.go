package recorder

import (
	"cmp"
	"slices"
)

// Completions are counted per 10 ms of real time, or per hundredth of Frame.IntervalSeconds. They show how long a system was gone and how soon it was back.
const (
	// CompletionBins in a second.
	CompletionBins = 100
	binNs          = secondNs / CompletionBins
)

// completions of one second of real time.
type completions struct {
	// firstBin, counted from T0.
	firstBin int64
	counts   [CompletionBins]int64
}

// CompletedSecond is the number of completions in each hundredth of a second since T0, or of several that are recorded as one.
type CompletedSecond struct {
	Second int64 `json:"second"`
	// Seconds is how many it stands for; left out: one.
	Seconds int64                 `json:"seconds,omitempty"`
	Counts  [CompletionBins]int64 `json:"counts"`
}

// TakeCompletions removes the completions of all intervals that end before the given second, merged over the shards, in order of time. A later call
// returns what is recorded later for such a second.
func (r *Recorder) TakeCompletions(before int64) []CompletedSecond {
	var taken []CompletedSecond
	at := map[int64]int{}
	for _, s := range r.shards {
		s.mu.Lock()
		kept := s.completed[:0]
		for _, c := range s.completed {
			n := c.firstBin / CompletionBins * r.interval
			if n+r.interval > before {
				kept = append(kept, c)
				continue
			}
			if s.completing == c {
				s.completing = nil
			}
			if _, seen := at[n]; !seen {
				at[n] = len(taken)
				taken = append(taken, CompletedSecond{Second: n, Seconds: several(r.interval)})
			}
			for k, count := range c.counts {
				taken[at[n]].Counts[k] += count
			}
		}
		clear(s.completed[len(kept):])
		s.completed = kept
		s.mu.Unlock()
	}
	slices.SortFunc(taken, func(a, b CompletedSecond) int { return cmp.Compare(a.Second, b.Second) })
	return taken
}

// --- internal ---

// complete counts a completion at the given time. Every message passes here: nearly always one division and one addition.
func (s *Shard) complete(atNs int64) {
	// A time before T0 is possible: this machine's clock may be a little behind the sender's.
	bin := max(0, atNs) / (binNs * s.recorder.interval)
	c := s.completing
	if c == nil || uint64(bin-c.firstBin) >= CompletionBins {
		c = s.completionsOf(bin)
	}
	c.counts[bin-c.firstBin]++
}

// completionsOf returns the second that holds a bin. The newest seconds come last, and most calls ask for those.
func (s *Shard) completionsOf(bin int64) *completions {
	firstBin := bin / CompletionBins * CompletionBins
	for k := len(s.completed) - 1; k >= 0; k-- {
		if s.completed[k].firstBin == firstBin {
			s.completing = s.completed[k]
			return s.completing
		}
	}
	s.completing = &completions{firstBin: firstBin}
	s.completed = append(s.completed, s.completing)
	return s.completing
}
