package generator

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// stub is a broker in this process whose behaviour a test decides.
type stub struct {
	options broker.Options
	acks    bool
	// onSend runs inside of Send and may block; its error refuses the message.
	onSend func(m *broker.Message) error
	// deliveries says how often message i arrives; nil: once.
	deliveries func(i int64) int
	// receive is called before each delivery, in the goroutine of the topic, with the producer's sequence; it may block.
	receive func(topic string, i int64)
	// alter changes a payload on its way.
	alter func(i int64, payload []byte)
	// overtaken messages arrive after the next one.
	overtaken func(i int64) bool
	// again says which deliveries carry the broker's flag of a second one.
	again func(sequence int64) bool

	mu       sync.Mutex
	handlers map[string]broker.Handler
	queues   map[string]chan []byte
	quit     chan struct{}
	held     [][]byte
}

func (s *stub) driver(o broker.Options) (broker.Session, error) {
	s.options, s.handlers, s.queues, s.quit = o, map[string]broker.Handler{}, map[string]chan []byte{}, make(chan struct{})
	return s, nil
}

func (s *stub) Open(context.Context) error              { return nil }
func (s *stub) Prepare(context.Context, []string) error { return nil }
func (s *stub) Producer(int) (broker.Producer, error)   { return s, nil }
func (s *stub) Dropped() int64                          { return 0 }
func (s *stub) Describe() broker.Description {
	return broker.Description{Acks: s.acks, Order: "per-producer", Library: "stub 1", Server: "stub 1", Settings: map[string]string{}}
}

func (s *stub) Consume(_ context.Context, _ int, topic string, handle broker.Handler) error {
	queue := make(chan []byte, 1<<16)
	s.handlers[topic], s.queues[topic] = handle, queue
	go func() {
		for {
			select {
			case payload := <-queue:
				if s.receive != nil {
					s.receive(topic, sequenceOf(payload))
				}
				again := s.again != nil && s.again(sequenceOf(payload))
				handle(broker.Delivery{ReceivedNs: s.options.Now(), Payload: payload, Redelivered: again})
			case <-s.quit:
				return
			}
		}
	}()
	return nil
}

func sequenceOf(payload []byte) int64 {
	var i int64
	for _, b := range payload[16:24] {
		i = i<<8 | int64(b)
	}
	return i
}

func (s *stub) Send(m *broker.Message, done broker.Done) {
	if s.onSend != nil {
		if err := s.onSend(m); err != nil {
			done(m, 0, err)
			return
		}
	}
	times := 1
	if s.deliveries != nil {
		times = s.deliveries(m.Index)
	}
	for range times {
		payload := bytes.Clone(m.Payload)
		if s.alter != nil {
			s.alter(m.Index, payload)
		}
		if s.overtaken != nil && s.overtaken(m.Index) {
			s.held = append(s.held, payload)
			continue
		}
		s.queues[m.Name] <- payload
	}
	if s.overtaken != nil && !s.overtaken(m.Index) {
		for _, payload := range s.held {
			s.queues[m.Name] <- payload
		}
		s.held = nil
	}
	done(m, s.options.Now(), nil)
}

func (s *stub) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.quit:
	default:
		close(s.quit)
	}
	return nil
}

var names int

// testPlan is a plan at the given rate over ms milliseconds, without warm-up.
func testPlan(rate, ms int64) *Plan {
	p := &Plan{Schema: 1, RunNumber: 77, Pattern: "round-trip", Connections: 1, Producers: 1, Topics: []string{"a"}}
	p.Schedule.Kind = "constant"
	p.Schedule.Rate.Messages, p.Schedule.Rate.PerNs = rate, 1_000_000_000
	p.Schedule.DurationNs = ms * 1_000_000
	p.Message.Bytes, p.Message.Payload = 64, "random"
	p.DrainNs, p.TimeoutNs = 2_000_000_000, 2_000_000_000
	p.Heartbeat.SlotsPerSecond, p.Client.Count = 100, 1
	return complete(p)
}

// complete computes what TypeScript computes for a plan.
func complete(p *Plan) *Plan {
	s, err := p.constant()
	if err != nil {
		panic(err)
	}
	p.Schedule.WarmupMessages = s.Before(p.Schedule.WarmupNs)
	p.Schedule.Messages = s.Before(p.windowEndNs())
	return p
}

// measured is what a run left behind.
type measured struct {
	t              *testing.T
	warmup, window counters
	totals         struct {
		Foreign       int64
		ClientDropped int64
		Errors        []errorNote
	}
	offenders map[string]firstMessage
	slowest   []struct{ Sequence, IntendedNs, ResponseNs, QueuedNs, LagNs, ServiceNs int64 }
	state     string
	metrics   map[string]exactSum
	// over: messages of the window over limit k, and those over it without lag.
	over, overWithoutLag []int64
	took                 time.Duration
	folder               string
}

type exactSum struct {
	Count, Sum, Max int64
}

// measure runs a plan on a stub. heartbeat calls slot as k6 would; nil: every 10 ms.
func measure(t *testing.T, plan *Plan, s interface {
	driver(broker.Options) (broker.Session, error)
}, heartbeat func(slot func())) *measured {
	t.Helper()
	return measureContext(t, context.Background(), plan, s.driver, heartbeat)
}

