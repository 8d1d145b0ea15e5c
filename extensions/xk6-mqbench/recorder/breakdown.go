package recorder

import (
	"cmp"
	"slices"
)

// Response times are broken down in buckets of a sixteenth of an octave. Each is a number of whole buckets of the histogram of response
// times, so a percentile of that histogram is in exactly one bucket here.
const (
	// The bucketBits leading bits of a value determine its bucket. Below 2^bucketBits ns each ns has a bucket.
	bucketBits = 5
	// 42 is the number of bits of HighestNs.
	buckets = (42 - bucketBits + 2) << (bucketBits - 1)
)

// Bucket adds up the messages whose response time is from FromNs to ToNs, both included. QueuedNs + LagNs + ServiceNs is the sum of their
// response times, as measured: times below 0 are in the bucket of 0, times above HighestNs in its bucket.
type Bucket struct {
	FromNs    int64 `json:"fromNs"`
	ToNs      int64 `json:"toNs"`
	Messages  int64 `json:"messages"`
	QueuedNs  int64 `json:"queuedNs"`
	LagNs     int64 `json:"lagNs"`
	ServiceNs int64 `json:"serviceNs"`
}

// Breakdown lists the buckets that hold messages of the window, in order.
func (r *Recorder) Breakdown() []Bucket {
	var all [buckets]Bucket
	r.each(func(s *Shard) {
		if s.breakdown != nil {
			for k, o := range s.breakdown {
				all[k].add(o.Messages, o.QueuedNs, o.LagNs, o.ServiceNs)
			}
		}
	})
	list := []Bucket{}
	for k, b := range all {
		if b.Messages > 0 {
			b.FromNs, b.ToNs = bucketStart(k, bucketBits), bucketStart(k+1, bucketBits)-1
			list = append(list, b)
		}
	}
	return list
}

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
	r.each(func(s *Shard) {
		all = append(all, s.slow.kept...)
	})
	slices.SortFunc(all, func(a, b Slow) int {
		return cmp.Or(cmp.Compare(b.ResponseNs, a.ResponseNs), cmp.Compare(a.Index, b.Index))
	})
	return all[:min(len(all), SlowestKept)]
}

// Figures of the window so far, in ns.
type Figures struct {
	Count int64 `json:"count"`
	P50   int64 `json:"p50"`
	P99   int64 `json:"p99"`
	P999  int64 `json:"p999"`
	Max   int64 `json:"max"`
}

// Figures of a metric are for the live lines; nil without any values. They consist of seconds that have left the shards, so no measuring goroutine waits
// for them, also of those only looked at, because a stall shows before it is over. Call it from the goroutine that takes.
func (r *Recorder) Figures(m Metric) *Figures {
	all := Second{}
	all.merge(&r.taken, m)
	for n, s := range r.open {
		if !r.warmsUp(n) {
			all.merge(s, m)
		}
	}
	e := all.exact[m]
	if e.Count == 0 {
		return nil
	}
	// A bucket's edge may lie above the exact maximum.
	at := func(p float64) int64 { return min(percentile(all.merged[m], e.Count, p), e.Max) }
	return &Figures{Count: e.Count, P50: at(50), P99: at(99), P999: at(99.9), Max: e.Max}
}

// Completions are counted per 10 ms of real time, or per hundredth of Frame.IntervalSeconds. They show how long a system was gone and how soon it was back.
const (
	// CompletionBins in a second.
	CompletionBins = 100
	binNs          = secondNs / CompletionBins
)

type completions struct {
	// firstBin, counted from T0.
	firstBin int64
	counts   [CompletionBins]int64
}

// CompletedSecond is the number of completions in each hundredth of a second since T0, or of several that are recorded as one.
type CompletedSecond struct {
	Type   string `json:"type"`
	Second int64  `json:"second"`
	// Seconds is how many seconds it covers; left out if it is one.
	Seconds int64                 `json:"seconds,omitempty"`
	Counts  [CompletionBins]int64 `json:"counts"`
}

// TakeCompletions removes the completions of all intervals that end before the given second, in order of time. Late ones come with a later call.
func (r *Recorder) TakeCompletions(before int64) []CompletedSecond {
	var taken []CompletedSecond
	at := map[int64]int{}
	r.each(func(s *Shard) {
		s.completed = slices.DeleteFunc(s.completed, func(c *completions) bool {
			n := c.firstBin / CompletionBins * r.interval
			if n+r.interval > before {
				return false
			}
			if _, seen := at[n]; !seen {
				at[n] = len(taken)
				taken = append(taken, CompletedSecond{Type: "completions", Second: n, Seconds: several(r.interval)})
			}
			for k, count := range c.counts {
				taken[at[n]].Counts[k] += count
			}
			return true
		})
	})
	slices.SortFunc(taken, func(a, b CompletedSecond) int { return cmp.Compare(a.Second, b.Second) })
	return taken
}

// --- internal ---

func (b *Bucket) add(messages, queuedNs, lagNs, serviceNs int64) {
	b.Messages += messages
	b.QueuedNs += queuedNs
	b.LagNs += lagNs
	b.ServiceNs += serviceNs
}

// breakDown adds a message. Every message passes here: one index and four additions.
func (s *Shard) breakDown(responseNs, queuedNs, lagNs, serviceNs int64) {
	if s.breakdown == nil {
		s.breakdown = new([buckets]Bucket)
	}
	s.breakdown[bucketOf(min(max(0, responseNs), HighestNs), bucketBits)].add(1, queuedNs, lagNs, serviceNs)
}

// complete counts a completion at the given time. Every message passes here: nearly always one division and one addition.
func (s *Shard) complete(atNs int64) {
	// A time before T0 is possible: this machine's clock may be a little behind the sender's.
	bin := max(0, atNs) / (binNs * s.recorder.interval)
	for k := len(s.completed) - 1; k >= 0; k-- { // the newest seconds come last
		if c := s.completed[k]; uint64(bin-c.firstBin) < CompletionBins {
			c.counts[bin-c.firstBin]++
			return
		}
	}
	c := &completions{firstBin: bin / CompletionBins * CompletionBins}
	c.counts[bin-c.firstBin]++
	s.completed = append(s.completed, c)
}
