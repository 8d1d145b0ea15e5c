package generator

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
)

// hub is a broker in this process that the sessions of several clients share.
type hub struct {
	acks, groupOrder bool
	// copies is how often message i arrives at each who is to have it, in a group at one member after the other; nil: once.
	copies func(i int64) int
	// refuse is the error of the send of message i, and silent whether it is never acknowledged.
	refuse func(i int64) error
	silent func(i int64) bool
	// deaf: nobody can subscribe.
	deaf error
	// led says who leads a topic.
	led func(ctx context.Context, topic string) (string, error)

	mu            sync.Mutex
	subscriptions []*hubSubscription
	// events in their order: "make 3 topics", "leave 3 topics", "remove", "close".
	events []string
	// sent has all envelopes in their order.
	sent []envelope.Envelope
	// under way: queued, or in a handler.
	under atomic.Int64
	// sizes of the sessions: connections.
	sizes []int
}

type hubSession struct {
	*hub
	o    broker.Options
	quit chan struct{}
}

type hubSubscription struct {
	broker.Subscription
	queue chan []byte
}

func (h *hub) driver(o broker.Options) (broker.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sizes = append(h.sizes, o.Connections)
	s := &hubSession{hub: h, o: o, quit: make(chan struct{})}
	if h.led != nil {
		return &leadingSession{s}, nil
	}
	return s, nil
}

type leadingSession struct{ *hubSession }

func (s *leadingSession) Leader(ctx context.Context, topic string) (string, error) {
	return s.led(ctx, topic)
}

func (s *hubSession) note(format string, arguments ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, fmt.Sprintf(format, arguments...))
}

func (s *hubSession) Open(context.Context) error { return nil }
func (s *hubSession) Prepare(_ context.Context, layout broker.Layout) error {
	s.note("%s %d topics", map[bool]string{false: "make", true: "take"}[s.o.Found()], len(layout.Topics))
	return nil
}
func (s *hubSession) Remove(context.Context) error {
	s.note("remove %s", map[bool]string{false: "topics", true: "nothing"}[s.o.Found()])
	return nil
}
func (s *hubSession) Producer(c int) (broker.Producer, error) {
	if c >= s.o.Connections {
		return nil, fmt.Errorf("connection %d of %d", c, s.o.Connections)
	}
	return s, nil
}
func (s *hubSession) Dropped() int64    { return 0 }
func (s *hubSession) Reconnects() int64 { return 0 }
func (s *hubSession) Close() error      { close(s.quit); return nil }
func (s *hubSession) Describe() broker.Description {
	return broker.Description{
		Acks: s.acks, Order: "per-producer", GroupOrder: s.groupOrder, Wildcards: true, Stores: true, Library: "hub", Server: "hub",
		Settings: map[string]string{},
	}
}

func (s *hubSession) Consume(_ context.Context, to broker.Subscription, handle broker.Handler) error {
	if s.deaf != nil {
		return s.deaf
	}
	if to.Connection >= s.o.Connections {
		return fmt.Errorf("connection %d of %d", to.Connection, s.o.Connections)
	}
	sub := &hubSubscription{Subscription: to, queue: make(chan []byte, 1<<14)}
	s.mu.Lock()
	s.subscriptions = append(s.subscriptions, sub)
	s.mu.Unlock()
	go func() {
		for {
			select {
			case payload := <-sub.queue:
				handle(broker.Delivery{ReceivedNs: s.o.Now(), Payload: payload})
				s.under.Add(-1)
			case <-s.quit:
				return
			}
		}
	}()
	return nil
}

