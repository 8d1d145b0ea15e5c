package generator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
)

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func shape(p *Plan, kind string) {
	p.Schedule.Kind = kind
	if kind == "stages" {
		mean := *p.Schedule.Rate
		p.Schedule.Pieces = []schedule.Piece{{DurationNs: p.windowEndNs(), From: schedule.Rate{Messages: mean.Messages / 2, PerNs: mean.PerNs}, To: mean}}
	}
}

// roundTripPlan is of as many topics as connections.
func roundTripPlan(rate, ms int64, connections, producers int) *Plan {
	p := testPlan(rate, ms)
	p.Connections, p.Producers, p.Topics = connections, producers, nil
	for c := range connections {
		p.Topics = append(p.Topics, fmt.Sprintf("t%d", c))
	}
	return p
}

func TestCountersOfSeveralClientsAddUpToThoseOfOne(t *testing.T) {
	replies := roundTripPlan(3000, 200, 5, 7)
	replies.Pattern, replies.Consumers, replies.ConsumerConnections = requestReply, 4, 3
	for _, topic := range replies.Topics {
		replies.ReplyTopics = append(replies.ReplyTopics, "reply."+topic)
	}
	published := roundTripPlan(3000, 200, 5, 7)
	published.Pattern, published.Acks = publish, true
	for _, p := range []*Plan{roundTripPlan(3000, 200, 5, 7), replies, published} {
		p.Schedule.WarmupNs = 55 * ms
		complete(p)
		var one [2]map[string]float64
		for _, n := range []int{1, 2, 5} {
			h := &hub{acks: p.Acks, copies: func(i int64) int { return int(1 + (i%50+48)/49 - (i%31+29)/30) }, refuse: func(i int64) error {
				if i%40 == 3 {
					return errRefused
				}
				return nil
			}}
			sum := [2]map[string]float64{{}, {}}
			_, measured := runQuiet(t, of(n, p), h)
			for _, m := range measured {
				m.checkIdentities(p)
				if m.state != "complete" {
					t.Errorf("%s, %d clients: a client is %s", p.Pattern, n, m.state)
				}
				for k, c := range []books.Counters{m.warmup, m.window} {
					addCounters(sum[k], c)
				}
			}
			if n == 1 {
				if one = sum; one[1]["failed"] == 0 || p.receives() && (one[1]["lost"] == 0 || one[1]["duplicated"] == 0) {
					t.Fatalf("%s: nothing went wrong: %+v", p.Pattern, one[1])
				}
			}
			for k := range sum {
				if got, want := asJSON(sum[k]), asJSON(one[k]); got != want {
					t.Errorf("%s, %d clients, scope %d:\n%s, want\n%s", p.Pattern, n, k, got, want)
				}
			}
			// The first client makes the topics before the others come, and removes them when they have left.
			all := len(p.Topics) + len(p.ReplyTopics)
			if h.events[0] != fmt.Sprintf("make %d topics", all) || h.events[len(h.events)-1] != "remove topics" ||
				len(h.events) != 2*n || n > 1 && h.events[1] != fmt.Sprintf("take %d topics", all) {
				t.Errorf("%s, %d clients: %v", p.Pattern, n, h.events)
			}
			connections := 0
			for _, size := range h.sizes {
				connections += size
			}
			if connections != p.Connections+p.ConsumerConnections {
				t.Errorf("%s, %d clients make %d connections; want %d", p.Pattern, n, connections, p.Connections+p.ConsumerConnections)
			}
		}
	}
}

