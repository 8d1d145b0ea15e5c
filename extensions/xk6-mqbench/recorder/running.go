package recorder

import (
	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Running has the figures of one metric of the window so far, for the live lines; verdicts come from the files. It consists of seconds
// that have left the shards, so that no measuring goroutine waits for it. Its methods are for one goroutine.
type Running struct {
	metric Metric
	// settled adds up all seconds that were taken.
	settled *hdr.Histogram
	max     int64
	// open has, for each second that is not settled, what is back so far: a stall shows before it is over.
	open map[int]*Second
	both *hdr.Histogram
}

// NewRunning is empty.
func NewRunning(metric Metric) *Running {
	return &Running{metric: metric, settled: newHistogram(), both: newHistogram(), open: map[int]*Second{}}
}

// Settle adds a second that was taken, or stragglers of one. It ignores the warm-up.
func (r *Running) Settle(s *Second) {
	delete(r.open, s.Number)
	if s.WarmUp || s.exact[r.metric].Count == 0 {
		return
	}
	// Both have the same geometry, so nothing is dropped.
	r.settled.Merge(s.merged[r.metric])
	r.max = max(r.max, s.exact[r.metric].Max)
}

// Peek replaces what was back of a second with what is back now, until the second is settled.
func (r *Running) Peek(s *Second) {
	if !s.WarmUp && s.exact[r.metric].Count > 0 {
		r.open[s.Number] = s
	}
}

// Figures of the window so far, in ns.
type Figures struct {
	Count int64 `json:"count"`
	P50   int64 `json:"p50"`
	P99   int64 `json:"p99"`
	P999  int64 `json:"p999"`
	Max   int64 `json:"max"`
}

// Figures is nil without any values.
func (r *Running) Figures() *Figures {
	all, most := r.settled, r.max
	if len(r.open) > 0 {
		all = r.both
		all.Reset()
		all.Merge(r.settled)
		for _, s := range r.open {
			all.Merge(s.merged[r.metric])
			most = max(most, s.exact[r.metric].Max)
		}
	}
	if all.TotalCount() == 0 {
		return nil
	}
	at := all.ValueAtPercentiles([]float64{50, 99, 99.9})
	// A bucket's edge may lie above the exact maximum.
	return &Figures{
		Count: all.TotalCount(), P50: min(at[50], most), P99: min(at[99], most), P999: min(at[99.9], most), Max: most,
	}
}

// --- internal ---

func newHistogram() *hdr.Histogram { return hdr.New(lowestNs, HighestNs, digits) }
