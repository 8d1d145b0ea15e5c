package generator

import (
	"errors"
	"slices"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// watch wakes at every full second since T0.
func (r *results) watch() {
	defer r.watched.Done()
	for ; ; r.ticks++ {
		select {
		case <-r.quit:
			return
		case <-time.After(r.untilTick()):
		}
		r.tick(r.ticks + 1)
	}
}

// untilTick is the time to the end of the current second.
func (r *results) untilTick() time.Duration {
	return time.Duration(r.g.t0 + (r.ticks+1)*int64(time.Second) - r.g.clock.Now())
}

// tick tells of second k of real time, and writes the seconds of intended time that are settled.
func (r *results) tick(k int64) {
	g := r.g
	t := g.recorder.Totals()
	cpu := readCPU()
	inFlight := max(0, g.inFlight())
	tick := map[string]any{
		"type": "tick", "at": float64(k), "sent": t.Sent - r.last.Sent, "acked": nil,
		"received": t.Received - r.last.Received, "inFlight": inFlight, "cpuNs": max(0, cpu-r.lastCPU),
	}
	if g.facts.Acks {
		tick["acked"] = t.Acked - r.last.Acked
	}
	r.line(tick)
	progress := map[string]any{
		"mqbench": "tick", "at": k, "sent": t.Sent - r.last.Sent, "received": t.Received - r.last.Received,
		"inFlight": inFlight, "failed": g.books.failures.Load(), "p50": nil, "p99": nil,
	}
	r.last, r.lastCPU = t, cpu
	// Most messages of the second are back a little later.
	select {
	case <-r.quit:
	case <-time.After(20 * time.Millisecond):
	}
	r.settled(k, progress)
	if err := errors.Join(r.log.Flush(), r.files.jsonl.Flush()); err != nil {
		progress["error"] = err.Error()
	}
	r.tell(progress)
}

// settled writes the seconds of intended time that are complete, or old, and puts the percentiles of the last one into progress.
func (r *results) settled(k int64, progress map[string]any) {
	g := r.g
	nowNs := k * int64(time.Second)
	current := g.recorder.SecondOf(nowNs) - 1
	numbers := g.recorder.Numbers()
	slices.Sort(numbers)
	for _, n := range numbers {
		endNs := g.plan.Schedule.WarmupNs + int64(n+1)*int64(time.Second)
		if endNs > nowNs {
			continue
		}
		settled := g.recorder.Completed(n) >= g.schedule.Before(endNs)-g.schedule.Before(endNs-int64(time.Second))
		var s *recorder.Second
		if settled || nowNs-endNs >= settleNs {
			s = g.recorder.Take(n)
			r.second(s)
		} else if n == current {
			s = g.recorder.Peek(n)
		}
		if n == current && s != nil {
			for name, p := range map[string]float64{"p50": 50, "p99": 99} {
				if ns, ok := s.Percentile(recorder.Response, p); ok {
					progress[name] = ns
				}
			}
		}
	}
}