func (s *hubSession) Send(m *broker.Message, done broker.Done) {
	if s.refuse != nil {
		if err := s.refuse(m.Index); err != nil {
			done(m, 0, err)
			return
		}
	}
	copies := 1
	if s.copies != nil {
		copies = s.copies(m.Index)
	}
	e, _ := envelope.Get(m.Payload)
	s.mu.Lock()
	s.sent = append(s.sent, e)
	var members []*hubSubscription
	for _, sub := range s.subscriptions {
		prefix, wild := strings.CutSuffix(sub.Topic, "*")
		switch {
		case sub.Topic != m.Name && !(wild && sub.Wildcard && strings.HasPrefix(m.Name, prefix)):
		case sub.Group != "":
			members = append(members, sub)
		default:
			for range copies {
				s.enqueue(sub, m)
			}
		}
	}
	for k := range copies {
		if len(members) > 0 {
			s.enqueue(members[(m.Index+int64(k))%int64(len(members))], m)
		}
	}
	s.mu.Unlock()
	if s.acks && s.silent != nil && s.silent(m.Index) {
		return
	}
	done(m, s.o.Now(), nil)
}

// again delivers messages to all who are subscribed, as if they came only now.
func (h *hub) again(sender *Generator, which func(i int64) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range sender.plan.Schedule.Messages {
		if !which(i) {
			continue
		}
		m := sender.message(i%sender.share.producers, i/sender.share.producers)
		m.SentNs = m.OffsetNs
		sender.stamp(m)
		for _, sub := range h.subscriptions {
			h.enqueue(sub, m)
		}
	}
}

func (h *hub) enqueue(to *hubSubscription, m *broker.Message) {
	h.under.Add(1)
	to.queue <- bytes.Clone(m.Payload)
}

// fleet is the generators of one run.
type fleet struct {
	t          *testing.T
	hub        *hub
	plan       *Plan
	generators []*Generator
	folder     string
	progress   []*sharedBuffer
	beating    sync.WaitGroup
	ctx        context.Context
	// before is what all clients told last, and since when.
	before   string
	beforeAt time.Time
}

type sharedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *sharedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *sharedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// openClients opens the plan's clients, one after the other.
func openClients(t *testing.T, plan *Plan, h *hub) *fleet {
	t.Helper()
	c := &fleet{t: t, hub: h, plan: parsed(t, plan, h.driver), folder: t.TempDir(), ctx: context.Background()}
	for i := range plan.Client.Count {
		taken, err := c.plan.Take(i, plan.Client.Count)
		if err != nil {
			t.Fatal(err)
		}
		g, err := New(taken, "")
		if err != nil {
			t.Fatal(err)
		}
		c.progress = append(c.progress, &sharedBuffer{})
		files, err := CreateFiles(taken, filepath.Join(c.folder, fmt.Sprintf("client-%d", i)), c.progress[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Open(c.ctx, files, Versions{K6: "none", Mqbench: "test"}); err != nil {
			t.Fatal(err)
		}
		g.Ready()
		c.generators = append(c.generators, g)
	}
	return c
}

// start hands out T0, so long from now, and has every client's k6 call its slots until the run is through.
func (c *fleet) start(ahead time.Duration) {
	t0 := time.Now().Add(ahead)
	for _, g := range c.generators {
		g.StartAt(t0)
	}
	c.beat()
}

func (c *fleet) beat() {
	for _, g := range c.generators {
		c.beating.Add(1)
		go func() {
			defer c.beating.Done()
			for !happened(g.Finished()) && c.ctx.Err() == nil {
				go func() {
					if err := g.Slot(c.ctx); err != nil {
						c.t.Error(err)
					}
				}()
				time.Sleep(5 * time.Millisecond)
			}
		}()
	}
}

// coordinate does what the runner does: it has all close their books when everything has arrived, and says finish when all are
// settled; to the first client last.
func (c *fleet) coordinate() {
	c.t.Helper()
	if c.plan.crosses() {
		c.arrive()
		return
	}
	if c.plan.Client.Count > 1 {
		c.settle()
	}
	c.finish()
}

// arrive waits until everything has arrived, and ends the run.
func (c *fleet) arrive() {
	c.t.Helper()
	c.eventually("everything has arrived", c.arrived)
	c.finish()
}

// settle waits until all books are closed.
func (c *fleet) settle() {
	c.t.Helper()
	c.eventually("all are settled", func() bool {
		return !slices.ContainsFunc(c.progress, func(p *sharedBuffer) bool { return !strings.Contains(p.String(), `"settled"`) })
	})
}

// finish has all close their books, and then tells them to leave, the first one last. One client alone leaves by itself.
func (c *fleet) finish() {
	c.t.Helper()
	if c.plan.Client.Count == 1 {
		<-c.generators[0].Finished()
		return
	}
	for _, g := range c.generators {
		g.CloseBooks()
	}
	c.settle()
	for i := len(c.generators) - 1; i >= 0; i-- {
		c.generators[i].Finish()
		<-c.generators[i].Finished()
	}
}

// arrived is makeArrival of runner/run/arrival.ts: by what all clients tell, nothing is missing, and nothing more either; and so it was
// a moment ago.
func (c *fleet) arrived() bool {
	now := c.told()
	still := now != "" && now == c.before && time.Since(c.beforeAt) >= stillFor
	if now != c.before {
		c.before, c.beforeAt = now, time.Now()
	}
	return still
}

// stillFor is shorter than the runner's second: the hub is in this process.
const stillFor = 50 * time.Millisecond

// told is what all clients tell; "": not everything has arrived.
func (c *fleet) told() string {
	var expected, received int64
	var all []map[string]any
	for _, g := range c.generators {
		counts := g.crossing(g.recorder.Totals())
		if counts["paced"] != true {
			return ""
		}
		if counts["acked"] != nil && counts["unanswered"] != int64(0) {
			return ""
		}
		all = append(all, counts)
		received += counts["received"].(int64)
		if acked, ok := counts["acked"].(int64); ok {
			expected += acked
		} else {
			expected += counts["sent"].(int64) - counts["failed"].(int64)
		}
	}
	if received != expected*c.plan.subscribers() {
		return ""
	}
	return asJSON(all)
}

func (c *fleet) eventually(what string, holds func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("never: %s", what)
		}
	}
}

// quiet: everything is sent, and nothing more arrives. What is lost or unanswered only the drain would tell.
func (c *fleet) quiet() bool {
	for _, g := range c.generators {
		if !g.sent() || slices.ContainsFunc(g.senders, func(s *sender) bool { return s.busy.Load() || !s.connection.quiet() }) {
			return false
		}
	}
	return c.hub.under.Load() == 0
}

// close ends all and reads what they have written.
func (c *fleet) close() []*measured {
	c.t.Helper()
	c.beating.Wait()
	var all []*measured
	for i, g := range c.generators {
		if err := g.Close(); err != nil {
			c.t.Fatal(err)
		}
		m := &measured{t: c.t, metrics: map[string]exactSum{}, folder: c.folder, progress: []byte(c.progress[i].String())}
		m.read(filepath.Join(c.folder, fmt.Sprintf("client-%d.jsonl", i)), nil)
		all = append(all, m)
	}
	return all
}

// runQuiet is like runClients, for runs in which messages are lost. One client alone waits for its drain, which is short.
func runQuiet(t *testing.T, plan *Plan, h *hub) (*fleet, []*measured) {
	t.Helper()
	p := *plan
	if p.DrainNs = 1500 * ms; p.Client.Count > 1 {
		p.DrainNs = 20_000 * ms
	}
	c := openClients(t, &p, h)
	c.start(-time.Duration(p.windowEndNs()))
	if p.Client.Count > 1 {
		c.eventually("it is quiet", c.quiet)
	}
	c.finish()
	return c, c.close()
}

// runClients is a whole run whose messages are all due before it begins, and so are sent at once.
func runClients(t *testing.T, plan *Plan, h *hub) []*measured {
	t.Helper()
	return runLate(t, plan, h, 0)
}

