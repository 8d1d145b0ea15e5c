// Package recorder keeps the measurements: HDR histograms per metric and second, exact sums and extremes, and counts above each SLA limit per 100 ms.
package recorder

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/sizes"
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
	// Last is for fan-out: the copy of the slowest subscriber.
	Last
	metrics
	// Behind them are the classes of size.
	rows = metrics + sizes.MostClasses
)

var metricNames = [metrics]string{"response", "service", "lag", "queued", "ack", "last"}

func (m Metric) String() string { return metricNames[m] }

// Metrics lists all of them.
func Metrics() []Metric { return []Metric{Response, Service, Lag, Queued, Ack, Last} }

func (m Metric) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

func (m *Metric) UnmarshalText(name []byte) error {
	n := slices.Index(metricNames[:], string(name))
	if n < 0 {
		return fmt.Errorf("limit on the unknown metric %q", name)
	}
	*m = Metric(n)
	return nil
}

const (
	secondNs = 1_000_000_000
	// The pieces of a second in which SLA limits are counted.
	Pieces  = 10
	pieceNs = secondNs / Pieces
)

// Limit is a latency limit of an SLA line, as in plan.json.
type Limit struct {
	Metric Metric `json:"metric"`
	Ns     int64  `json:"limitNs"`
}

// Frame is the window and the list of recorded metrics.
type Frame struct {
	// StartNs and EndNs of the window, ns since T0. They are Unopened and Endless for a closed load until it sets them.
	StartNs, EndNs int64
	// First is the window's first message; those before it belong to the warm-up.
	First int64
	// Metrics to record; records of other metrics are ignored.
	Metrics []Metric
	// WarmUp also records messages of the warm-up, in separate seconds.
	WarmUp bool
	// Acks completes a message when it is acknowledged, otherwise at its first receipt.
	Acks bool
	// IntervalSeconds is how many seconds of the window are recorded as one; 0 means 1.
	IntervalSeconds int64
	// ByClass is the metric whose values in the window are also recorded by Class, the class of size of message i: a position in Classes,
	// which are its largest sizes. Class is nil if all messages have the same size.
	ByClass Metric
	Class   func(i int64) int
	Classes []int
}

const (
	// Unopened is the start of a window that has not opened.
	Unopened = math.MaxInt64 / 2
	// Endless is the end of a window whose end is not yet set.
	Endless = math.MaxInt64 / 2
)

// Recorder is a set of shards. Different goroutines write them, and they are read together.
type Recorder struct {
	// Seconds are counted from zeroNs, which keeps warm-up and window in different seconds. It is the window's start by the plan, whole
	// seconds after windowStartNs if the window opened earlier.
	zeroNs, windowStartNs, windowEndNs, first atomic.Int64
	// interval is how many seconds of the window, and of completions, are recorded as one.
	interval     int64
	kept         [metrics]bool
	warmUp, acks bool
	byClass      Metric
	class        func(i int64) int
	tags         [rows]string
	limits       []Limit
	shards       []*Shard
	// open has everything that Peek has merged, until the second is taken. taken adds up the seconds of the window.
	open  map[int]*Second
	taken Second
}

// New makes a recorder.
func New(shards int, frame Frame, limits []Limit) *Recorder {
	r := &Recorder{warmUp: frame.WarmUp, acks: frame.Acks, limits: limits, interval: max(1, frame.IntervalSeconds), open: map[int]*Second{},
		byClass: frame.ByClass, class: frame.Class}
	copy(r.tags[:], metricNames[:])
	for k, most := range frame.Classes {
		r.tags[int(metrics)+k] = fmt.Sprintf("%s.%dB", r.byClass, most)
	}
	r.zeroNs.Store(frame.StartNs)
	r.windowStartNs.Store(frame.StartNs)
	r.first.Store(frame.First)
	r.windowEndNs.Store(frame.EndNs)
	for _, m := range frame.Metrics {
		r.kept[m] = true
	}
	for range shards {
		r.shards = append(r.shards, &Shard{recorder: r, seconds: map[int]*second{}, newest: math.MinInt, over: make([]int64, len(limits))})
	}
	return r
}

// Open sets the moment when the window of a closed load opens. Call it before any of its messages is sent.
func (r *Recorder) Open(startNs int64) {
	r.zeroNs.Store(startNs)
	r.windowStartNs.Store(startNs)
}

