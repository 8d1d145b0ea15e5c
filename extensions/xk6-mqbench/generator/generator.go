package generator

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/keys"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/pacer"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/sizes"
)

const (
	// claimAheadNs is how far into the future a slot's iteration claims: k6's ticks may be that late, or may be dropped.
	claimAheadNs = int64(50 * time.Millisecond)
	// startAheadNs is the time from the first claim to T0. It keeps the first message from being late.
	startAheadNs = int64(100 * time.Millisecond)
)

// Generator is one run on one client. Make it with New, then Open it, then let k6 call Slot. Close ends it at any time.
type Generator struct {
	plan  *Plan
	share *share
	// crosses is true if messages that are sent here may be received elsewhere, and the reverse.
	crosses bool
	// closed is true if there is no schedule.
	closed   bool
	schedule schedule.Schedule
	// keys is nil if messages have none.
	keys     *keys.Keys
	sizes    *sizes.Sizes
	streams  int64
	clock    *clock.Clock
	url      string
	driver   broker.Driver
	session  broker.Session
	members  members
	facts    broker.Description
	recorder *recorder.Recorder
	books    *books.Books
	errors   books.Errors
	// endNs and intendedMessages are the window's end (ns since T0) and the messages until then: the plan's, unless it opens earlier.
	endNs, intendedMessages atomic.Int64
	// responds is true if a receipt completes a response.
	responds bool
	body     *envelope.Body
	// messages to use again, by class of size: a small one does not keep the memory of the largest.
	messages    []sync.Pool
	connections []connection
	// senders of the producers on this client, in order; byProducer has nil for all others.
	senders    []*sender
	byProducer []*sender
	repliers   []replier
	// opener is nil except in the pattern connect.
	opener  *opener
	results *results
	// prepared is true if there may be something on the broker to remove.
	prepared bool

	catching catching

	pacer *pacer.Pacer
	pace  pacePosition
	stops stops
	// asleep is how long the machine was suspended since its start; ok is false if the system does not report it.
	asleep func() (ns int64, ok bool)
	// sendsOver is closed when no further message may leave.
	sendsOver chan struct{}
	sendsOnce sync.Once
	started   chan struct{}
	// paced is closed when every message has been sent or left to its sender.
	paced chan struct{}

	// t0 is the clock's reading at T0, and t0Wall the wall clock's. They are valid once dated is closed and known is true. handedOut is true
	// if the coordinator sets T0.
	t0           int64
	t0Wall       time.Time
	handedOut    bool
	known        atomic.Bool
	dated        chan struct{}
	startOnce    sync.Once
	openOnce     sync.Once
	firstClaimNs int64
	// horizonNs: iterations have claimed the messages that are intended before it (ns since T0).
	horizonNs atomic.Int64
	stop      atomic.Bool
	// told is closed when the books may be closed, finish when the client may leave. One of several clients waits for both.
	told, finish         chan struct{}
	toldOnce, finishOnce sync.Once
	concludeOnce         sync.Once
	// ending is closed when the books are closed and the client leaves; handlers that wait then go on.
	ending    chan struct{}
	concluded chan struct{}
	// parting: clients that are connected to each other leave one after another, and the driver's messages about that are not errors.
	parting atomic.Bool
	outcome outcome
}

// New makes everything that needs no I/O, for a plan that ParsePlan has checked. url may hold a password.
func New(plan *Plan, url string) (*Generator, error) {
	driver, err := broker.Lookup(plan.Broker)
	if err != nil {
		return nil, err
	}
	g := &Generator{
		plan:      plan,
		url:       url,
		driver:    driver,
		members:   members{changes: plan.changes(), due: plan.dueBefore(), present: map[int]*member{}, own: map[int][]subscription{}},
		share:     plan.share(),
		crosses:   plan.crosses(),
		closed:    plan.closed(),
		streams:   plan.streams(),
		clock:     clock.New(),
		asleep:    clock.Asleep,
		responds:  plan.Pattern != backlog && plan.Pattern != catchUp,
		sendsOver: make(chan struct{}),
		dated:     make(chan struct{}),
		started:   make(chan struct{}),
		paced:     make(chan struct{}),
		told:      make(chan struct{}),
		finish:    make(chan struct{}),
		ending:    make(chan struct{}),
		concluded: make(chan struct{}),
	}
	shape := plan.shape()
	if !g.closed {
		if g.schedule, err = schedule.Of(plan.Schedule.Shape); err != nil {
			return nil, err
		}
		shape.First = g.schedule.Before(plan.beginNs())
	}
	g.books = books.New(shape)
	if k := plan.Keys; k != nil {
		if g.keys, err = keys.New(k.Distribution, int(k.Count), k.Seed); err != nil {
			return nil, err
		}
	}
	if g.sizes, err = plan.sizes(); err != nil {
		return nil, err
	}
	if g.body, err = envelope.NewBodyOf(plan.Message.Payload); err != nil {
		return nil, err
	}
	g.pace.callNs.Store(idle)
	g.pace.brokeOffNs, g.pace.next = math.MaxInt64, shape.First
	g.endNs.Store(plan.windowEndNs())
	g.intendedMessages.Store(plan.Schedule.Messages)
	frame := plan.frame()
	if plan.Message.Sizes != nil {
		frame.Classes, frame.Class, frame.ByClass = g.sizes.Classes, g.sizes.Class, plan.Latency()
	}
	g.recorder = recorder.New(g.sendShards()+g.receiptShards(), frame, plan.Limits)
	if plan.beginNs() > 0 {
		g.move(plan.Segments.ResumeNs, plan.windowEndNs())
	}
	g.messages = make([]sync.Pool, len(g.sizes.Classes))
	for class, most := range g.sizes.Classes {
		g.messages[class].New = func() any { return &broker.Message{Payload: make([]byte, most)} }
	}
	g.session, err = driver(plan.options(url, g.clock.Now, g.note))
	if plan.Pattern == connect && err == nil {
		g.opener = g.newOpener()
	}
	return g, err
}

