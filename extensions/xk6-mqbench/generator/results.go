package generator

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// settleNs is how long after its end a second is written even if it is not settled. Stragglers follow in separate lines.
const settleNs = int64(5 * time.Second)

// results writes a run's measurements while it goes on: lines for every settled second of intended time (Plan.IntervalSeconds in the window of a long
// run), and a tick for every second of real time. One goroutine writes at a time: watch, and after it the one that ends the run.
type results struct {
	g           *Generator
	hlog, jsonl *recorder.File
	// ledger is nil if every client can count its lost messages by itself.
	ledger *recorder.File
	// progress gets one line of JSON a second, for the runner.
	progress io.Writer
	versions map[string]string
	log      *recorder.Log
	quit     chan struct{}
	watched  sync.WaitGroup
	usage    usage
	// asleepNs is how long the machine had been suspended at the beginning.
	asleepNs int64
	// last has the counts of the previous tick, printed the counts of the previous line of progress, which is written every second.
	last, printed recorder.Totals
	lastUsage     usage
	// backlog has the messages in flight, counted since the last tick.
	backlog []int64
	// outstanding, at the same moments: copies of messages that left this client, minus receipts on it.
	outstanding []int64
	// held, at the same moments: messages that waited in the client library. blind is true if the number was unknown at one of them.
	held  []int64
	blind bool
	// live is the metric whose percentiles are shown during the run.
	live recorder.Metric
	// ticks is how many seconds have been reported, ticked how many of them are in ticks. ending: the next tick is the last.
	ticks, ticked int64
	ending        bool
	// telling guards the lines of progress, because answers to questions are written at any time.
	telling sync.Mutex
}

// create opens "<base>.hlog.part" and "<base>.jsonl.part", and also "<base>.ledger.part" if messages cross from client to client.
func (r *results) create(base string) (err error) {
	if r.hlog, err = recorder.Create(base + ".hlog"); err == nil {
		r.jsonl, err = recorder.Create(base + ".jsonl")
	}
	if err == nil && (r.g.crosses || r.g.plan.Ledger) {
		r.ledger, err = recorder.Create(base + ".ledger")
	}
	return err
}

func (r *results) discard() {
	for _, file := range []*recorder.File{r.hlog, r.jsonl, r.ledger} {
		if file != nil {
			file.Discard()
		}
	}
}

// begin writes the first lines and starts watching. Called at the first claim.
func (r *results) begin() {
	g := r.g
	t0 := g.t0Wall
	order, timer, leadNs, napNs := "none", "none", int64(0), int64(0)
	if g.books.WatchesOrder() {
		order = g.facts.Order
	}
	if g.pacer != nil { // a closed load has no times to keep
		timer, leadNs, napNs = g.pacer.Facts()
	}
	versions := map[string]string{"go": runtime.Version(), "driver": g.plan.Broker, "library": g.facts.Library, "server": g.facts.Server}
	maps.Copy(versions, r.versions)
	r.log = recorder.NewLog(r.hlog, t0)
	r.line(map[string]any{
		"type": "client", "schema": 1, "index": g.plan.Client.Index, "t0UnixNs": strconv.FormatInt(t0.UnixNano(), 10),
		"versions":      versions,
		"driverOptions": g.facts.Settings,
		"capabilities":  map[string]any{"acks": g.facts.Acks, "order": order},
		"pacer":         map[string]any{"timer": timer, "leadNs": leadNs, "spinNs": leadNs, "napNs": napNs},
		"cores":         runtime.NumCPU(),
	})
	r.asleepNs, _ = g.asleep()
	r.usage = readUsage()
	r.lastUsage = r.usage
	r.ticks = g.plan.beginNs() / int64(time.Second)
	r.ticked = r.ticks
	r.tell(map[string]any{"mqbench": "start", "t0UnixNs": strconv.FormatInt(t0.UnixNano(), 10), "firstClaimNs": g.firstClaimNs})
	r.watched.Add(1)
	go r.watch()
}

// end stops watching and writes the rest. The books are closed by then.
func (r *results) end() {
	close(r.quit)
	r.watched.Wait()
	g := r.g
	// A run that goes well ends within its last second. That part still gets a tick, or the run's last step would miss a second.
	if since := g.recorder.Totals(); g.outcome.endNs >= (r.ticks+1)*int64(time.Second) || r.ticks > r.ticked || since.Sent.All > r.last.Sent.All ||
		since.Acked.All > r.last.Acked.All || since.Received.All > r.last.Received.All {
		r.sample()
		r.ending = true
		r.tick(r.ticks + 1)
	}
	for _, n := range g.recorder.Numbers() {
		r.take(n)
	}
	r.completions(math.MaxInt64)
	r.stops()
	r.line(g.outcome.warmup)
	r.line(g.outcome.window)
	t := g.recorder.Totals()
	r.line(r.totals(t, max(0, g.outcome.endNs), g.outcome.library))
	if members := g.members.line(); members != nil {
		r.line(members)
	}
	if r.ledger != nil {
		g.books.WriteLedger(r.ledger, g.outcome.tried)
	}
	r.line(map[string]any{"type": "offenders", "first": g.books.Offenders()})
	r.line(map[string]any{"type": "slowest", "messages": r.slowest()})
	if g.responds && !g.closed {
		r.line(map[string]any{"type": "breakdown", "buckets": g.recorder.Breakdown()})
	}
	// Since the last line of progress.
	end := map[string]any{
		"mqbench": "end", "state": g.outcome.state, "sent": t.Sent.All - r.printed.Sent.All, "received": t.Received.All - r.printed.Received.All,
		"failed": g.books.Failures.Load(), "duplicated": g.books.Duplicated(),
	}
	r.figures(end)
	r.tell(end)
}

