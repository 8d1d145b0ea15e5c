//go:build acceptance

package generator

import (
	"io"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// 72 h of 10^9 messages go through the recorder, the books and the files of a run, by a clock that only the messages move. A few are late,
// fail, or arrive twice. What is kept at the end is what was kept after a tenth of them.
func TestABillionMessagesKeepNoMoreThanATenthOfThem(t *testing.T) {
	const hours, messages, each = 72, 1_000_000_000, 60
	const seconds = hours * 3600
	p := testPlan(1, seconds*1000)
	p.Schedule.Rate.Messages, p.Schedule.Rate.PerNs = messages, seconds*int64(time.Second)
	p.Schedule.WarmupNs, p.Schedule.DurationNs = 0, seconds*int64(time.Second)
	p.Schedule.Messages, p.Schedule.WarmupMessages = messages, 0
	p.Acks, p.InFlight, p.IntervalSeconds = true, 1000, each
	p.Producers, p.Connections, p.Partitions = 8, 2, 4
	p.Limits = []recorder.Limit{{Metric: recorder.Response, Ns: 20 * ms}}
	g := generate(t, p, &stub{acks: true})
	g.facts.Acks = true
	g.books.WatchOrder(g.streams)
	r := &results{g: g, progress: io.Discard, live: recorder.Response}
	if err := r.create(filepath.Join(t.TempDir(), "client-0")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.discard)
	r.log = recorder.NewLog(r.hlog, time.Unix(0, 0))
	heap := func() float64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return float64(stats.HeapAlloc) / (1 << 20)
	}
	began, tenth := time.Now(), 0.0
	const halves = 2
	for from := int64(0); from < seconds; from += each {
		first, end := g.schedule.Before(from*int64(time.Second)), g.schedule.Before((from+each)*int64(time.Second))
		var half sync.WaitGroup
		for n := range int64(halves) { // as many threads as may receive
			half.Go(func() { completed(g, int(n), first+n, end, halves) })
		}
		half.Wait()
		now := from + each
		r.completions(now)
		for _, n := range g.recorder.Numbers() {
			if g.recorder.EndOf(n) <= (now-each)*int64(time.Second) || now == seconds {
				r.take(n)
			}
		}
		r.line(map[string]any{"type": "tick", "at": now, "window": g.recorder.Figures(recorder.Response), "over": g.recorder.Over()})
		if now == seconds/10 {
			tenth = heap()
		}
	}
	all := heap()
	t.Logf("%d messages in %.0f s: %.2f MiB of live heap after a tenth, %.2f MiB at the end", messages, time.Since(began).Seconds(), tenth, all)
	if all > 1.1*tenth {
		t.Errorf("%.2f MiB are kept of %d messages, %.2f MiB of a tenth of them", all, messages, tenth)
	}
	totals := g.recorder.Totals()
	window := g.books.Count("window", tried(g))
	if totals.Sent.All != messages || window.Sent != messages || *window.Acked+window.Failed != messages || *window.Lost != 0 || window.Duplicated != messages/1_000_000 {
		t.Errorf("%+v, %+v", totals, window)
	}
}

// completed sends every nth message from one to another, all of them acknowledged and received after a time from 50 us to 5 s.
func completed(g *Generator, shard int, from, to, nth int64) {
	producers := int64(g.plan.Producers)
	sends, receipts := g.recorder.Shard(shard), g.recorder.Shard(shard+2)
	for i := from; i < to; i += nth {
		p, seq, offsetNs := i%producers, i/producers, g.schedule.Offset(i)
		tookNs := 50_000 + int64(uint64(i)*2654435761%1_000_000)
		if i%100_003 == 0 {
			tookNs = 5_000 * ms
		}
		sends.Enter()
		sends.Sent(i, offsetNs, offsetNs+1000, 1000, 0)
		sends.Leave()
		receipts.Enter()
		if i%10_000_019 == 7 {
			g.books.Failed(p, seq, offsetNs)
		} else {
			g.books.Acked(p, seq)
			receipts.Acked(i, offsetNs, offsetNs+tookNs, 1000)
			g.books.Received(0, p, seq, i%g.streams, offsetNs)
			receipts.Received(i, offsetNs+tookNs)
			receipts.Completed(i, offsetNs, offsetNs+tookNs, offsetNs+1000, 1000)
			if i%1_000_000 == 1 {
				g.books.Received(0, p, seq, i%g.streams, offsetNs)
			}
		}
		if settled, _ := g.books.Settle(p, seq); settled {
			receipts.Settled()
		}
		receipts.Leave()
	}
}

// tried is all messages of each producer.
func tried(g *Generator) []int64 {
	all := make([]int64, g.plan.Producers)
	for p := range all {
		all[p] = g.books.Sequences(int64(p), g.plan.Schedule.Messages)
	}
	return all
}