// Open connects, prepares topics, subscribes and calibrates the pacer. Files of results begin with base; progress gets a line of JSON a second. After
// an error nothing is left on the broker, and no file.
func (g *Generator) Open(ctx context.Context, base string, progress io.Writer, versions map[string]string) error {
	r := &results{g: g, progress: progress, versions: versions, quit: make(chan struct{}), live: g.plan.Latency()}
	err := r.create(base)
	if err == nil {
		err = g.open(ctx)
	}
	if err != nil {
		r.discard()
		g.leave()
		return err
	}
	g.results = r
	return nil
}

// Slot is one iteration of k6: it claims every unclaimed slot up to now + 50 ms for the pacer. The iteration that claims the last slot stays until the
// run is settled, the drain is over or ctx ends; so does the first one of a closed load, which has no slots.
func (g *Generator) Slot(ctx context.Context) error {
	if g.results == nil {
		return fmt.Errorf("the run has no output: start k6 with --out mqbench=<path of the results>")
	}
	first := false
	g.startOnce.Do(func() { first = true; g.start() })
	if g.closed {
		if first {
			g.conclude(ctx)
		}
		return nil
	}
	slotNs := int64(time.Second) / g.plan.Heartbeat.SlotsPerSecond
	until := (g.clock.Now()-g.t0+claimAheadNs)/slotNs*slotNs + slotNs
	end := g.endNs.Load()
	for old := g.horizonNs.Load(); old < until; old = g.horizonNs.Load() {
		if g.horizonNs.CompareAndSwap(old, until) {
			if old < end && until >= end {
				g.conclude(ctx)
			}
			break
		}
	}
	return nil
}

// Finished is closed when the run is over before k6's executor is: the length of a closed load or a warm-up is unknown in advance,
// and a run of several clients does not wait for their heartbeats.
func (g *Generator) Finished() <-chan struct{} {
	if g.closed || g.handedOut || g.plan.Schedule.Steady != nil {
		return g.concluded
	}
	return nil
}

// Concluded is closed when the books are closed.
func (g *Generator) Concluded() <-chan struct{} { return g.concluded }

// Started is closed at the first claim.
func (g *Generator) Started() <-chan struct{} { return g.started }

// Close ends the run in any state and writes the results. It is called once.
func (g *Generator) Close() error {
	if g.results == nil {
		return g.session.Close()
	}
	if !happened(g.started) {
		// k6 ended before the first iteration: there are no results.
		g.stop.Store(true)
		g.startOnce.Do(func() {})
		close(g.ending)
		g.results.discard()
		g.leave()
		return nil
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	g.conclude(ended)
	return g.results.finish()
}

// --- internal ---

// note takes errors of the driver that belong to no message.
func (g *Generator) note(err error) {
	if !g.parting.Load() {
		g.errors.Note(err)
	}
}

// start sets T0, unless the coordinator did.
func (g *Generator) start() {
	claim, beginNs := g.clock.Now(), g.plan.beginNs()
	if t0 := claim + startAheadNs - beginNs; !g.handedOut {
		g.date(t0, g.clock.Wall(t0))
	}
	g.firstClaimNs = claim - g.t0 - beginNs
	g.results.begin()
	close(g.started)
	g.comeAndGo()
	if g.plan.Pattern == catchUp {
		go g.catchUp()
	}
	if !g.closed {
		go g.watchTimeouts()
		if !g.facts.Inline {
			go g.stops.watch(g.clock.Now, g.concluded, g.relieve)
		}
	}
}

// date sets T0, by the clock's reading and by the wall clock.
func (g *Generator) date(t0 int64, wall time.Time) {
	g.t0, g.t0Wall = t0, wall
	g.known.Store(true)
	close(g.dated)
}

func (p *Plan) sizes() (*sizes.Sizes, error) {
	least := envelope.Bytes
	if p.Message.Checksum {
		least += envelope.ChecksumBytes
	}
	return sizes.New(p.Message.Sizes, p.Message.Seed, least, p.Message.Bytes)
}

// take a message from the pool that has the size of message i.
func (g *Generator) take(i int64) *broker.Message {
	m := g.messages[g.sizes.Class(i)].Get().(*broker.Message)
	m.Index, m.Payload = i, m.Payload[:g.sizes.Of(i)]
	return m
}

// put it back: nothing refers to it any more.
func (g *Generator) put(m *broker.Message) { g.messages[g.sizes.Class(m.Index)].Put(m) }

func (p *Plan) shape() books.Shape {
	share := p.share()
	shape := books.Shape{
		Messages: p.Schedule.Messages, Warmup: p.Schedule.WarmupMessages, Producers: int64(p.Producers), Subscribers: p.subscribers(),
		Own: share.own, Crosses: p.crosses(), Acks: p.Acks, Checksum: p.Message.Checksum, Limited: p.InFlight > 0,
	}
	if p.receives() {
		shape.Here = func(subscriber int64) bool {
			client, _ := share.consumer(int(subscriber))
			return client == share.index || p.Pattern != fanOut
		}
	}
	return shape
}
