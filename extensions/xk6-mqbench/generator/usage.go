package generator

import (
	"math"
	"runtime/metrics"
)

// usage is what the process has used since its start.
type usage struct {
	cpuNs     int64
	gcPauseNs int64
	gcCycles  int64
	waits     *metrics.Float64Histogram
}

const (
	pausesMetric = "/sched/pauses/total/gc:seconds"
	cyclesMetric = "/gc/cycles/total:gc-cycles"
	waitsMetric  = "/sched/latencies:seconds"
)

func readUsage() usage {
	samples := []metrics.Sample{{Name: pausesMetric}, {Name: cyclesMetric}, {Name: waitsMetric}}
	metrics.Read(samples)
	u := usage{cpuNs: readCPU()}
	if h := samples[0].Value; h.Kind() == metrics.KindFloat64Histogram {
		u.gcPauseNs = sumNs(h.Float64Histogram())
	}
	if c := samples[1].Value; c.Kind() == metrics.KindUint64 {
		u.gcCycles = int64(c.Uint64())
	}
	if h := samples[2].Value; h.Kind() == metrics.KindFloat64Histogram {
		u.waits = h.Float64Histogram()
	}
	return u
}

// schedLatencyNs is quantile q of the time that goroutines waited for a processor between before and u, in ns: the upper edge of the
// runtime's bucket.
func (u usage) schedLatencyNs(before usage, q float64) int64 {
	if u.waits == nil || before.waits == nil {
		return 0
	}
	var all uint64
	counts := make([]uint64, len(u.waits.Counts))
	for i, n := range u.waits.Counts {
		counts[i] = n - before.waits.Counts[i]
		all += counts[i]
	}
	rank := uint64(math.Ceil(float64(all) * q))
	var seen uint64
	for i, n := range counts {
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

// --- internal ---

// sumNs estimates the sum of a runtime histogram from the middles of its buckets.
func sumNs(h *metrics.Float64Histogram) int64 {
	var sum float64
	for i, n := range h.Counts {
		if n == 0 {
			continue
		}
		lo, hi := h.Buckets[i], h.Buckets[i+1]
		if math.IsInf(lo, -1) {
			lo = hi
		}
		if math.IsInf(hi, 1) {
			hi = lo
		}
		sum += float64(n) * (lo + hi) / 2
	}
	return int64(sum * 1e9)
}