func (r *results) totals(t recorder.Totals, endNs int64, library map[string]any) map[string]any {
	g := r.g
	used := readUsage()
	totals := map[string]any{
		"type": "totals", "foreign": g.books.Foreign.Load(),
		"sentInWindow": t.Sent.InWindow, "ackedInWindow": nil, "receivedInWindow": t.Received.InWindow,
		"firstSendNs": t.Sent.First(), "lastAckNs": t.Acked.Last(),
		"firstReceiveNs": t.Received.First(), "lastReceiveNs": t.Received.Last(), "windowStartNs": nil,
		"firstClaimNs": g.firstClaimNs, "endNs": endNs,
		"cpuNs": used.cpuNs - r.usage.cpuNs, "gcPauseNs": used.gcPauseNs - r.usage.gcPauseNs,
		"gcCycles": used.gcCycles - r.usage.gcCycles, "schedLatencyP999Ns": used.schedLatencyNs(r.usage, 0.999),
		"errors": g.errors.List(),
	}
	maps.Copy(totals, library)
	if g.outcome.lookedNs != nil {
		totals["lookedNs"] = *g.outcome.lookedNs
	}
	if g.plan.Pattern == catchUp {
		totals["catchUp"] = g.catching.result()
	}
	if ns, ok := g.asleep(); ok {
		totals["suspendedNs"] = ns - r.asleepNs
	}
	if g.facts.Acks {
		totals["ackedInWindow"] = t.Acked.InWindow
		totals["unanswered"] = g.books.Unanswered.Load()
	}
	if ns, ok := g.recorder.StartNs(); ok {
		totals["windowStartNs"] = ns
	}
	return totals
}

// finish writes the trailers and makes the files durable. Without them the run counts as crashed.
func (r *results) finish() error {
	state := r.g.outcome.state
	hlogLines, hlogSum := r.log.Lines(), r.log.Sum()
	r.log.Trailer(state)
	r.line(map[string]any{
		"type": "trailer", "state": state, "lines": r.jsonl.Lines(), "sha256": r.jsonl.Sum(),
		"hlog": map[string]any{"lines": hlogLines, "sha256": hlogSum},
	})
	// The .jsonl comes last, because its trailer vouches for all files.
	if r.ledger != nil {
		if err := books.FinishLedger(r.ledger); err != nil {
			return err
		}
	}
	if err := r.log.Finish(); err != nil {
		return err
	}
	return r.jsonl.Finish()
}

// --- internal ---

// take removes a second from the recorder and writes it to both files, if anything was measured in it.
func (r *results) take(n int) *recorder.Second {
	s := r.g.recorder.Take(n)
	exact := map[recorder.Metric]recorder.Exact{}
	for _, m := range recorder.Metrics() {
		if e := s.Exact(m); e.Count > 0 {
			exact[m] = e
		}
	}
	if len(exact) == 0 {
		return s
	}
	r.log.Second(s)
	line := map[string]any{"type": "second", "second": s.Number, "metrics": exact, "limits": s.Limits}
	if s.Seconds > 0 {
		line["seconds"] = s.Seconds
	}
	r.line(line)
	return s
}

func (r *results) figures(line map[string]any) {
	line["metric"], line["window"] = r.live, r.g.recorder.Figures(r.live)
	if f := r.g.recorder.Figures(recorder.Lag); f != nil {
		line["windowLagP99"] = f.P99
	}
}

func (r *results) slowest() []map[string]any {
	producers := int64(r.g.plan.Producers)
	list := []map[string]any{}
	for _, m := range r.g.recorder.Slowest() {
		producer := m.Index % producers
		var partition *int64
		if r.g.plan.Keys == nil && r.g.plan.Partitions > 1 {
			n := m.Index / producers % int64(r.g.plan.Partitions)
			partition = &n
		}
		list = append(list, map[string]any{
			"producer": producer, "sequence": m.Index / producers, "topic": producer % int64(len(r.g.plan.Topics)), "partition": partition,
			"intendedNs": m.OffsetNs, "responseNs": m.ResponseNs, "queuedNs": m.QueuedNs, "lagNs": m.LagNs, "serviceNs": m.ServiceNs,
		})
	}
	return list
}

func (r *results) line(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("results: %v", err)) // our own plain values: cannot fail
	}
	r.jsonl.Line(text)
}

func (r *results) tell(v map[string]any) {
	if text, err := json.Marshal(v); err == nil {
		r.telling.Lock()
		defer r.telling.Unlock()
		_, _ = r.progress.Write(append(text, '\n'))
	}
}