// Histograms of several clients, put together, are those of one: each response once, where it is received, with the sender's lag.
func TestResponsesThatCrossAreRecordedByWhoReceivesThem(t *testing.T) {
	p := fanOutPlan(2000, 300, 3)
	p.ConsumerConnections, p.Connections, p.Message.Checksum, p.Message.Bytes = 3, 2, true, 52
	p.Limits = []Limit{{"response", 10_000 * ms}, {"last", 1}}
	p.DrainNs = 60_000 * ms
	for _, n := range []int{1, 3} {
		var response, service, queued, lag, last int64
		var sums [4]int64
		over, overWithoutLag := int64(0), int64(0)
		for _, m := range runLate(t, of(n, p), &hub{}, 20*time.Second) {
			response += m.metrics["response"].Count
			service += m.metrics["service"].Count
			queued += m.metrics["queued"].Count
			lag += m.metrics["lag"].Count
			last += m.metrics["last"].Count
			for k, name := range []string{"response", "service", "queued", "lag"} {
				sums[k] += m.metrics[name].Sum
			}
			if len(m.over) > 0 {
				over += m.over[0]
				overWithoutLag += m.overWithoutLag[0]
			}
			for _, s := range m.slowest {
				if s.ResponseNs != s.QueuedNs+s.LagNs+s.ServiceNs {
					t.Errorf("%+v does not add up", s)
				}
			}
		}
		wantLast := int64(600)
		if n > 1 {
			wantLast = 0
		}
		if response != 1800 || service != 1800 || queued != 600 || lag != 600 || last != wantLast {
			t.Errorf("%d clients: response %d, service %d, queued %d, lag %d, last %d", n, response, service, queued, lag, last)
		}
		// Each message has one lateness and three responses.
		if sums[0] != sums[1]+3*(sums[2]+sums[3]) {
			t.Errorf("%d clients: responses sum up to %d, their parts to %d", n, sums[0], sums[1]+3*(sums[2]+sums[3]))
		}
		// All are due long before they are sent: late because of the generator, and the receiver knows it.
		if over != 1800 || overWithoutLag != 0 {
			t.Errorf("%d clients: %d over the limit, %d without lag; want all, and none", n, over, overWithoutLag)
		}
	}
}

func TestAMessageThatCrossesLeavesFlightAtItsAcknowledgementOrWhenItWasSent(t *testing.T) {
	for _, acks := range []bool{true, false} {
		p := workQueuePlan(3000, 200, 2)
		limit := int64(1)
		p.Connections, p.Producers, p.InFlight, p.Acks = 2, 2, &limit, acks
		h := &hub{acks: acks, copies: func(int64) int { return 0 }} // nothing arrives: no receipt lets anything go on
		c := openClients(t, of(2, p), h)
		c.start(-time.Duration(p.windowEndNs()))
		c.eventually("everything is sent", func() bool {
			return c.generators[0].settled() && c.generators[1].settled()
		})
		c.finish()
		for _, m := range c.close() {
			if m.window.Sent != 300 || m.window.Failed != 0 || m.state != "complete" {
				t.Errorf("acks %v: %s: %s", acks, m.state, asJSON(m.window))
			}
		}
	}
}

func TestAFirstClaimAfterT0IsToldAsSuch(t *testing.T) {
	c := openClients(t, of(2, roundTripPlan(1000, 100, 2, 2)), &hub{})
	c.start(-150 * time.Millisecond)
	c.coordinate()
	for i, m := range c.close() {
		if m.totals.FirstClaimNs < 150*ms {
			t.Errorf("client %d: its first claim is %d ns after T0; want 150 ms and more", i, m.totals.FirstClaimNs)
		}
		var line struct{ FirstClaimNs int64 }
		if err := json.Unmarshal([]byte(lineOf(c.progress[i].String(), "start")), &line); err != nil || line.FirstClaimNs != m.totals.FirstClaimNs {
			t.Errorf("client %d: told %d (%v), written %d", i, line.FirstClaimNs, err, m.totals.FirstClaimNs)
		}
	}
}

