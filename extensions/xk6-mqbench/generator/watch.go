package generator

import (
	"errors"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// backlogs is how often a second the messages in flight are counted; their slope shows a growing queue.
const backlogs = 10

// watch wakes ten times a second from T0 on, and reports every full second. A tick has ten samples, for however many seconds it covers.
func (r *results) watch() {
	defer r.watched.Done()
	select {
	case <-r.quit:
		return
	case <-time.After(time.Duration(r.g.t0 + r.g.plan.beginNs() - r.g.clock.Now())):
	}
	// If the coordinator set T0, k6 has made its VUs since the first claim. That is not a cost of the load.
	if r.g.handedOut {
		r.usage = readUsage()
		r.lastUsage = r.usage
	}
	for piece := r.ticks*backlogs + 1; ; piece++ {
		wait := r.g.t0 + piece*int64(time.Second)/backlogs - r.g.clock.Now()
		select {
		case <-r.quit:
			return
		case <-time.After(time.Duration(wait)):
		}
		if from, to := r.g.tickOf((piece + backlogs - 1) / backlogs); (to*backlogs-piece)%(to-from) == 0 {
			r.sample()
		}
		if piece%backlogs == 0 {
			r.tick(piece / backlogs)
		}
	}
}

// sample counts the messages under way. Where messages cross, only the sum over all clients of sent minus received is their number.
func (r *results) sample() {
	g := r.g
	t := g.recorder.Totals()
	r.backlog = append(r.backlog, max(0, t.Sent.All-t.Settled))
	if n := over(g.sessions(false), broker.Held, plus); n == nil {
		r.blind = true
	} else {
		r.held = append(r.held, max(0, *n))
	}
	if g.crosses {
		left := t.Sent.All - g.books.Failures.Load() - g.books.Unanswered.Load()
		r.outstanding = append(r.outstanding, left*g.plan.subscribers()-t.Received.All)
	}
}

// tick reports second k of real time and writes the seconds of intended time that are settled.
func (r *results) tick(k int64) {
	g := r.g
	r.ticks = k
	t := g.recorder.Totals()
	now := readUsage()
	inFlight := max(0, t.Sent.All-t.Settled)
	tick := g.counts(t, r.last, map[string]any{
		"type": "tick", "at": float64(k), "inFlight": inFlight, "backlog": r.backlog,
		"cpuNs": max(0, now.cpuNs-r.lastUsage.cpuNs), "gcPauseNs": max(0, now.gcPauseNs-r.lastUsage.gcPauseNs),
		"gcCycles": now.gcCycles - r.lastUsage.gcCycles,
	})
	if n := k - r.ticked; n > 1 {
		tick["seconds"] = n
	}
	if g.crosses {
		tick["outstanding"] = r.outstanding
	}
	switch {
	case !g.plan.receives():
	case r.blind:
		tick["held"] = nil
	default:
		tick["held"] = r.held
	}
	if _, to := g.tickOf(k); to == k || r.ending {
		r.line(tick)
		r.backlog, r.outstanding, r.held, r.blind = nil, nil, nil, false
		r.last, r.lastUsage, r.ticked = t, now, k
	}
	r.stops()
	progress := g.counts(t, r.printed, map[string]any{
		"mqbench": "tick", "at": k, "inFlight": inFlight, "failed": g.books.Failures.Load(), "duplicated": g.books.Duplicated(),
		"over": g.recorder.Over(), "p50": nil, "p99": nil, "lagP99": nil,
	})
	if g.crosses || g.plan.Ledger {
		progress["crossing"] = g.crossing(t)
	}
	r.printed = t
	// Written a little late, when most messages of the second are back.
	select {
	case <-r.quit:
	case <-time.After(20 * time.Millisecond):
	}
	r.completions(k)
	r.settled(k, progress)
	r.checkpoint(k)
	r.figures(progress)
	if err := errors.Join(r.log.Flush(), r.jsonl.Flush()); err != nil {
		progress["error"] = err.Error()
	}
	r.tell(progress)
}

// checkpoint writes what a report needs of the window's messages that were due a drain ago or earlier, so the run can go on from there if it
// is cut. Their books are as good as closed; messages that are still held up then have the next checkpoint.
func (r *results) checkpoint(k int64) {
	g := r.g
	if g.plan.Segments == nil || k*int64(time.Second)%g.plan.Segments.CheckpointNs != 0 {
		return
	}
	startNs, _ := g.recorder.StartNs()
	each := max(1, g.plan.IntervalSeconds) * int64(time.Second)
	intervals := (k*int64(time.Second) - max(g.plan.DrainNs, settleNs) - startNs) / each
	if intervals < 1 {
		return
	}
	untilNs := startNs + intervals*each
	until := g.schedule.Before(untilNs)
	tried := make([]int64, g.plan.Producers)
	for _, s := range g.senders {
		tried[s.producer] = g.books.Sequences(s.producer, until)
		if called := s.called.Load(); called < tried[s.producer] || called == tried[s.producer] && s.callNs.Load() != idle {
			return
		}
	}
	r.line(map[string]any{
		"type": "checkpoint", "untilNs": untilNs,
		"counters": []books.Counters{g.books.Count("warmup", tried), g.books.CountUntil("window", tried, until)},
		"totals":   r.totals(g.recorder.Totals(), untilNs, g.libraryCounts()),
		"first":    g.books.Offenders(), "slowest": r.slowest(), "lines": r.jsonl.Lines(), "sha256": r.jsonl.Sum(),
		"hlog": map[string]any{"bytes": r.log.Bytes(), "sha256": r.log.Sum()},
	})
}

// stops writes the stops that are not yet written. In a closed load they lengthen its drain, and explain nothing else.
func (r *results) stops() {
	if stops := r.g.stops.take(r.g.t0); stops != nil && !r.g.closed {
		r.line(map[string]any{"type": "stops", "stops": stops})
	}
}

func (r *results) completions(before int64) {
	for _, second := range r.g.recorder.TakeCompletions(before) {
		r.line(second)
	}
}

// tickOf is the tick of second k of real time: it begins after second from, and ends with second to. Ticks of a window begin with it, like
// its seconds of intended time; a closed load's ticks begin with T0, because its window opens at any time.
func (g *Generator) tickOf(k int64) (from, to int64) {
	var opened int64
	if !g.closed {
		startNs, _ := g.recorder.StartNs()
		opened = (startNs + int64(time.Second) - 1) / int64(time.Second)
	}
	if k <= opened {
		return k - 1, k
	}
	n := max(1, g.plan.IntervalSeconds)
	from = k - 1 - (k-1-opened)%n
	return from, from + n
}

// crossing is a client's counts so far where messages cross: only the counts of all clients together show whether all has arrived.
func (g *Generator) crossing(t recorder.Totals) map[string]any {
	return g.counts(t, recorder.Totals{}, map[string]any{
		"failed": g.books.Failures.Load(), "unanswered": g.books.Unanswered.Load(), "paced": g.settled(),
	})
}

// counts adds what has been sent, acknowledged and received since then to a line; acked is null if nothing is acknowledged.
func (g *Generator) counts(t, since recorder.Totals, line map[string]any) map[string]any {
	line["sent"], line["acked"], line["received"] = t.Sent.All-since.Sent.All, nil, t.Received.All-since.Received.All
	if g.facts.Acks {
		line["acked"] = t.Acked.All - since.Acked.All
	}
	return line
}

// settled writes the seconds of intended time that are complete or old, and adds the last one's percentiles to the progress.
func (r *results) settled(k int64, progress map[string]any) {
	g := r.g
	nowNs := k * int64(time.Second)
	if _, opened := g.recorder.StartNs(); !opened {
		return
	}
	// A second that covers several is shown with its values so far.
	current := g.recorder.SecondOf(nowNs - int64(time.Second))
	for _, n := range g.recorder.Numbers() {
		endNs := g.recorder.EndOf(n)
		if endNs > nowNs && n != current {
			continue
		}
		var s *recorder.Second
		if endNs <= nowNs && (r.whole(n, endNs) || nowNs-endNs >= settleNs) {
			s = r.take(n)
			// The lag of the newest settled second.
			if ns, ok := s.Percentile(recorder.Lag, 99); ok {
				progress["lagP99"] = ns
			}
		} else if n == current {
			s = g.recorder.Peek(n)
		}
		if n == current && s != nil {
			for name, p := range map[string]float64{"p50": 50, "p99": 99} {
				if ns, ok := s.Percentile(r.live, p); ok {
					progress[name] = ns
				}
			}
		}
	}
}

// whole reports whether every message of second n, which ends at endNs, is back. For loads without response or schedule, and for clients
// that receive other clients' messages, it is unknown before the second is old.
func (r *results) whole(n int, endNs int64) bool {
	g := r.g
	if g.closed || !g.responds || g.crosses {
		return false
	}
	intended := g.share.before(g.schedule.Before(endNs)) - g.share.before(g.schedule.Before(g.recorder.BeginOf(n)))
	return g.recorder.Counted(n, recorder.Response) >= intended*g.plan.subscribers()
}
