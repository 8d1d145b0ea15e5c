package generator

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
)

const ms = int64(time.Millisecond)

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

// complete computes the parts of a plan that TypeScript computes.
func complete(p *Plan) *Plan {
	s, err := schedule.Of(p.Schedule.Shape)
	if err != nil {
		panic(err)
	}
	p.Schedule.WarmupMessages = s.Before(p.Schedule.WarmupNs)
	p.Schedule.Messages = s.Before(p.windowEndNs())
	return p
}

// closedPlan sends this number of messages, with at most inFlight of each producer in flight.
func closedPlan(messages, inFlight int64) *Plan {
	p := testPlan(1, 20_000)
	p.Schedule.Kind, p.Schedule.Rate = "closed", nil
	p.Schedule.WarmupMessages, p.Schedule.Messages = 0, messages
	p.InFlight = inFlight
	return p
}

// roundTripPlan has as many topics as connections.
func roundTripPlan(rate, ms int64, connections, producers int) *Plan {
	p := testPlan(rate, ms)
	p.Connections, p.Producers, p.Topics = connections, producers, nil
	for c := range connections {
		p.Topics = append(p.Topics, fmt.Sprintf("t%d", c))
	}
	return p
}

func publishPlan(rate, ms int64) *Plan {
	p := testPlan(rate, ms)
	p.Pattern, p.Acks = publish, true
	return p
}

func workQueuePlan(rate, ms int64, members int) *Plan {
	p := testPlan(rate, ms)
	p.Pattern, p.Consumers, p.ConsumerConnections = workQueue, members, 2
	return p
}

func fanOutPlan(rate, ms int64, subscribers int) *Plan {
	p := testPlan(rate, ms)
	p.Pattern, p.Subscriptions, p.ConsumerConnections = fanOut, subscribers, 2
	p.Topics, p.Producers = []string{"run.a", "run.b"}, 3
	return p
}

func requestReplyPlan(rate, ms int64) *Plan {
	p := testPlan(rate, ms)
	p.Pattern, p.Topics, p.ReplyTopics = requestReply, []string{"a", "b"}, []string{"reply.a", "reply.b"}
	p.Consumers, p.ConsumerConnections, p.Producers, p.Connections = 3, 2, 4, 2
	return p
}

// of copies the plan, for n clients.
func of(n int, plan *Plan) *Plan {
	p := *plan
	p.Client.Count = n
	return &p
}

// gated limits the number of each producer's messages in flight.
func gated(limit int64, p *Plan) *Plan {
	p.InFlight = limit
	return p
}

var names atomic.Int64

// generate makes a generator of the plan's client, on a separate broker.
func generate(t testing.TB, plan *Plan, s *stub) *Generator {
	t.Helper()
	plan.Broker = fmt.Sprintf("stub-%d", names.Add(1))
	broker.Register(plan.Broker, s.driver)
	g, err := New(plan, "")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// fleet is the generators of one run.
type fleet struct {
	t          *testing.T
	stub       *stub
	plan       *Plan
	generators []*Generator
	folder     string
	// progress has the path of each client's lines of progress.
	progress []string
	beating  sync.WaitGroup
	ctx      context.Context
}

// told returns the lines of client i so far.
func (c *fleet) told(i int) string {
	c.t.Helper()
	text, err := os.ReadFile(c.progress[i])
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// openClients opens the plan's clients, one after the other, as k6 reads the plan.
func openClients(t *testing.T, plan *Plan, s *stub) *fleet {
	t.Helper()
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ParsePlan(text)
	if err != nil {
		t.Fatal(err)
	}
	c := &fleet{t: t, stub: s, plan: parsed, folder: t.TempDir(), ctx: cmp.Or(s.ctx, context.Background())}
	for i := range plan.Client.Count {
		taken, err := parsed.Take(i, plan.Client.Count)
		if err != nil {
			t.Fatal(err)
		}
		g := generate(t, taken, s)
		if s.onNew != nil {
			s.onNew(g)
		}
		c.progress = append(c.progress, c.file(i)+".progress")
		progress, err := os.Create(c.progress[i])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = progress.Close() })
		if err := g.Open(c.ctx, c.file(i), progress, map[string]string{"k6": "none", "mqbench": "test"}); err != nil {
			t.Fatal(err)
		}
		g.Ready()
		c.generators = append(c.generators, g)
	}
	return c
}