// Move moves the window by whole seconds. Call it while none of its messages, before and after, is sent.
func (r *Recorder) Move(startNs, endNs, first int64) {
	r.first.Store(first)
	r.windowStartNs.Store(startNs)
	r.windowEndNs.Store(endNs)
}

// End sets the moment when the window of a closed load ended.
func (r *Recorder) End(endNs int64) { r.windowEndNs.Store(endNs) }

// StartNs is when the window opens, ns since T0. ok is false while the window of a closed load has not opened.
func (r *Recorder) StartNs() (ns int64, ok bool) {
	ns = r.windowStartNs.Load()
	return ns, ns < Unopened
}

// Shard returns shard i modulo their number.
func (r *Recorder) Shard(i int) *Shard { return r.shards[i%len(r.shards)] }

// SecondOf is the second of an intended time (ns since T0), counted from the window's start by the plan. Where several seconds of the window
// are recorded as one, it is the first of them; seconds of the warm-up are always recorded one by one, because the window may open after any.
func (r *Recorder) SecondOf(offsetNs int64) int {
	zero := r.zeroNs.Load()
	n := floorDiv(offsetNs-zero, secondNs)
	if r.interval > 1 {
		if first := floorDiv(r.windowStartNs.Load()-zero, secondNs); n >= first {
			n -= (n - first) % r.interval
		}
	}
	return int(n)
}

// BeginOf is when a second begins, ns since T0.
func (r *Recorder) BeginOf(number int) int64 { return r.zeroNs.Load() + int64(number)*secondNs }

// EndOf is when it ends, with the other seconds that are recorded as one with it.
func (r *Recorder) EndOf(number int) int64 {
	if r.warmsUp(number) {
		return r.BeginOf(number + 1)
	}
	return r.BeginOf(number + int(r.interval))
}

// Shard takes measurements under its own lock. Records of one message may go to different shards.
type Shard struct {
	recorder *Recorder
	mu       sync.Mutex
	seconds  map[int]*second
	// newest is the latest second so far; seconds older than the one before it are sparse.
	newest int
	// last is the second of the previous record, which is nearly always the one needed.
	last     *second
	lastHere int
	free     [][]uint32
	closed   bool
	totals   Totals
	slow     slowest
	// breakdown of the window's messages; nil if none of them has completed here.
	breakdown *[buckets]Bucket
	// over counts the messages of the window above each limit.
	over []int64
	// completed has the seconds that were not taken yet, and last the one of the previous record.
	completed  []*completions
	completing *completions
	_          [64]byte // shards do not share a cache line
}

// Enter locks the shard for one message's records and the caller's books about it, until Leave. After Close it returns false and locks nothing.
func (s *Shard) Enter() bool {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	return true
}

// Leave unlocks the shard.
func (s *Shard) Leave() { s.mu.Unlock() }

// Settled records that a message has left flight: completed or failed, whichever came first. Call it between Enter and Leave.
func (s *Shard) Settled() { s.totals.Settled++ }

// Sent records message i after its send call, between Enter and Leave. All times are ns since T0 or durations. offsetNs is the time under
// which the message is filed: the intended one, or in closed loads the send call's.
func (s *Shard) Sent(i, offsetNs, callNs, lagNs, queuedNs int64) {
	s.tally(&s.totals.Sent, &s.totals.SentInWindow, callNs)
	r := s.recorder
	if i >= r.first.Load() {
		s.totals.Sends.add(callNs)
	} else if !r.warmUp {
		return
	}
	if !r.kept[Lag] {
		return
	}
	sec := s.at(offsetNs)
	s.record(sec, Lag, i, offsetNs, lagNs, lagNs)
	s.record(sec, Queued, i, offsetNs, queuedNs, 0)
}

// Received counts a distinct receipt of message i, between Enter and Leave.
func (s *Shard) Received(i, receivedNs int64) {
	s.tally(&s.totals.Received, &s.totals.ReceivedInWindow, receivedNs)
	if !s.recorder.acks {
		s.complete(receivedNs)
	}
	if i >= s.recorder.first.Load() {
		s.totals.Receipts.add(receivedNs)
	}
}