func TestT0IsTheMomentThatWasHandedOut(t *testing.T) {
	c := openClients(t, of(2, roundTripPlan(1000, 100, 2, 2)), &hub{})
	before := time.Now()
	c.start(200 * time.Millisecond)
	after := time.Now()
	c.coordinate()
	for i, m := range c.close() {
		if m.totals.FirstClaimNs >= 0 || m.totals.FirstClaimNs < -200*ms {
			t.Errorf("client %d: its first claim is at %d ns; want it before T0", i, m.totals.FirstClaimNs)
		}
		if *m.totals.FirstSendNs < 0 || m.window.NotOffered != 0 {
			t.Errorf("client %d: it sends at %d ns, and does not offer %d", i, *m.totals.FirstSendNs, m.window.NotOffered)
		}
		g := c.generators[i]
		if g.t0Wall.Before(before.Add(200*time.Millisecond)) || g.t0Wall.After(after.Add(200*time.Millisecond)) {
			t.Errorf("client %d: T0 is %s; want 200 ms after %s", i, g.t0Wall, before)
		}
		if away := g.clock.Wall(g.t0).Sub(g.t0Wall).Abs(); away > 50*time.Millisecond {
			t.Errorf("client %d: its clock has T0 %s away from the wall clock's", i, away)
		}
	}
}

func TestWhatArrivesBeforeAClientKnowsT0HasItsTrueTime(t *testing.T) {
	p := fanOutPlan(1000, 100, 2)
	h := &hub{}
	c := openClients(t, of(2, p), h)
	t0 := time.Now().Add(-100 * time.Millisecond)
	late := c.generators[1]
	c.generators[0].StartAt(t0)
	c.generators = c.generators[:1]
	c.beat()
	c.eventually("everything is sent", c.generators[0].settled)
	// Client 1 has no producers, and T0 comes later than all messages.
	time.Sleep(100 * time.Millisecond)
	late.StartAt(t0)
	c.generators = append(c.generators, late)
	c.beating.Add(1)
	go func() {
		defer c.beating.Done()
		_ = late.Slot(c.ctx)
	}()
	c.eventually("everything has arrived", c.arrived)
	c.finish()
	for i, m := range c.close() {
		if r := m.metrics["response"]; r.Count != 100 || r.Min < 0 || r.Max > time.Since(t0).Nanoseconds() {
			t.Errorf("client %d: responses %+v", i, r)
		}
	}
}

// A receiver whose clock is behind hears of messages before they were sent: that is told, with the worst of it.
func TestClocksThatDisagreeShowInWhatIsBelowZero(t *testing.T) {
	p := fanOutPlan(1000, 200, 2)
	c := openClients(t, of(2, p), &hub{})
	t0 := time.Now().Add(100 * time.Millisecond)
	c.generators[0].StartAt(t0)
	c.generators[1].StartAt(t0.Add(50 * time.Millisecond)) // T0 comes later by its clock
	c.beat()
	c.eventually("everything has arrived", c.arrived)
	c.finish()
	measured := c.close()
	if r := measured[0].metrics["response"]; r.Count != 200 || r.Negative != 0 || r.Lowest != 0 {
		t.Errorf("by the sender's own clock: %+v", r)
	}
	r := measured[1].metrics["response"]
	if r.Count != 200 || r.Negative == 0 || r.Min != 0 {
		t.Errorf("by a clock that is 50 ms behind: %+v", r)
	}
	measured[1].between("the lowest, in ms", r.Lowest/ms, -50, -1)
	if s := measured[1].metrics["service"]; s.Negative < r.Negative || s.Lowest > r.Lowest {
		t.Errorf("service %+v, response %+v: service is the shorter one", s, r)
	}
}

func TestAClosedLoadOnAnotherHostBeginsAtTheT0ThatWasHandedOut(t *testing.T) {
	c := openClients(t, closedPlan(1000, 5), &hub{})
	c.start(200 * time.Millisecond)
	<-c.generators[0].Finished()
	m := c.close()[0]
	if m.state != "complete" || *m.window.Received != 1000 || m.totals.FirstClaimNs >= 0 || *m.totals.FirstSendNs < 0 {
		t.Errorf("%s: first claim at %d ns, first send at %d ns, %s", m.state, m.totals.FirstClaimNs, *m.totals.FirstSendNs, asJSON(m.window))
	}
}