func (c *fleet) file(i int) string { return filepath.Join(c.folder, fmt.Sprintf("client-%d", i)) }

// measure runs a plan of one client. heartbeat calls slot as k6 would; with nil until the run is through.
func measure(t *testing.T, plan *Plan, s *stub, heartbeat func(slot func())) *measured {
	t.Helper()
	c := openClients(t, plan, s)
	g, began := c.generators[0], time.Now()
	if heartbeat == nil {
		c.beat()
	} else {
		heartbeat(func() { c.slot(g) })
		select {
		case <-g.concluded:
		case <-time.After(100 * time.Millisecond):
			if g.horizonNs.Load() >= plan.windowEndNs() {
				<-g.concluded // the last claim waits for the end
			}
		}
	}
	m := c.close()[0]
	m.took = time.Since(began)
	m.check(c.plan)
	return m
}

// start hands out T0, which is `ahead` from now, and has every client's k6 call its slots until the run is through.
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
			for !happened(g.concluded) && c.ctx.Err() == nil {
				go c.slot(g)
				time.Sleep(5 * time.Millisecond)
			}
		}()
	}
}

func (c *fleet) slot(g *Generator) {
	if err := g.Slot(c.ctx); err != nil {
		c.t.Error(err)
	}
}

// coordinate does the runner's work: it has all close their books when everything has arrived, and sends finish when all are settled; to
// the first client last.
func (c *fleet) coordinate() {
	c.t.Helper()
	switch {
	case c.plan.crosses():
		brokertest.Eventually(c.t, "everything has arrived", c.arrived)
	case c.plan.Client.Count > 1:
		c.settle()
	}
	c.finish()
}

// settle waits until all books are closed.
func (c *fleet) settle() {
	c.t.Helper()
	brokertest.Eventually(c.t, "all are settled", func() bool {
		for i := range c.progress {
			if !strings.Contains(c.told(i), `"settled"`) {
				return false
			}
		}
		return true
	})
}

// finish has all close their books, and then lets them leave, the first one last. A single client leaves by itself.
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

// arrived reports whether, by all clients' counts, nothing is missing. (runner/run/arrival.ts also waits for surplus copies.)
func (c *fleet) arrived() bool {
	var expected, received int64
	for _, g := range c.generators {
		counts := g.crossing(g.recorder.Totals())
		if counts["paced"] != true || counts["acked"] != nil && counts["unanswered"] != int64(0) {
			return false
		}
		received += counts["received"].(int64)
		if acked, ok := counts["acked"].(int64); ok {
			expected += acked
		} else {
			expected += counts["sent"].(int64) - counts["failed"].(int64)
		}
	}
	return received == expected*c.plan.subscribers()
}

// quiet reports whether everything is sent, and nothing more arrives. Only the drain would show lost and unanswered messages.
func (c *fleet) quiet() bool {
	for _, g := range c.generators {
		if !g.sent() || slices.ContainsFunc(g.senders, func(s *sender) bool { return s.busy.Load() || !s.connection.quiet() }) {
			return false
		}
	}
	return c.stub.under.Load() == 0
}

// close ends all clients and reads their files.
func (c *fleet) close() (all []*measured) {
	c.t.Helper()
	c.beating.Wait()
	for i, g := range c.generators {
		if err := g.Close(); err != nil {
			c.t.Fatal(err)
		}
		all = append(all, read(c.t, c.file(i), c.plan, []byte(c.told(i))))
	}
	return all
}

// runQuiet is like runLate, for runs in which messages are lost. A single client waits for its drain, which is short.
func runQuiet(t *testing.T, plan *Plan, s *stub) (*fleet, []*measured) {
	t.Helper()
	p := *plan
	if p.DrainNs = 1500 * ms; p.Client.Count > 1 {
		p.DrainNs = 20_000 * ms
	}
	c := openClients(t, &p, s)
	c.start(-time.Duration(p.windowEndNs()))
	if p.Client.Count > 1 {
		brokertest.Eventually(c.t, "it is quiet", c.quiet)
	}
	c.finish()
	return c, c.close()
}

// runLate is a whole run whose messages are all due at least `late` before it begins: they are sent at once.
func runLate(t *testing.T, plan *Plan, s *stub, late time.Duration) []*measured {
	t.Helper()
	c := openClients(t, plan, s)
	c.start(-late - time.Duration(plan.windowEndNs()))
	c.coordinate()
	return c.close()
}

