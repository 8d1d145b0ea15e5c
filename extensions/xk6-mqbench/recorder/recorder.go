// Package recorder keeps what was measured: HDR histograms per metric and second of intended time, exact sums and
// extremes, and exact counts over each SLA limit per 100 ms.
package recorder

import (
	"sync"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Metric is one of the latencies of a message.
type Metric int

// The metrics, in the order of their names.
const (
	Response Metric = iota
	Service
	Lag
	Queued
	Ack
	metrics
)

var metricNames = [metrics]string{"response", "service", "lag", "queued", "ack"}

func (m Metric) String() string { return metricNames[m] }

// Metrics lists all of them.
func Metrics() []Metric { return []Metric{Response, Service, Lag, Queued, Ack} }

// MetricOf finds a metric by its name.
func MetricOf(name string) (Metric, bool) {
	for m, n := range metricNames {
		if n == name {
			return Metric(m), true
		}
	}
	return 0, false
}

// Geometry of every histogram: nanoseconds from 1 to an hour, 3 digits. All of a run merge.
const (
	lowestNs  = 1
	HighestNs = 3_600_000_000_000
	digits    = 3
)

const (
	secondNs = 1_000_000_000
	// Pieces of a second in which SLA limits are counted.
	Pieces  = 10
	pieceNs = secondNs / Pieces
)

// Limit is a latency that an SLA names.
type Limit struct {
	Metric Metric
	Ns     int64
}

// Recorder is a set of shards that are written by different goroutines and read together.
type Recorder struct {
	// windowStartNs is the warm-up's length: seconds are counted from there, so that none lies in both.
	windowStartNs int64
	windowEndNs   int64
	limits        []Limit
	shards        []*Shard
}

// New makes a recorder for the window [windowStartNs, windowEndNs), in ns since T0.
func New(shards int, windowStartNs, windowEndNs int64, limits []Limit) *Recorder {
	r := &Recorder{windowStartNs: windowStartNs, windowEndNs: windowEndNs, limits: limits}
	for range shards {
		r.shards = append(r.shards, &Shard{recorder: r, seconds: map[int]*second{}, over: make([]int64, len(limits))})
	}
	return r
}

// Shard returns shard i modulo their number.
func (r *Recorder) Shard(i int) *Shard { return r.shards[i%len(r.shards)] }

// Shards is their number.
func (r *Recorder) Shards() int { return len(r.shards) }

// SecondOf is the second of an intended time (ns since T0), counted from the window's start; the warm-up's are negative.
func (r *Recorder) SecondOf(offsetNs int64) int {
	return int(floorDiv(offsetNs-r.windowStartNs, secondNs))
}

// Shard takes measurements under its own lock. The three records of a message may go to different shards.
type Shard struct {
	recorder *Recorder
	mu       sync.Mutex
	seconds  map[int]*second
	// newest is the latest second seen; seconds older than the one before it get packed histograms.
	newest int
	// last is the second recorded into before this one: nearly always the one needed.
	last     *second
	lastHere int
	free     []*hdr.Histogram
	closed   bool
	totals   Totals
	slow     slowest
	// over counts, by limit, the messages of the window above it.
	over []int64
	_    [64]byte // shards do not share a cache line
}

// Enter locks the shard for the records of one message, together with what the caller's books say of it. It reports
// false, with nothing locked, after Close: too late to count. Leave must follow.
func (s *Shard) Enter() bool {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	return true
}

// Leave ends what Enter began.
func (s *Shard) Leave() { s.mu.Unlock() }

// Settled notes that a message is out of flight: received or failed, whichever came first. Between Enter and Leave.
func (s *Shard) Settled() { s.totals.Settled++ }

// Sent records a message after its send call, between Enter and Leave. All times are ns since T0 or durations.
func (s *Shard) Sent(offsetNs, callNs, lagNs, queuedNs int64) {
	s.tally(&s.totals.Sent, &s.totals.SentInWindow, callNs)
	sec := s.at(offsetNs)
	s.record(sec, Lag, offsetNs, lagNs, lagNs)
	s.record(sec, Queued, offsetNs, queuedNs, 0)
}

// Completed records message index at its first receipt, between Enter and Leave.
func (s *Shard) Completed(index, offsetNs, receivedNs, sentNs, lagNs int64) {
	s.tally(&s.totals.Received, &s.totals.ReceivedInWindow, receivedNs)
	sec := s.at(offsetNs)
	s.record(sec, Response, offsetNs, receivedNs-offsetNs, lagNs)
	s.record(sec, Service, offsetNs, receivedNs-sentNs, 0)
	if offsetNs >= s.recorder.windowStartNs {
		s.slow.offer(Slow{
			Index: index, OffsetNs: offsetNs, ResponseNs: receivedNs - offsetNs,
			QueuedNs: sentNs - offsetNs - lagNs, LagNs: lagNs, ServiceNs: receivedNs - sentNs,
		})
	}
}

// Acked records the acknowledgement of a message, between Enter and Leave.
func (s *Shard) Acked(offsetNs, ackedNs, lagNs int64) {
	s.tally(&s.totals.Acked, &s.totals.AckedInWindow, ackedNs)
	s.record(s.at(offsetNs), Ack, offsetNs, ackedNs-offsetNs, lagNs)
}

// Totals counts messages by when things really happened: all of them, and those that happened while the window was open.
type Totals struct {
	Sent, Acked, Received int64
	// Settled messages were received or failed.
	Settled                                       int64
	SentInWindow, AckedInWindow, ReceivedInWindow int64
}

// Totals of all shards so far.
func (r *Recorder) Totals() Totals {
	var t Totals
	for _, s := range r.shards {
		s.mu.Lock()
		t.Sent += s.totals.Sent
		t.Acked += s.totals.Acked
		t.Received += s.totals.Received
		t.Settled += s.totals.Settled
		t.SentInWindow += s.totals.SentInWindow
		t.AckedInWindow += s.totals.AckedInWindow
		t.ReceivedInWindow += s.totals.ReceivedInWindow
		s.mu.Unlock()
	}
	return t
}

// Over is, by limit, how many messages of the window were above it so far.
func (r *Recorder) Over() []int64 {
	over := make([]int64, len(r.limits))
	for _, s := range r.shards {
		s.mu.Lock()
		for k, n := range s.over {
			over[k] += n
		}
		s.mu.Unlock()
	}
	return over
}

// Close makes every later record a no-op: what was counted stays as it is.
func (r *Recorder) Close() {
	for _, s := range r.shards {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
	}
}

// --- internal ---

func (s *Shard) tally(all, inWindow *int64, atNs int64) {
	*all++
	if atNs >= s.recorder.windowStartNs && atNs < s.recorder.windowEndNs {
		*inWindow++
	}
}

func (s *Shard) at(offsetNs int64) *second {
	n := s.recorder.SecondOf(offsetNs)
	if s.last != nil && s.lastHere == n {
		return s.last
	}
	sec := s.seconds[n]
	if sec == nil {
		sec = &second{limits: make([]limitCounts, len(s.recorder.limits))}
		s.newest = max(s.newest, n)
		sec.packed = n < s.newest-1
		s.seconds[n] = sec
	}
	s.last, s.lastHere = sec, n
	return sec
}

// record puts one value into its cell. lagNs is the part of it that the generator caused.
func (s *Shard) record(sec *second, m Metric, offsetNs, ns, lagNs int64) {
	c := sec.cells[m]
	if c == nil {
		c = &cell{}
		if sec.packed {
			c.packed = hdr.NewPacked(lowestNs, HighestNs, digits)
		} else {
			c.dense = s.histogram()
		}
		sec.cells[m] = c
	}
	c.record(ns)
	for k, limit := range s.recorder.limits {
		if limit.Metric != m {
			continue
		}
		piece := int(floorMod(offsetNs-s.recorder.windowStartNs, secondNs) / pieceNs)
		counts := &sec.limits[k]
		counts.Count[piece]++
		if ns > limit.Ns {
			counts.Over[piece]++
			if offsetNs >= s.recorder.windowStartNs {
				s.over[k]++
			}
		}
		if ns-lagNs > limit.Ns {
			counts.OverWithoutLag[piece]++
		}
	}
}

func (s *Shard) histogram() *hdr.Histogram {
	if n := len(s.free); n > 0 {
		h := s.free[n-1]
		s.free = s.free[:n-1]
		return h
	}
	return hdr.New(lowestNs, HighestNs, digits)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }
