package generator

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
)

// stub is a broker in this process whose behaviour a test decides.
type stub struct {
	options broker.Options
	facts   broker.Description
	acks    bool
	// onSend runs inside of Send and may block; its error refuses the message.
	onSend func(m *broker.Message) error
	// ack says after how long message i is acknowledged, and whether at all; nil: at once.
	ack func(i int64) (time.Duration, bool)
	// deliveries says how often message i arrives at each who is to have it; nil: once. deliveriesAt asks by subscription too,
	// which are numbered as they were made.
	deliveries   func(i int64) int
	deliveriesAt func(subscription int, i int64) int
	// receive is called before each delivery, in the goroutine of the subscription, with the producer's sequence; it may block.
	receive func(topic string, i int64)
	// stamped, if a test sets it, gets the time of each acknowledgement and of each receipt as the generator gets it.
	stamped func(acknowledged bool, ns int64)
	// alter changes a payload on its way.
	alter func(i int64, payload []byte)
	// overtaken messages arrive after the next one.
	overtaken func(i int64) bool
	// again says which deliveries carry the broker's flag of a second one.
	again func(sequence int64) bool
	// noConsumers and noRemoval are what Consume and Remove fail with.
	noConsumers, noRemoval error

	mu            sync.Mutex
	prepared      broker.Layout
	subscriptions []*stubSubscription
	quit          chan struct{}
	removed       atomic.Int64
	closed        atomic.Int64
	held          [][]byte
}

type stubSubscription struct {
	broker.Subscription
	number int
	made   bool
	queue  chan []byte
}

func (s *stub) driver(o broker.Options) (broker.Session, error) {
	s.options, s.quit = o, make(chan struct{})
	return s, nil
}

func (s *stub) Open(context.Context) error { return nil }
func (s *stub) Prepare(_ context.Context, layout broker.Layout) error {
	s.prepared = layout
	for i, to := range layout.Subscriptions {
		s.subscriptions = append(s.subscriptions, &stubSubscription{Subscription: to, number: i, queue: make(chan []byte, 1<<16)})
	}
	return nil
}
func (s *stub) Remove(context.Context) error          { s.removed.Add(1); return s.noRemoval }
func (s *stub) Producer(int) (broker.Producer, error) { return s, nil }
func (s *stub) Dropped() int64                        { return 0 }
func (s *stub) Reconnects() int64                     { return 0 }
func (s *stub) Describe() broker.Description {
	d := s.facts
	d.Acks, d.Order, d.Library, d.Server, d.Settings = s.acks, "per-producer", "stub 1", "stub 1", map[string]string{"acknowledgeInGroup": "each message"}
	return d
}

func (s *stub) Consume(_ context.Context, to broker.Subscription, handle broker.Handler) error {
	if s.noConsumers != nil {
		return s.noConsumers
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.subscriptions, func(one *stubSubscription) bool { return one.Subscription == to && !one.made })
	sub := s.subscriptions[i]
	sub.made = true
	go func() {
		for {
			select {
			case payload := <-sub.queue:
				if s.receive != nil {
					s.receive(to.Topic, sequenceOf(payload))
				}
				again := s.again != nil && s.again(sequenceOf(payload))
				handle(broker.Delivery{ReceivedNs: s.stamp(false), Payload: payload, Redelivered: again})
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
	for _, sub := range s.matching(m) {
		times := 1
		if s.deliveries != nil {
			times = s.deliveries(m.Index)
		}
		if s.deliveriesAt != nil {
			times = s.deliveriesAt(sub.number, m.Index)
		}
		s.deliver(sub, m, times)
	}
	if s.ack == nil {
		done(m, s.stamp(true), nil)
		return
	}
	if delay, ok := s.ack(m.Index); ok {
		time.AfterFunc(delay, func() { done(m, s.stamp(true), nil) })
	}
}

func (s *stub) stamp(acknowledged bool) int64 {
	ns := s.options.Now()
	if s.stamped != nil {
		s.stamped(acknowledged, ns)
	}
	return ns
}

func (s *stub) deliver(sub *stubSubscription, m *broker.Message, times int) {
	for range times {
		payload := bytes.Clone(m.Payload)
		if s.alter != nil {
			s.alter(m.Index, payload)
		}
		if s.overtaken != nil && s.overtaken(m.Index) {
			s.held = append(s.held, payload)
			continue
		}
		sub.queue <- payload
	}
	if s.overtaken != nil && !s.overtaken(m.Index) {
		for _, payload := range s.held {
			sub.queue <- payload
		}
		s.held = nil
	}
}

// matching are the subscriptions that get a message: all without a group, and one of each group, by the message's partition
// where the stub keeps order in groups, by its number otherwise.
func (s *stub) matching(m *broker.Message) []*stubSubscription {
	var found, members []*stubSubscription
	for _, sub := range s.subscriptions {
		prefix, wild := strings.CutSuffix(sub.Topic, "*")
		if sub.Topic != m.Name && !(wild && sub.Wildcard && strings.HasPrefix(m.Name, prefix)) {
			continue
		}
		if sub.Group == "" {
			found = append(found, sub)
		} else {
			members = append(members, sub)
		}
	}
	if len(members) > 0 {
		k := m.Index
		if s.facts.GroupOrder {
			k = int64(m.Partition)
		}
		found = append(found, members[k%int64(len(members))])
	}
	return found
}

func (s *stub) Close() error {
	s.closed.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.quit:
	default:
		close(s.quit)
	}
	return nil
}

// flight counts the messages of a stub that are on their way.
type flight struct{ flying, highest atomic.Int64 }

func (f *flight) off(*broker.Message) error {
	f.highest.Store(max(f.highest.Load(), f.flying.Add(1)))
	return nil
}

var names int

// parsed is a plan on a system of its own, as k6 reads it.
func parsed(t testing.TB, plan *Plan, driver broker.Driver) *Plan {
	t.Helper()
	names++
	plan.Broker = fmt.Sprintf("system-%d", names)
	broker.Register(plan.Broker, driver)
	p, err := ParsePlan([]byte(asJSON(plan)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// made is the generator of a plan on a system of its own.
func made(t testing.TB, plan *Plan, driver broker.Driver) *Generator {
	t.Helper()
	g, err := New(parsed(t, plan, driver), "")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// testPlan is a round trip at the given rate over ms milliseconds, without warm-up.
func testPlan(rate, ms int64) *Plan {
	p := &Plan{Schema: 1, RunNumber: 77, Pattern: roundTrip, Connections: 1, Producers: 1, Topics: []string{"a"}}
	p.Partitions, p.Subscriptions, p.Order, p.Create = 1, 1, "none", true
	p.Schedule.Kind = "constant"
	p.Schedule.Rate = &schedule.Rate{Messages: rate, PerNs: 1_000_000_000}
	p.Schedule.DurationNs = ms * 1_000_000
	p.Message.Bytes, p.Message.Kind = 64, "random"
	p.DrainNs, p.TimeoutNs = 2_000_000_000, 2_000_000_000
	p.Heartbeat.SlotsPerSecond, p.Client.Count = 100, 1
	return complete(p)
}

// complete computes what TypeScript computes for a plan.
func complete(p *Plan) *Plan {
	s, err := schedule.Of(p.Schedule.Shape)
	if err != nil {
		panic(err)
	}
	p.Schedule.WarmupMessages = s.Before(p.Schedule.WarmupNs)
	p.Schedule.Messages = s.Before(p.windowEndNs())
	return p
}

// closedPlan sends so many messages, with at most inFlight of each producer in flight.
func closedPlan(messages, inFlight int64) *Plan {
	p := testPlan(1, 20_000)
	p.Schedule.Kind, p.Schedule.Rate = "closed", nil
	p.Schedule.WarmupMessages, p.Schedule.Messages = 0, messages
	p.InFlight = &inFlight
	return p
}

// measured is what a run left behind.
type measured struct {
	t              *testing.T
	warmup, window books.Counters
	totals         struct {
		Unanswered, ClientDropped, Reconnects                                *int64
		LookedNs, SuspendedNs                                                *int64
		Foreign, EndNs, FirstClaimNs                                         int64
		FirstSendNs, LastAckNs, FirstReceiveNs, LastReceiveNs, WindowStartNs *int64
		Errors                                                               []books.Error
	}
	offenders map[string]books.Message
	slowest   []struct{ Sequence, IntendedNs, ResponseNs, QueuedNs, LagNs, ServiceNs int64 }
	// breakdown is nil where the file has none.
	breakdown []recorder.Bucket
	state     string
	stoppedNs int64
	metrics   map[string]exactSum
	// over: messages of the window over limit k, and those over it without lag.
	over, overWithoutLag []int64
	took                 time.Duration
	folder               string
	// progress is what was told while it went on.
	progress []byte
	// warmupSeconds have values of the warm-up.
	warmupSeconds int
	// completions in 10 ms of real time, in all and by second; ticks is what each second's line has.
	completions map[int64][]int64
	ticks       []tickLine
}

type exactSum struct {
	Count, Sum, Min, Max int64
	Negative, Lowest     int64
}

type tickLine struct {
	At                   float64
	Seconds              int64
	Sent, Received       int64
	Acked                *int64
	Backlog, Outstanding []int64
	Held                 json.RawMessage
}

// completed is how many messages completed in all.
func (m *measured) completed() (n int64) {
	for _, bins := range m.completions {
		for _, count := range bins {
			n += count
		}
	}
	return n
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

// onNew, if a test sets it, gets each generator before it opens.
var onNew func(*Generator)

func measureContext(t *testing.T, ctx context.Context, plan *Plan, driver broker.Driver, heartbeat func(slot func())) *measured {
	t.Helper()
	g := made(t, plan, driver)
	if onNew != nil {
		onNew(g)
	}
	folder := t.TempDir()
	var progress bytes.Buffer
	files, err := CreateFiles(plan, filepath.Join(folder, "client-0"), &progress)
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
			most := end.Add(30 * time.Second) // on a busy machine the last message is claimed late, and not never
			for (time.Now().Before(end) || g.horizonNs.Load() < plan.windowEndNs() && time.Now().Before(most)) && ctx.Err() == nil && !happened(g.concluded) {
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
	m := &measured{t: t, metrics: map[string]exactSum{}, took: time.Since(began), folder: folder, progress: progress.Bytes()}
	m.read(filepath.Join(folder, "client-0.jsonl"), plan.Schedule.Steady)
	m.checkIdentities(g.plan)
	return m
}

func (m *measured) read(path string, steady *Steady) {
	file, err := os.Open(path)
	if err != nil {
		m.t.Fatal(err)
	}
	defer file.Close()
	// Seconds count from the plan's window, and one that opened earlier begins before.
	opens := 0
	if text, err := os.ReadFile(path); err != nil {
		m.t.Fatal(err)
	} else if found := regexp.MustCompile(`"windowStartNs":(\d+)`).FindSubmatch(text); found != nil && steady != nil {
		startNs, _ := strconv.ParseInt(string(found[1]), 10, 64)
		opens = int((startNs - steady.ToNs) / 1e9)
	}
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
			var l struct{ First map[string]books.Message }
			decode(&l)
			m.offenders = l.First
		case "slowest":
			l := struct{ Messages any }{&m.slowest}
			decode(&l)
		case "breakdown":
			l := struct{ Buckets any }{&m.breakdown}
			decode(&l)
		case "trailer":
			m.state = line.State
		case "tick":
			var tick tickLine
			decode(&tick)
			m.ticks = append(m.ticks, tick)
		case "stops":
			var l struct{ Stops [][2]int64 }
			decode(&l)
			for _, stop := range l.Stops {
				m.stoppedNs += stop[1] - stop[0]
			}
		case "completions":
			var l struct{ Counts []int64 }
			decode(&l)
			if len(l.Counts) != 100 {
				m.t.Errorf("%d pieces of a second", len(l.Counts))
			}
			if m.completions == nil {
				m.completions = map[int64][]int64{}
			}
			if m.completions[int64(line.Second)] == nil {
				m.completions[int64(line.Second)] = make([]int64, 100)
			}
			for k, n := range l.Counts {
				m.completions[int64(line.Second)][k] += n
			}
		case "second":
			if line.Second < opens {
				m.warmupSeconds++
				continue
			}
			for name, e := range line.Metrics {
				if old := m.metrics[name]; old.Count > 0 {
					e = exactSum{
						old.Count + e.Count, old.Sum + e.Sum, min(old.Min, e.Min), max(old.Max, e.Max),
						old.Negative + e.Negative, min(old.Lowest, e.Lowest),
					}
				}
				m.metrics[name] = e
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

// checkIdentities: what must hold on every run. S subscribers make S receipts of a message.
func (m *measured) checkIdentities(p *Plan) {
	m.t.Helper()
	subscribers := p.subscribers()
	for _, c := range []books.Counters{m.warmup, m.window} {
		equal := func(what string, left, right int64) {
			m.t.Helper()
			if left != right {
				m.t.Errorf("%s: %s: %d != %d", c.Scope, what, left, right)
			}
		}
		equal("intended = sent + notOffered", c.Intended, c.Sent+c.NotOffered)
		promised := c.Sent - c.Failed - c.Unknown
		if p.Acks {
			equal("sent = acked + failed + unknown", c.Sent, *c.Acked+c.Failed+c.Unknown)
			promised = *c.Acked
		}
		if !p.receives() {
			if c.Received != nil || c.Delivered != nil || c.Lost != nil || c.UnackedReceived != nil || c.Reordered != nil {
				m.t.Errorf("%s: nothing is consumed, and receipts are counted: %+v", c.Scope, c)
			}
			continue
		}
		equal("subscribers * promised = delivered + lost", subscribers*promised, *c.Delivered+*c.Lost)
		unacked := int64(0)
		if c.UnackedReceived != nil {
			unacked = *c.UnackedReceived
		}
		equal("received = delivered + unackedReceived + failedReceived", *c.Received, *c.Delivered+unacked+*c.FailedReceived)
	}
	m.checkMetrics(p)
	m.checkCompletions(p)
	m.checkTicks()
}

// checkTicks: what was sent stands in some second, also in one that had only begun when the run ended: the end has nothing to add.
func (m *measured) checkTicks() {
	m.t.Helper()
	for _, end := range m.lines("end") {
		if end.Sent != 0 || end.Received != 0 {
			m.t.Errorf("%d messages were sent and %d received in no second", end.Sent, end.Received)
		}
	}
}

// checkCompletions: each acknowledgement is one, or else each first receipt.
func (m *measured) checkCompletions(p *Plan) {
	m.t.Helper()
	completions := int64(0)
	for _, c := range []books.Counters{m.warmup, m.window} {
		switch {
		case p.Acks:
			completions += *c.Acked
		case c.Received != nil:
			completions += *c.Received
		}
	}
	if n := m.completed(); n != completions {
		m.t.Errorf("%d completions in pieces of 10 ms; want %d", n, completions)
	}
}

// checkMetrics: each response, and nothing else, is in the histograms of the window, and each is the sum of its parts.
func (m *measured) checkMetrics(p *Plan) {
	m.t.Helper()
	responses := int64(0)
	switch {
	case p.Pattern == publish:
		responses = *m.window.Acked
	case p.Pattern != backlog:
		responses = *m.window.Received
	}
	r, s := m.metrics["response"], m.metrics["service"]
	if s.Count != responses {
		m.t.Errorf("%d service times for %d responses", s.Count, responses)
	}
	if p.Acks && m.metrics["ack"].Count != *m.window.Acked {
		m.t.Errorf("%d ack times for %d acknowledgements", m.metrics["ack"].Count, *m.window.Acked)
	}
	if p.closed() {
		for _, name := range []string{"response", "lag", "queued", "last"} {
			if n := m.metrics[name].Count; n != 0 || len(m.slowest) > 0 {
				m.t.Errorf("a closed load has %d values of %s", n, name)
			}
		}
	}
	if responds := !p.closed() && p.Pattern != backlog; responds != (m.breakdown != nil) {
		m.t.Errorf("pattern %s, %s load: breakdown of response times %v", p.Pattern, p.Schedule.Kind, m.breakdown)
	}
	if p.closed() {
		return
	}
	if r.Count != responses {
		m.t.Errorf("%d response times for %d responses", r.Count, responses)
	}
	m.checkBreakdown()
	q, l := m.metrics["queued"], m.metrics["lag"]
	// Every message has one queued and one lag, so its sums match where each message has one response.
	if responses == m.window.Sent && q.Count == responses && r.Sum != q.Sum+l.Sum+s.Sum {
		m.t.Errorf("response %d != queued %d + lag %d + service %d", r.Sum, q.Sum, l.Sum, s.Sum)
	}
	for _, slow := range m.slowest {
		if slow.ResponseNs != slow.QueuedNs+slow.LagNs+slow.ServiceNs {
			m.t.Errorf("%+v does not add up", slow)
		}
	}
}

// checkBreakdown: each response is in one bucket, with its parts.
func (m *measured) checkBreakdown() {
	m.t.Helper()
	var messages, allNs, serviceNs int64
	for _, b := range m.breakdown {
		messages += b.Messages
		allNs += b.QueuedNs + b.LagNs + b.ServiceNs
		serviceNs += b.ServiceNs
	}
	r, s := m.metrics["response"], m.metrics["service"]
	if messages != r.Count {
		m.t.Errorf("%d responses are broken down; want %d", messages, r.Count)
	}
	if r.Negative == 0 && s.Negative == 0 && (allNs != r.Sum || serviceNs != s.Sum) {
		m.t.Errorf("the parts of responses add up to %d, with %d of service; want %d and %d", allNs, serviceNs, r.Sum, s.Sum)
	}
}

// between fails unless lo <= got <= hi.
func (m *measured) between(what string, got, lo, hi int64) {
	m.t.Helper()
	if got < lo || got > hi {
		m.t.Errorf("%s = %d; want %d .. %d", what, got, lo, hi)
	}
}

// count is how many of the messages [from, to) are hit.
func count(from, to int64, hit func(i int64) bool) (n int64) {
	for i := from; i < to; i++ {
		if hit(i) {
			n++
		}
	}
	return n
}

func every(n, at int64) func(int64) bool { return func(i int64) bool { return i%n == at } }
