package generator

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/pacer"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
)

const (
	// claimAheadNs is how far into the future a slot's iteration claims: k6's ticks may be that late, or dropped.
	claimAheadNs = int64(50 * time.Millisecond)
	// startAheadNs lies between the first claim and T0, so that the first message is not late.
	startAheadNs = int64(100 * time.Millisecond)
)

// Generator is one run of one client. Make it with New, then Open, then let k6 call Slot; Close ends it at any moment.
type Generator struct {
	plan     *Plan
	schedule schedule.Constant
	clock    *clock.Clock
	session  broker.Session
	facts    broker.Description
	recorder *recorder.Recorder
	sends    *recorder.Shard
	books    *books
	flight   *flight
	body     *envelope.Body
	messages sync.Pool
	senders  []*sender
	results  *results

	pacer   *pacer.Pacer
	pace    pacePosition
	started chan struct{}
	paced   chan struct{}

	// t0 is the clock's reading at T0, valid once started is closed.
	t0           int64
	startOnce    sync.Once
	firstClaimNs int64
	// horizonNs: messages intended before it (ns since T0) have been claimed by an iteration.
	horizonNs    atomic.Int64
	stop         atomic.Bool
	concludeOnce sync.Once
	concluded    chan struct{}
	outcome      outcome
}

// New checks the plan and makes everything that needs no I/O. url may hold a password.
func New(plan *Plan, url string) (*Generator, error) {
	s, err := plan.constant()
	if err != nil {
		return nil, err
	}
	limits, err := plan.limits()
	if err != nil {
		return nil, err
	}
	body, err := envelope.NewBody(plan.Message.Payload, plan.Message.Bytes, plan.Message.Seed)
	if err != nil {
		return nil, err
	}
	driver, err := broker.Lookup(plan.Broker)
	if err != nil {
		return nil, err
	}
	shards := 1 + min(plan.Connections, 2*runtime.NumCPU())
	g := &Generator{
		plan:      plan,
		schedule:  s,
		clock:     clock.New(),
		recorder:  recorder.New(shards, plan.Schedule.WarmupNs, plan.windowEndNs(), limits),
		books:     newBooks(plan),
		flight:    newFlight(plan.Schedule.Messages),
		body:      body,
		started:   make(chan struct{}),
		paced:     make(chan struct{}),
		concluded: make(chan struct{}),
	}
	g.sends = g.recorder.Shard(0)
	g.messages.New = func() any { return &broker.Message{Payload: make([]byte, plan.Message.Bytes)} }
	g.session, err = driver(broker.Options{
		URL:          url,
		Driver:       plan.DriverOptions,
		Connections:  plan.Connections,
		MessageBytes: plan.Message.Bytes,
		Now:          g.clock.Now,
		OnError:      func(err error) { g.books.note(err, nil) },
	})
	return g, err
}

// Open connects, prepares topics, subscribes and calibrates the pacer. results is where the measurements go.
func (g *Generator) Open(ctx context.Context, files *Files, version Versions) error {
	if err := g.session.Open(ctx); err != nil {
		return err
	}
	if err := g.session.Prepare(ctx, g.plan.Topics); err != nil {
		return err
	}
	for t, topic := range g.plan.Topics {
		connection := t % g.plan.Connections
		// Shard 0 is the senders'.
		shard := g.recorder.Shard(1 + connection%(g.recorder.Shards()-1))
		if err := g.session.Consume(ctx, connection, topic, g.receive(shard)); err != nil {
			return err
		}
	}
	producers := make([]broker.Producer, g.plan.Connections)
	for c := range producers {
		p, err := g.session.Producer(c)
		if err != nil {
			return err
		}
		producers[c] = p
	}
	connections := make([]connection, g.plan.Connections)
	for p := range g.plan.Producers {
		c := p % g.plan.Connections
		connections[c].shared = g.plan.InFlight != nil
		g.senders = append(g.senders, newSender(g, p, producers[c], &connections[c]))
	}
	g.facts = g.session.Describe()
	g.books.acks = g.facts.Acks
	g.books.ordered = g.facts.Order == "per-producer"
	ready := make(chan struct{})
	go g.run(ready)
	select {
	case <-ready:
	case <-ctx.Done():
		return fmt.Errorf("calibrate the pacer: %w", ctx.Err())
	}
	g.results = newResults(g, files, version)
	return nil
}

// Slot is one iteration of k6: it claims every unclaimed slot up to now + 50 ms for the pacer and returns, except
// for the iteration that claims the last one: that stays until the run is settled, the drain is over or ctx ends.
func (g *Generator) Slot(ctx context.Context) error {
	if g.results == nil {
		return fmt.Errorf("the run has no output: start k6 with --out mqbench=<path of the results>")
	}
	g.startOnce.Do(g.start)
	slotNs := int64(time.Second) / g.plan.Heartbeat.SlotsPerSecond
	until := (g.clock.Now()-g.t0+claimAheadNs)/slotNs*slotNs + slotNs
	end := g.plan.windowEndNs()
	for {
		old := g.horizonNs.Load()
		if until <= old {
			return nil
		}
		if g.horizonNs.CompareAndSwap(old, until) {
			if old >= end || until < end {
				return nil
			}
			break
		}
	}
	g.conclude(ctx)
	return nil
}

// Close ends the run, whatever state it is in, and writes the results. interrupted says that it was not the plan's end.
func (g *Generator) Close() error {
	if g.results == nil {
		return g.session.Close()
	}
	select {
	case <-g.started:
	default:
		// k6 ended before the first iteration: there is nothing to tell.
		g.stop.Store(true)
		g.startOnce.Do(func() {})
		g.results.files.Discard()
		return g.session.Close()
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	g.conclude(ended)
	return g.results.finish()
}

// --- internal ---

// start fixes T0.
func (g *Generator) start() {
	claim := g.clock.Now()
	g.t0 = claim + startAheadNs
	g.firstClaimNs = claim - g.t0
	g.results.begin()
	close(g.started)
}
