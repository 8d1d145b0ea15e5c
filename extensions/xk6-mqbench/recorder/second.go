package recorder

import (
	"maps"
	"slices"
)

// second holds one shard's measurements of one second of intended time.
type second struct {
	// sparse is true if few values are to come.
	sparse bool
	cells  [rows]*cell
	limits []limitCounts
}

type limitCounts struct {
	Count          [Pieces]int64 `json:"count"`
	Over           [Pieces]int64 `json:"over"`
	OverWithoutLag [Pieces]int64 `json:"overWithoutLag"`
}

// cell is one metric: a histogram, and the exact figures that a histogram's buckets cannot give.
type cell struct {
	// dense has the counts of the buckets. It is nil where few values are to come, which sparse has.
	dense  []uint32
	sparse map[int]uint32
	Exact
}

// Exact are the measurements without the histogram's rounding: values above HighestNs are recorded as that and counted as Clamped, values below 0 as 0
// and counted as Negative, with the lowest in Lowest. Sum, Min and Max are of the values as recorded.
type Exact struct {
	Count    int64 `json:"count"`
	Sum      int64 `json:"sum"`
	Min      int64 `json:"min"`
	Max      int64 `json:"max"`
	Clamped  int64 `json:"clamped"`
	Negative int64 `json:"negative"`
	Lowest   int64 `json:"lowest,omitempty"`
}

func (c *cell) record(ns int64) {
	switch {
	case ns < 0:
		c.Lowest = min(c.Lowest, ns)
		ns = 0
		c.Negative++
	case ns > HighestNs:
		ns = HighestNs
		c.Clamped++
	}
	if c.Count == 0 || ns < c.Min {
		c.Min = ns
	}
	c.Max = max(c.Max, ns)
	c.Count++
	c.Sum += ns
	if k := bucketOf(ns, histogramBits); c.dense != nil {
		c.dense[k]++
	} else {
		c.sparse[k]++
	}
}

func (e *Exact) add(o Exact) {
	if o.Count == 0 {
		return
	}
	if e.Count == 0 || o.Min < e.Min {
		e.Min = o.Min
	}
	e.Max = max(e.Max, o.Max)
	e.Count += o.Count
	e.Sum += o.Sum
	e.Clamped += o.Clamped
	e.Negative += o.Negative
	e.Lowest = min(e.Lowest, o.Lowest)
}

// Second is the merged measurements of all shards in one second.
type Second struct {
	// Number counts from the window's start by the plan.
	Number int
	WarmUp bool
	// StartNs since T0, and the length: the last second of a window and the first one of a warm-up may be shorter.
	StartNs, LengthNs int64
	// Seconds is how many are recorded as this one; 0 means one.
	Seconds int64
	Limits  []limitCounts
	// merged and exact figures by metric, and behind the metrics by class of size. tags are their names in the log.
	merged [rows][]int64
	exact  [rows]Exact
	tags   *[rows]string
}

// Exact returns the exact figures of a metric.
func (s *Second) Exact(m Metric) Exact { return s.exact[m] }

// Percentile of a metric for the live line, in ns. Verdicts use exact ranks instead. ok is false if nothing was measured.
func (s *Second) Percentile(m Metric, p float64) (ns int64, ok bool) {
	if s.exact[m].Count == 0 {
		return 0, false
	}
	return percentile(s.merged[m], s.exact[m].Count, p), true
}

// Peek merges the values of a second so far. The second stays open. Peek, Take, Counted and Numbers are for one goroutine.
//
// Subtle: a shard is locked only while it lets go of its part. A merge takes 100 us and more, and a message would wait for it.
func (r *Recorder) Peek(number int) *Second {
	out := r.open[number]
	if out == nil {
		out = &Second{Number: number, Limits: make([]limitCounts, len(r.limits)), tags: &r.tags}
		r.open[number] = out
	}
	out.WarmUp = r.warmsUp(number)
	for _, s := range r.shards {
		s.mu.Lock()
		sec := s.seconds[number]
		delete(s.seconds, number)
		if s.last == sec {
			s.last = nil
		}
		s.mu.Unlock()
		if sec != nil {
			out.add(sec)
			s.recycle(sec)
		}
	}
	return out
}

// Take merges a second and removes it. Later arrivals start it again, sparse, because only a few will follow.
func (r *Recorder) Take(number int) *Second {
	r.each(func(s *Shard) {
		s.newest = max(s.newest, number+int(r.interval)+1)
	})
	out := r.Peek(number)
	delete(r.open, number)
	for m := Metric(0); m < metrics && !out.WarmUp; m++ {
		r.taken.merge(out, m)
	}
	out.StartNs = r.BeginOf(number)
	out.LengthNs = min(r.EndOf(number), r.windowEndNs.Load()) - out.StartNs
	if !out.WarmUp {
		out.Seconds = several(r.interval)
	}
	if out.StartNs < 0 { // the warm-up is not a whole number of seconds
		out.LengthNs += out.StartNs
		out.StartNs = 0
	}
	return out
}

// Counted is how many values of a metric a second has so far.
func (r *Recorder) Counted(number int, m Metric) (n int64) {
	if out := r.open[number]; out != nil {
		n = out.exact[m].Count
	}
	r.each(func(s *Shard) {
		if sec := s.seconds[number]; sec != nil && sec.cells[m] != nil {
			n += sec.cells[m].Count
		}
	})
	return n
}

// Numbers lists the seconds that are there, in order.
func (r *Recorder) Numbers() []int {
	numbers := slices.Collect(maps.Keys(r.open))
	r.each(func(s *Shard) { numbers = slices.AppendSeq(numbers, maps.Keys(s.seconds)) })
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// --- internal ---

func (r *Recorder) warmsUp(number int) bool { return r.BeginOf(number) < r.windowStartNs.Load() }

// several is 0 for one second, which lines of files leave out.
func several(seconds int64) int64 {
	if seconds == 1 {
		return 0
	}
	return seconds
}

func (s *Second) add(sec *second) {
	for m, c := range sec.cells {
		if c == nil {
			continue
		}
		if s.merged[m] == nil {
			s.merged[m] = make([]int64, histogramBuckets)
		}
		for k, n := range c.dense {
			s.merged[m][k] += int64(n)
		}
		for k, n := range c.sparse {
			s.merged[m][k] += int64(n)
		}
		s.exact[m].add(c.Exact)
	}
	for k := range sec.limits {
		for i := range Pieces {
			s.Limits[k].Count[i] += sec.limits[k].Count[i]
			s.Limits[k].Over[i] += sec.limits[k].Over[i]
			s.Limits[k].OverWithoutLag[i] += sec.limits[k].OverWithoutLag[i]
		}
	}
}

func (s *Second) merge(o *Second, m Metric) {
	if s.merged[m] == nil && o.merged[m] != nil {
		s.merged[m] = make([]int64, histogramBuckets)
	}
	for k, n := range o.merged[m] {
		s.merged[m][k] += n
	}
	s.exact[m].add(o.exact[m])
}

// recycle keeps the dense counts (132 KiB each) for later seconds.
func (s *Shard) recycle(sec *second) {
	for _, c := range sec.cells {
		if c == nil || c.dense == nil {
			continue
		}
		clear(c.dense)
		s.mu.Lock()
		s.free = append(s.free, c.dense)
		s.mu.Unlock()
	}
}