// Completed records that the response of message i ended, between Enter and Leave.
func (s *Shard) Completed(i, offsetNs, completedNs, sentNs, lagNs int64) {
	r := s.recorder
	if i < r.first.Load() && !r.warmUp || !r.kept[Service] {
		return
	}
	sec := s.at(offsetNs)
	s.record(sec, Service, i, offsetNs, completedNs-sentNs, 0)
	if !r.kept[Response] {
		return
	}
	s.record(sec, Response, i, offsetNs, completedNs-offsetNs, lagNs)
	if i >= r.first.Load() {
		responseNs, queuedNs, serviceNs := completedNs-offsetNs, sentNs-offsetNs-lagNs, completedNs-sentNs
		s.breakDown(responseNs, queuedNs, lagNs, serviceNs)
		s.slow.offer(Slow{
			Index: i, OffsetNs: offsetNs, ResponseNs: responseNs, QueuedNs: queuedNs, LagNs: lagNs, ServiceNs: serviceNs,
		})
	}
}

// Last records that the last subscriber has its copy of message i, between Enter and Leave.
func (s *Shard) Last(i, offsetNs, receivedNs, lagNs int64) {
	s.single(Last, i, offsetNs, receivedNs-offsetNs, lagNs)
}

// Acked records the acknowledgement of message i, between Enter and Leave.
func (s *Shard) Acked(i, offsetNs, ackedNs, lagNs int64) {
	s.tally(&s.totals.Acked, &s.totals.AckedInWindow, ackedNs)
	if s.recorder.acks {
		s.complete(ackedNs)
	}
	if i >= s.recorder.first.Load() {
		s.totals.Acks.add(ackedNs)
	}
	s.single(Ack, i, offsetNs, ackedNs-offsetNs, lagNs)
}

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

// Over is how many messages of the window were above each limit so far.
func (r *Recorder) Over() []int64 {
	over := make([]int64, len(r.limits))
	r.each(func(s *Shard) {
		for k, n := range s.over {
			over[k] += n
		}
	})
	return over
}

// Close makes every later record a no-op.
func (r *Recorder) Close() {
	r.each(func(s *Shard) {
		s.closed = true
	})
}

// --- internal ---

// each calls do with one shard after the other, locked.
func (r *Recorder) each(do func(*Shard)) {
	for _, s := range r.shards {
		s.mu.Lock()
		do(s)
		s.mu.Unlock()
	}
}

func (s *Shard) tally(all, inWindow *int64, atNs int64) {
	*all++
	if atNs >= s.recorder.windowStartNs.Load() && atNs < s.recorder.windowEndNs.Load() {
		*inWindow++
	}
}

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

// single records a value of a metric that comes without others.
func (s *Shard) single(m Metric, i, offsetNs, ns, lagNs int64) {
	if r := s.recorder; r.kept[m] && (i >= r.first.Load() || r.warmUp) {
		s.record(s.at(offsetNs), m, i, offsetNs, ns, lagNs)
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
		sec.sparse = n < s.newest-int(s.recorder.interval)
		s.seconds[n] = sec
	}
	s.last, s.lastHere = sec, n
	return sec
}

// record adds one value of message i to its cell. lagNs is the part of it that the generator caused.
func (s *Shard) record(sec *second, m Metric, i, offsetNs, ns, lagNs int64) {
	s.cell(sec, m).record(ns)
	if r := s.recorder; r.class != nil && m == r.byClass && i >= r.first.Load() {
		s.cell(sec, metrics+Metric(r.class(i))).record(ns)
	}
	for k, limit := range s.recorder.limits {
		if limit.Metric != m {
			continue
		}
		startNs := s.recorder.windowStartNs.Load()
		sinceNs := offsetNs - startNs
		piece := int((sinceNs - floorDiv(sinceNs, secondNs)*secondNs) / pieceNs)
		if n := s.recorder.interval; n > 1 && sinceNs >= 0 {
			piece = int(sinceNs % (n * secondNs) / (n * pieceNs))
		}
		counts := &sec.limits[k]
		counts.Count[piece]++
		if ns > limit.Ns {
			counts.Over[piece]++
			if sinceNs >= 0 {
				s.over[k]++
			}
		}
		if ns-lagNs > limit.Ns {
			counts.OverWithoutLag[piece]++
		}
	}
}

// cell of a second, which is made for its first value.
func (s *Shard) cell(sec *second, row Metric) *cell {
	c := sec.cells[row]
	if c == nil {
		c = &cell{}
		if sec.sparse {
			c.sparse = map[int]uint32{}
		} else {
			c.dense = s.counts()
		}
		sec.cells[row] = c
	}
	return c
}

func (s *Shard) counts() []uint32 {
	if n := len(s.free); n > 0 {
		h := s.free[n-1]
		s.free = s.free[:n-1]
		return h
	}
	return make([]uint32, histogramBuckets)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