func measureDriver(t *testing.T, plan *Plan, driver broker.Driver) *measured {
	t.Helper()
	return measureContext(t, context.Background(), plan, driver, nil)
}

func measureContext(t *testing.T, ctx context.Context, plan *Plan, driver broker.Driver, heartbeat func(slot func())) *measured {
	t.Helper()
	names++
	plan.Broker = fmt.Sprintf("stub-%d", names)
	broker.Register(plan.Broker, driver)
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ParsePlan(text)
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(parsed, "")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	files, err := CreateFiles(filepath.Join(folder, "client-0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Open(ctx, files, Versions{K6: "none", Mqbench: "test"}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	slot := func() {
		if err := g.Slot(ctx); err != nil {
			t.Error(err)
		}
	}
	if heartbeat == nil {
		heartbeat = func(slot func()) {
			end := time.Now().Add(time.Duration(plan.windowEndNs()) + 300*time.Millisecond)
			for time.Now().Before(end) && ctx.Err() == nil {
				go slot()
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	heartbeat(slot)
	select {
	case <-g.concluded:
	case <-time.After(100 * time.Millisecond):
		if g.horizonNs.Load() >= plan.windowEndNs() {
			<-g.concluded // the last claim waits for the end
		}
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	m := &measured{t: t, metrics: map[string]exactSum{}, took: time.Since(began), folder: folder}
	m.read(filepath.Join(folder, "client-0.jsonl"))
	m.checkIdentities(g.facts.Acks)
	return m
}

func (m *measured) read(path string) {
	file, err := os.Open(path)
	if err != nil {
		m.t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Type, Scope, State string
			Second             int
			Metrics            map[string]exactSum
			Limits             []limitLine
		}
		decode := func(into any) {
			if err := json.Unmarshal(lines.Bytes(), into); err != nil {
				m.t.Fatalf("%v: %s", err, lines.Bytes())
			}
		}
		decode(&line)
		switch line.Type {
		case "counters":
			if line.Scope == "warmup" {
				decode(&m.warmup)
			} else {
				decode(&m.window)
			}
		case "totals":
			decode(&m.totals)
		case "offenders":
			var l struct{ First map[string]firstMessage }
			decode(&l)
			m.offenders = l.First
		case "slowest":
			l := struct{ Messages any }{&m.slowest}
			decode(&l)
		case "trailer":
			m.state = line.State
		case "second":
			if line.Second < 0 {
				continue
			}
			for name, e := range line.Metrics {
				old := m.metrics[name]
				m.metrics[name] = exactSum{old.Count + e.Count, old.Sum + e.Sum, max(old.Max, e.Max)}
			}
			for k, l := range line.Limits {
				for len(m.over) <= k {
					m.over, m.overWithoutLag = append(m.over, 0), append(m.overWithoutLag, 0)
				}
				for i := range l.Over {
					m.over[k] += l.Over[i]
					m.overWithoutLag[k] += l.OverWithoutLag[i]
				}
			}
		}
	}
}

type limitLine struct{ Count, Over, OverWithoutLag []int64 }

// checkIdentities: what must hold on every run.
func (m *measured) checkIdentities(acks bool) {
	m.t.Helper()
	for _, c := range []counters{m.warmup, m.window} {
		if c.Intended != c.Sent+c.NotOffered {
			m.t.Errorf("%s: intended %d != sent %d + notOffered %d", c.Scope, c.Intended, c.Sent, c.NotOffered)
		}
		if !acks {
			if c.Sent != c.Delivered+c.Lost+c.Failed {
				m.t.Errorf("%s: sent %d != delivered %d + lost %d + failed %d", c.Scope, c.Sent, c.Delivered, c.Lost, c.Failed)
			}
			if c.Received != c.Delivered+c.FailedReceived {
				m.t.Errorf("%s: received %d != delivered %d + failedReceived %d", c.Scope, c.Received, c.Delivered, c.FailedReceived)
			}
			continue
		}
		if c.Sent != *c.Acked+c.Failed+c.Unknown {
			m.t.Errorf("%s: sent %d != acked %d + failed %d + unknown %d", c.Scope, c.Sent, *c.Acked, c.Failed, c.Unknown)
		}
		if *c.Acked != c.Delivered+c.Lost {
			m.t.Errorf("%s: acked %d != delivered %d + lost %d", c.Scope, *c.Acked, c.Delivered, c.Lost)
		}
		if c.Received != c.Delivered+*c.UnackedReceived+c.FailedReceived {
			m.t.Errorf("%s: received %d != delivered %d + unacked %d + failed %d", c.Scope, c.Received, c.Delivered, *c.UnackedReceived, c.FailedReceived)
		}
	}
	if n := m.metrics["response"].Count; n != m.window.Received {
		m.t.Errorf("%d responses for %d received messages", n, m.window.Received)
	}
}

// between fails unless lo <= got <= hi.
func (m *measured) between(what string, got, lo, hi int64) {
	m.t.Helper()
	if got < lo || got > hi {
		m.t.Errorf("%s = %d; want %d .. %d", what, got, lo, hi)
	}
}
