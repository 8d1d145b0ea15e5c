// Package recorder keeps the measurements: HDR histograms per metric and second, exact sums and extremes, and counts above each SLA limit per 100 ms.
package recorder

import (
	"fmt"
	"math"
	"slices"
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
	r.each(func(s *Shard) { s.closed = true })
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

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
