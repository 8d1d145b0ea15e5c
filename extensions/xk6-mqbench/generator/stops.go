package generator

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// beatNs is the interval at which the watch for stops wants to run: stops are measured to within it. A wake-up costs 20 to 80 us.
	beatNs = int64(2 * time.Millisecond)
	// stoppedNs: when it runs this much later than it wanted to, the generator was stopped. Subtle: threads wait some milliseconds for a core
	// on any busy machine, which does not lengthen a call that waits for the broker. On 2 cores, of sleeps of 1 ms none of 9005 was 5 ms late
	// on an idle machine, and 109 of 6586 (7 % of the time) at a load average of 30.
	stoppedNs = int64(5 * time.Millisecond)
	// remembered is how many stops there are in memory: those within a send call of some seconds.
	remembered = 1024
)

// stops is when this process could not run: stopped by a signal, throttled, paused with its machine, or without a core. The part of a send
// call in a stop is the generator's own time. A goroutine that does nothing but sleep notices. The CPU time of the pacer's thread would not
// show it: a thread that waits for a socket uses none either, stopped or not.
type stops struct {
	// dueNs is when the watch is to run next, ns since the clock's start; 0 if there is no watch.
	dueNs  atomic.Int64
	lastNs atomic.Int64

	mu   sync.Mutex
	past [remembered]stretch
	next int
	// taken is how many of them take has returned.
	taken int
}

// watch notes the stops until done is closed. It calls tick each time it runs, because further wake-ups would cost the same again.
func (s *stops) watch(now func() int64, done <-chan struct{}, tick func()) {
	for !happened(done) {
		dueNs := now() + beatNs
		s.dueNs.Store(dueNs)
		time.Sleep(time.Duration(beatNs))
		s.woke(dueNs, now())
		tick()
	}
	s.dueNs.Store(0)
}

// woke notes that the watch ran at nowNs and wanted to at dueNs.
func (s *stops) woke(dueNs, nowNs int64) {
	if nowNs-dueNs < stoppedNs {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past[s.next%remembered] = stretch{dueNs, nowNs}
	s.next++
	s.lastNs.Store(nowNs)
}

// during is how much of [fromNs, untilNs) the generator was stopped. It costs two loads where nothing was the matter.
func (s *stops) during(fromNs, untilNs int64) int64 {
	// Subtle: the caller may run before the watch does. It is still the watch's stop, up to now.
	dueNs := s.dueNs.Load()
	late := dueNs > 0 && untilNs-dueNs >= stoppedNs
	if !late && s.lastNs.Load() <= fromNs {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stoppedNs, noted := int64(0), false
	for k := range min(s.next, remembered) {
		stop := s.past[(s.next-1-k)%remembered]
		if stop.untilNs <= fromNs {
			break // they are in order, and so are those before it
		}
		stoppedNs += max(0, min(untilNs, stop.untilNs)-max(fromNs, stop.fromNs))
		noted = noted || stop.fromNs == dueNs
	}
	if late && !noted {
		stoppedNs += untilNs - max(fromNs, dueNs)
	}
	return stoppedNs
}

// take returns the stops since the previous call, from and until in ns since the given time.
func (s *stops) take(sinceNs int64) (fresh [][2]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.taken = max(s.taken, s.next-remembered); s.taken < s.next; s.taken++ {
		stop := s.past[s.taken%remembered]
		fresh = append(fresh, [2]int64{stop.fromNs - sinceNs, stop.untilNs - sinceNs})
	}
	return fresh
}

// stopped is how long the generator was stopped in a call that took from fromNs until untilNs, ns since T0. It is 0 unless stops were most
// of the call: a stop does not lengthen a call that the system holds for longer.
func (g *Generator) stopped(fromNs, untilNs int64) int64 {
	if untilNs-fromNs < stoppedNs {
		return 0
	}
	if ns := g.stops.during(g.t0+fromNs, g.t0+untilNs); 2*ns > untilNs-fromNs {
		return ns
	}
	return 0
}

type usage struct {
	cpuNs     int64
	gcPauseNs int64
	gcCycles  int64
	waits     *metrics.Float64Histogram
}

func readUsage() usage {
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	waits := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(waits)
	return usage{readCPU(), int64(gc.PauseTotal), gc.NumGC, waits[0].Value.Float64Histogram()}
}

// schedLatencyNs is quantile q of the time that goroutines waited for a processor since before: the upper edge of the runtime's bucket.
func (u usage) schedLatencyNs(before usage, q float64) int64 {
	var all, seen uint64
	for i, n := range u.waits.Counts {
		all += n - before.waits.Counts[i]
	}
	rank := uint64(math.Ceil(float64(all) * q))
	for i, n := range u.waits.Counts {
		n -= before.waits.Counts[i]
		if seen += n; seen >= rank && n > 0 {
			edge := u.waits.Buckets[i+1]
			if math.IsInf(edge, 1) {
				edge = u.waits.Buckets[i]
			}
			return int64(edge * 1e9)
		}
	}
	return 0
}