func TestASettledClientWaitsToBeToldThatItMayLeave(t *testing.T) {
	p := roundTripPlan(1000, 100, 2, 2)
	p.DrainNs = 20_000 * ms
	h := &hub{}
	c := openClients(t, of(2, p), h)
	c.start(-100 * time.Millisecond)
	for i := range c.generators {
		c.eventually("it is settled", func() bool { return strings.Contains(c.progress[i].String(), `"settled"`) })
	}
	time.Sleep(50 * time.Millisecond)
	if len(h.events) != 2 || happened(c.generators[0].Finished()) || happened(c.generators[1].Finished()) {
		t.Errorf("a client left before it was told: %v", h.events)
	}
	c.finish()
	for i, m := range c.close() {
		if m.state != "complete" || strings.Count(c.progress[i].String(), `"settled"`) != 1 {
			t.Errorf("client %d is %s: %s", i, m.state, c.progress[i].String())
		}
		// The wait is not part of the run.
		if m.totals.EndNs > 20_000*ms {
			t.Errorf("client %d: the run ended at %d ns", i, m.totals.EndNs)
		}
	}
}

// A client that leaves hands what it had fetched to the others: whoever is still there counts nothing of it.
func TestWhatArrivesWhenTheBooksAreClosedCountsNowhere(t *testing.T) {
	for _, told := range []bool{true, false} {
		p := fanOutPlan(1000, 100, 2)
		p.ConsumerConnections = 2
		if p.DrainNs = 300 * ms; told {
			p.DrainNs = 20_000 * ms
		}
		complete(p)
		missing := func(i int64) bool { return i >= 90 }
		h := &hub{copies: func(i int64) int {
			if missing(i) {
				return 0
			}
			return 1
		}}
		c := openClients(t, of(2, p), h)
		c.start(-100 * time.Millisecond)
		c.eventually("it is quiet", c.quiet)
		if told {
			for _, g := range c.generators {
				g.CloseBooks()
			}
		}
		c.settle()
		if happened(c.generators[0].Finished()) || happened(c.generators[1].Finished()) {
			t.Errorf("told %v: a client left when its books were closed", told)
		}
		c.generators[1].Finish()
		<-c.generators[1].Finished()
		h.again(c.generators[0], missing)
		// Nobody handles those of who has left.
		c.eventually("it is handled", func() bool { return h.under.Load() <= int64(10*len(h.subscriptions)/2) })
		c.finish()
		for i, m := range c.close() {
			if m.state != "complete" || m.metrics["response"].Count != 90 {
				t.Errorf("told %v: client %d is %s and has %d responses; want 90", told, i, m.state, m.metrics["response"].Count)
			}
		}
		if got := readLedgers(t, c.folder, 2).count(c.plan, true); got.Lost != 20 || got.Received != 180 {
			t.Errorf("told %v: %+v; want 180 received and 20 lost", told, got)
		}
	}
}

func TestWhatWillNeverBeAcknowledgedIsToldApartFromWhatIsStillInFlight(t *testing.T) {
	for _, n := range []int{1, 2} {
		p := workQueuePlan(1000, 200, 2)
		p.Connections, p.Producers, p.ConsumerConnections, p.Acks = 2, 2, 2, true
		complete(p)
		h := &hub{
			acks:   true,
			silent: func(i int64) bool { return i%10 == 3 },
			refuse: func(i int64) error {
				if i%5 == 0 {
					return fmt.Errorf("gone: %w", broker.ErrUnknown)
				}
				return nil
			},
		}
		c := openClients(t, shortDrain(of(n, p)), h)
		c.start(-time.Duration(p.windowEndNs()))
		if n > 1 {
			c.settle()
		}
		c.finish()
		var unknown, unanswered int64
		for _, m := range c.close() {
			unknown += m.warmup.Unknown + m.window.Unknown
			unanswered += *m.totals.Unanswered
		}
		if all := p.Schedule.Messages; unanswered != all/5 || unknown != all/5+all/10 {
			t.Errorf("%d clients: %d unknown, %d of them settled; want %d and %d of %d messages", n, unknown, unanswered, all/5+all/10, all/5, all)
		}
	}
}