// ledgers are the sets of all clients put together: by set, producer and subscriber, how many clients have each sequence.
type ledgers map[string]map[[3]int64]int

// readLedgers checks the files, and adds them up.
func readLedgers(t *testing.T, c *fleet) ledgers {
	t.Helper()
	all := ledgers{}
	for i := range c.plan.Client.Count {
		text, err := os.ReadFile(c.file(i) + ".ledger")
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.Collect(bytes.Lines(text))
		for k, line := range lines {
			var set struct {
				Type, Set, SHA256           string
				Producer, Subscriber, Count int64
				Lines                       int
				Bits                        []byte
			}
			if err := json.Unmarshal(line, &set); err != nil {
				t.Fatal(err)
			}
			if last := k == len(lines)-1; last || set.Type == "trailer" {
				sum := sha256.Sum256(text[:len(text)-len(line)])
				if !last || set.Type != "trailer" || set.Lines != k || set.SHA256 != hex.EncodeToString(sum[:]) {
					t.Fatalf("client %d: trailer %s of %d lines", i, line, len(lines))
				}
				break
			}
			z, err := zlib.NewReader(bytes.NewReader(set.Bits))
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
	}
	return all
}

// count is the result of all clients' ledgers for the messages of one scope, by the names of the counters. duplicated counts the messages
// that several clients have received.
func (all ledgers) count(p *Plan, window bool) map[string]float64 {
	inScope := func(k [3]int64) bool { return k[2]*int64(p.Producers)+k[0] >= p.Schedule.WarmupMessages == window }
	c := map[string]float64{"lost": 0}
	for k, times := range all["received"] {
		if inScope(k) {
			c["received"]++
			c["duplicated"] += float64(times) - 1
		}
	}
	for k, times := range all["tried"] {
		if times != 1 {
			panic("two clients tried the same message")
		}
		if !inScope(k) {
			continue
		}
		c["tried"]++
		failed, acked := all["failed"][k] > 0, all["acked"][k] > 0
		switch {
		case failed:
			c["inFailed"]++
		case acked:
			c["inAcked"]++
		}
		for subscriber := range p.subscribers() {
			received := all["received"][[3]int64{k[0], subscriber, k[2]}] > 0
			switch {
			case !received && (p.Acks && acked || !p.Acks && !failed):
				c["lost"]++
			case received && failed:
				c["failedReceived"]++
			case received && p.Acks && !acked:
				c["unackedReceived"]++
			}
		}
	}
	return c
}

// addUp adds up all clients' counts of warm-up and window; where messages cross, with the counts from their ledgers.
func (c *fleet) addUp(measured []*measured) (sums [2]map[string]float64) {
	c.t.Helper()
	for k := range sums {
		sum := map[string]float64{}
		if c.plan.crosses() {
			sum = readLedgers(c.t, c).count(c.plan, k == 1)
		}
		for _, m := range measured {
			s := []books.Counters{m.warmup, m.window}[k]
			if c.plan.crosses() && (s.Received != nil || s.Delivered != nil || s.Lost != nil || s.UnackedReceived != nil || s.FailedReceived != nil || s.Behind != nil) {
				c.t.Errorf("%s: a client counts receipts: %s", c.plan.Pattern, asJSON(s))
			}
			if c.plan.crosses() && (s.Reordered == nil) != c.plan.grouped() {
				c.t.Errorf("%s: reordered is %v", c.plan.Pattern, s.Reordered)
			}
			addCounters(sum, s)
		}
		if c.plan.crosses() && (sum["tried"] != sum["sent"] || sum["inFailed"] != sum["failed"] || sum["inAcked"] != sum["acked"]) {
			c.t.Errorf("%s: the ledgers are not what the clients count: %v", c.plan.Pattern, sum)
		}
		sums[k] = sum
	}
	return sums
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// addCounters adds all that are not null. Whether a client was waiting for an earlier message, and how long, depends on the machine.
func addCounters(to map[string]float64, c books.Counters) {
	var all map[string]any
	if err := json.Unmarshal([]byte(asJSON(c)), &all); err != nil {
		panic(err)
	}
	for name, n := range all {
		if n, is := n.(float64); is && name != "behind" && name != "late" {
			to[name] += n
		}
	}
}