// runLate is like runClients, so much later still.
func runLate(t *testing.T, plan *Plan, h *hub, late time.Duration) []*measured {
	t.Helper()
	c := openClients(t, plan, h)
	c.start(-late - time.Duration(plan.windowEndNs()))
	c.coordinate()
	return c.close()
}

// of so many clients.
func of(n int, plan *Plan) *Plan {
	p := *plan
	p.Client.Count = n
	return &p
}

// setLine is a line of client-<i>.ledger.
type setLine struct {
	Type, Set                   string
	Producer, Subscriber, Count int64
	Bits                        string
}

// ledgers are the sets of all clients put together: by set, producer and subscriber, how many clients have each sequence.
type ledgers map[string]map[[3]int64]int

// readLedgers checks the files, and adds them up.
func readLedgers(t *testing.T, folder string, clients int) ledgers {
	t.Helper()
	all := ledgers{}
	for i := range clients {
		text, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("client-%d.ledger", i)))
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.Collect(bytes.Lines(text))
		var trailer struct {
			Type   string
			Lines  int
			SHA256 string
		}
		last := lines[len(lines)-1]
		if err := json.Unmarshal(last, &trailer); err != nil || trailer.Type != "trailer" || trailer.Lines != len(lines)-1 ||
			trailer.SHA256 != sumOf(text[:len(text)-len(last)]) {
			t.Fatalf("client %d: trailer %s of %d lines (%v)", i, last, len(lines), err)
		}
		for _, line := range lines[:len(lines)-1] {
			var set setLine
			if err := json.Unmarshal(line, &set); err != nil {
				t.Fatal(err)
			}
			all.add(t, set)
		}
	}
	return all
}

func (all ledgers) add(t *testing.T, set setLine) {
	packed, err := base64.StdEncoding.DecodeString(set.Bits)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	bits, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if all[set.Set] == nil {
		all[set.Set] = map[[3]int64]int{}
	}
	members := int64(0)
	for s := range int64(len(bits)) * 8 {
		if bits[s>>3]&(1<<(s&7)) != 0 {
			all[set.Set][[3]int64{set.Producer, set.Subscriber, s}]++
			members++
		}
	}
	if members != set.Count {
		t.Errorf("%s of producer %d says %d and has %d", set.Set, set.Producer, set.Count, members)
	}
}

// counted is what the ledgers of all clients come to, of the messages of one scope.
type counted struct{ Sent, Acked, Failed, Unknown, Received, Lost, Across, Unacked, FailedReceived int64 }

func (all ledgers) count(p *Plan, window bool) (c counted) {
	has := func(set string, producer, subscriber, seq int64) bool {
		return all[set][[3]int64{producer, subscriber, seq}] > 0
	}
	for k, times := range all["received"] {
		if inWindow(p, k) == window {
			c.Received++
			c.Across += int64(times) - 1
		}
	}
	for k, times := range all["tried"] {
		if times != 1 {
			panic("two clients tried the same message")
		}
		if inWindow(p, k) != window {
			continue
		}
		c.Sent++
		failed, acked := has("failed", k[0], 0, k[2]), has("acked", k[0], 0, k[2])
		if failed {
			c.Failed++
		}
		if acked {
			c.Acked++
		}
		if p.Acks && !acked && !failed {
			c.Unknown++
		}
		for subscriber := range p.subscribers() {
			received := has("received", k[0], subscriber, k[2])
			switch {
			case !received && (p.Acks && acked || !p.Acks && !failed):
				c.Lost++
			case received && failed:
				c.FailedReceived++
			case received && p.Acks && !acked:
				c.Unacked++
			}
		}
	}
	return c
}

func inWindow(p *Plan, k [3]int64) bool {
	return k[2]*int64(p.Producers)+k[0] >= p.Schedule.WarmupMessages
}

var errRefused = errors.New("refused")