func shortDrain(p *Plan) *Plan {
	p.DrainNs = 600 * ms
	return p
}

// What two clients received is no sign that everything has arrived: one copy more is as wrong as one that is missing.
func TestOneReceiptTooManyIsNotTakenForAll(t *testing.T) {
	for _, more := range []int{0, 1} {
		p := workQueuePlan(1000, 100, 2)
		p.Connections, p.Producers, p.ConsumerConnections = 2, 2, 2
		complete(p)
		c := openClients(t, of(2, p), &hub{copies: func(i int64) int {
			if i == 50 {
				return 1 + more
			}
			return 1
		}})
		c.start(-time.Duration(p.windowEndNs()))
		c.eventually("it is quiet", c.quiet)
		if c.arrived() {
			t.Error("it is taken for all at the first look: nobody knows yet whether more comes")
		}
		time.Sleep(2 * stillFor)
		if got := c.arrived(); got != (more == 0) {
			t.Errorf("%d copies too many, arrived: %v", more, got)
		}
		c.finish()
		c.close()
	}
}

func TestAClientThatIsToldToFinishBeforeItHasSentEverythingIsInterrupted(t *testing.T) {
	c := openClients(t, of(2, roundTripPlan(100, 2000, 2, 2)), &hub{})
	c.start(-1900 * time.Millisecond)
	for _, g := range c.generators {
		g.Finish()
	}
	for i, m := range c.close() {
		if m.state != "interrupted" {
			t.Errorf("client %d is %s", i, m.state)
		}
	}
}

func TestAnInterruptedClientKeepsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := fanOutPlan(1000, 60_000, 2)
	p.Connections = 2
	c := openClients(t, of(2, p), &hub{})
	c.ctx = ctx
	c.start(50 * time.Millisecond)
	time.AfterFunc(500*time.Millisecond, cancel)
	for i, m := range c.close() {
		if m.state != "interrupted" || m.window.Sent == 0 || m.window.NotOffered == 0 {
			t.Errorf("client %d: %s: %s", i, m.state, asJSON(m.window))
		}
	}
	if got := readLedgers(t, c.folder, 2).count(c.plan, true); got.Lost != 0 || got.Received != 2*got.Sent {
		t.Errorf("%+v; want all that was sent to be received by both", got)
	}
}

func TestOneOfSeveralClientsTellsHowFarItIs(t *testing.T) {
	p := fanOutPlan(500, 1100, 2)
	p.Acks = true
	c := openClients(t, of(2, p), &hub{acks: true})
	c.start(100 * time.Millisecond)
	for i := range c.generators {
		c.eventually("it tells that all has left", func() bool { return strings.Contains(c.progress[i].String(), `"paced":true`) })
	}
	c.coordinate()
	measured := c.close()
	var sent, acked, received int64
	for i := range c.generators {
		var tick struct {
			Crossing struct{ Sent, Acked, Failed, Unanswered, Received int64 }
		}
		for line := range strings.Lines(c.progress[i].String()) {
			if strings.Contains(line, `"tick"`) {
				if err := json.Unmarshal([]byte(line), &tick); err != nil {
					t.Fatal(err)
				}
			}
		}
		sent += tick.Crossing.Sent
		acked += tick.Crossing.Acked
		received += tick.Crossing.Received
	}
	if sent != 550 || acked != 550 || received != 1100 {
		t.Errorf("sent %d, acked %d, received %d; want 550 550 1100", sent, acked, received)
	}
	// What left less what arrived, of both: nothing is under way in the end.
	under := int64(0)
	for _, m := range measured {
		last := m.ticks[len(m.ticks)-1]
		if len(last.Outstanding) != len(last.Backlog) {
			t.Errorf("%d counts of what is outstanding, %d of what is in flight", len(last.Outstanding), len(last.Backlog))
		}
		under += last.Outstanding[len(last.Outstanding)-1]
	}
	if first := measured[0].ticks[0].Outstanding; under != 0 || first[len(first)-1] < 200 {
		t.Errorf("%d under way at the end, and client 0, which sends all, counts %v", under, first)
	}
}

func TestAClientThatNeverStartsLeavesNothing(t *testing.T) {
	h := &hub{}
	c := openClients(t, of(2, fanOutPlan(1000, 100, 2)), h)
	for _, g := range c.generators {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	if files, err := os.ReadDir(c.folder); err != nil || len(files) != 0 {
		t.Errorf("%v (%v) is left", files, err)
	}
	if !slices.Contains(h.events, "remove topics") || !slices.Contains(h.events, "remove nothing") {
		t.Errorf("%v; want the topics removed", h.events)
	}
}

func TestWhatSeveralClientsCannotShareIsRefused(t *testing.T) {
	crossed := roundTripPlan(1000, 100, 3, 6)
	crossed.Topics = crossed.Topics[:2]
	for _, c := range []struct {
		words string
		plan  *Plan
		want  string
	}{
		{"a closed load", closedPlan(100, 1), "a closed load has one client"},
		{"a topic that is received elsewhere", crossed, "its topic is received on client"},
	} {
		if err := c.plan.check(); err != nil {
			t.Errorf("%s: one client is refused: %v", c.words, err)
		}
		if err := of(2, c.plan).check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want words with %q", c.words, err, c.want)
		}
	}
	if _, err := of(3, roundTripPlan(1000, 100, 3, 3)).Take(0, 2); err == nil || !strings.Contains(err.Error(), "for 3 clients") {
		t.Errorf("two parts of a plan for three: %v", err)
	}
}

func TestTheLeaderIsAskedForInBoundedTime(t *testing.T) {
	for _, c := range []struct {
		words string
		led   func(context.Context, string) (string, error)
		want  string
	}{
		{"nobody can say", nil, `{"id":7,"mqbench":"leader","node":null}`},
		{"a node", func(_ context.Context, topic string) (string, error) { return "node of " + topic, nil }, `{"id":7,"mqbench":"leader","node":"node of a"}`},
		{"none at the moment", func(context.Context, string) (string, error) { return "", errors.New("no leader at nats://u:p@h") },
			`{"error":"no leader at nats://***@h","id":7,"mqbench":"leader","node":null}`},
		{"a broker that does not answer", func(context.Context, string) (string, error) { select {} },
			`{"error":"the broker did not say who leads within 2s","id":7,"mqbench":"leader","node":null}`},
	} {
		alone := openClients(t, testPlan(100, 100), &hub{led: c.led})
		alone.generators[0].TellLeader(7)
		if got := lineOf(alone.progress[0].String(), "leader"); got != c.want {
			t.Errorf("%s: %s; want %s", c.words, got, c.want)
		}
		_ = alone.generators[0].Close()
	}
}

// --- internal ---

func lineOf(progress, kind string) string {
	for line := range strings.Lines(progress) {
		if strings.Contains(line, `"mqbench":"`+kind+`"`) {
			return strings.TrimSpace(line)
		}
	}
	return ""
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

// countedBy is what a single client counted itself.
func countedBy(c books.Counters, p *Plan) counted {
	k := counted{Sent: c.Sent, Failed: c.Failed, Unknown: c.Unknown, Received: *c.Received, Lost: *c.Lost, FailedReceived: *c.FailedReceived}
	if p.Acks {
		k.Acked, k.Unacked = *c.Acked, *c.UnackedReceived
	}
	return k
}
