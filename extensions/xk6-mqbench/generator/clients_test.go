package generator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// copied is how often messages arrive in runs that compare several clients' counts with one client's: some twice, some never.
func copied(_ int, i int64) int { return int(1 + (i%50+48)/49 - (i%31+29)/30) }

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
			s := &stub{acks: p.Acks, copies: copied, onSend: refused(every(40, 3))}
			c, measured := runQuiet(t, of(n, p), s)
			for _, m := range measured {
				m.check(p)
				m.has("state complete")
			}
			sum := c.addUp(measured)
			if n == 1 {
				if one = sum; one[1]["failed"] == 0 || p.receives() && (one[1]["lost"] == 0 || one[1]["duplicated"] == 0) {
					t.Fatalf("%s: nothing went wrong: %+v", p.Pattern, one[1])
				}
			}
			if got, want := asJSON(sum), asJSON(one); got != want {
				t.Errorf("%s, %d clients:\n%s, want\n%s", p.Pattern, n, got, want)
			}
			// The first client makes the topics before the others come, and removes them when they have left.
			events := slices.DeleteFunc(s.events, func(e string) bool { return e == "close" })
			all := len(p.Topics) + len(p.ReplyTopics)
			if events[0] != fmt.Sprintf("make %d topics", all) || events[len(events)-1] != "remove topics" ||
				len(events) != 2*n || n > 1 && events[1] != fmt.Sprintf("take %d topics", all) {
				t.Errorf("%s, %d clients: %v", p.Pattern, n, events)
			}
			connections := 0
			for _, size := range s.connections {
				connections += size
			}
			if connections != p.Connections+p.ConsumerConnections {
				t.Errorf("%s, %d clients make %d connections; want %d", p.Pattern, n, connections, p.Connections+p.ConsumerConnections)
			}
		}
	}
}

// Histograms of several clients, merged, equal one client's: each response once, where it is received, with the sender's lag.
func TestResponsesThatCrossAreRecordedByWhoReceivesThem(t *testing.T) {
	p := fanOutPlan(2000, 300, 3)
	p.ConsumerConnections, p.Connections, p.Message.Checksum, p.Message.Bytes = 3, 2, true, 52
	p.Limits = []recorder.Limit{{Metric: recorder.Response, Ns: 10_000 * ms}, {Metric: recorder.Last, Ns: 1}}
	p.DrainNs = 60_000 * ms
	for _, n := range []int{1, 3} {
		counts, sums := map[string]int64{}, map[string]int64{}
		for _, m := range runLate(t, of(n, p), &stub{}, 20*time.Second) {
			for name, e := range m.metrics {
				counts[name] += e.Count
				sums[name] += e.Sum
			}
			if len(m.over) > 0 {
				counts["over"] += m.over[0]
				counts["overWithoutLag"] += m.overWithoutLag[0]
			}
		}
		// All are due long before they are sent: late because of the generator, which the receiver sees.
		for name, want := range map[string]int64{
			"response": 1800, "service": 1800, "queued": 600, "lag": 600, "last": map[bool]int64{true: 600}[n == 1], "over": 1800, "overWithoutLag": 0,
		} {
			if counts[name] != want {
				t.Errorf("%d clients: %s of %d; want %d", n, name, counts[name], want)
			}
		}
		// Each message has one lateness and three responses.
		if parts := sums["service"] + 3*(sums["queued"]+sums["lag"]); sums["response"] != parts {
			t.Errorf("%d clients: responses sum up to %d, their parts to %d", n, sums["response"], parts)
		}
	}
}

func TestAMessageThatCrossesLeavesFlightAtItsAcknowledgementOrWhenItWasSent(t *testing.T) {
	for _, acks := range []bool{true, false} {
		p := gated(1, workQueuePlan(3000, 200, 2))
		p.Connections, p.Producers, p.Acks = 2, 2, acks
		c := openClients(t, of(2, p), &stub{acks: acks, copies: without(every(1, 0))}) // no receipt lets anything go on
		c.start(-time.Duration(p.windowEndNs()))
		brokertest.Eventually(t, "everything is sent", func() bool { return c.generators[0].settled() && c.generators[1].settled() })
		c.finish()
		for _, m := range c.close() {
			m.has("state complete sent 300 failed 0")
		}
	}
}

func TestT0IsTheMomentThatWasHandedOut(t *testing.T) {
	for _, ahead := range []int64{200, -150} {
		for _, p := range []*Plan{of(2, roundTripPlan(1000, 100, 2, 2)), closedPlan(1000, 5)} {
			c := openClients(t, p, &stub{})
			before := time.Now().Add(time.Duration(ahead * ms))
			c.start(time.Duration(ahead * ms))
			after := time.Now().Add(time.Duration(ahead * ms))
			c.coordinate()
			for i, m := range c.close() {
				m.has("state complete notOffered 0 received %d", p.Schedule.Messages/int64(p.Client.Count))
				// The first claim is reported; it comes before T0 or after it.
				first := m.totals.FirstClaimNs
				if starts := m.lines("start"); len(starts) != 1 || starts[0].FirstClaimNs != first {
					t.Errorf("client %d: told %+v, written %d", i, starts, first)
				}
				if ahead > 0 && (first >= 0 || first < -ahead*ms) || ahead < 0 && first < -ahead*ms || *m.totals.FirstSendNs < 0 {
					t.Errorf("client %d: T0 in %d ms, first claim at %d ns, first send at %d ns", i, ahead, first, *m.totals.FirstSendNs)
				}
				g := c.generators[i]
				if g.t0Wall.Before(before) || g.t0Wall.After(after) || g.clock.Wall(g.t0).Sub(g.t0Wall).Abs() > 50*time.Millisecond {
					t.Errorf("client %d: T0 is %s, by its clock %s; want %s", i, g.t0Wall, g.clock.Wall(g.t0), before)
				}
			}
		}
	}
}

// A load beside another may start long after it; when it is done it stays, since leaving is work for the broker.
func TestOneOfSeveralLoadsWaitsForItsStartAndStaysUntilItMayLeave(t *testing.T) {
	for _, p := range []*Plan{testPlan(1000, 100), closedPlan(100, 5)} {
		p.Loads, p.Heartbeat.DurationNs = 2, 60_000*ms
		s := &stub{}
		c := openClients(t, p, s)
		g := c.generators[0]
		c.start(700 * time.Millisecond)
		time.Sleep(300 * time.Millisecond)
		if sent := g.recorder.Totals().Sent.All; sent != 0 {
			t.Errorf("%s: %d messages were sent before the start", p.Schedule.Kind, sent)
		}
		c.settle()
		time.Sleep(50 * time.Millisecond)
		if happened(g.concluded) || slices.Contains(s.events, "remove topics") {
			t.Errorf("%s: it has left: %v", p.Schedule.Kind, s.events)
		}
		g.Finish()
		m := c.close()[0]
		m.has("state complete sent 100 received 100 notOffered 0 lost 0")
		if *m.totals.FirstSendNs < 0 {
			t.Errorf("%s: first send at %d ns", p.Schedule.Kind, *m.totals.FirstSendNs)
		}
	}
}

func TestALoadThatIsStoppedBeforeItsStartEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := testPlan(1000, 100)
	p.Loads = 2
	c := openClients(t, p, &stub{ctx: ctx})
	c.start(time.Minute)
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	// k6 ends its iterations with the context, and then closes its outputs.
	c.close()[0].has("state interrupted sent 0 notOffered 100")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// The script of `compile` is for a k6 by itself: nothing would tell it that it may leave.
func TestALoadWithoutACoordinatorLeavesByItself(t *testing.T) {
	p := testPlan(1000, 100)
	p.Loads = 2
	measure(t, p, &stub{}, nil).has("state complete sent 100 received 100")
}

func TestWhatArrivesBeforeAClientKnowsT0HasItsTrueTime(t *testing.T) {
	c := openClients(t, of(2, fanOutPlan(1000, 100, 2)), &stub{})
	t0 := time.Now().Add(-100 * time.Millisecond)
	all := c.generators
	all[0].StartAt(t0)
	c.generators = all[:1]
	c.beat()
	brokertest.Eventually(t, "everything is sent", all[0].settled)
	// Client 1 has no producers, and T0 comes later than all messages.
	time.Sleep(100 * time.Millisecond)
	all[1].StartAt(t0)
	c.generators = all[1:]
	c.beat()
	c.generators = all
	c.coordinate()
	for i, m := range c.close() {
		if r := m.metrics["response"]; r.Count != 100 || r.Min < 0 || r.Max > time.Since(t0).Nanoseconds() {
			t.Errorf("client %d: responses %+v", i, r)
		}
	}
}

// A receiver whose clock is behind gets messages before they were sent: that is reported, with the worst case.
func TestClocksThatDisagreeShowInWhatIsBelowZero(t *testing.T) {
	c := openClients(t, of(2, fanOutPlan(1000, 200, 2)), &stub{})
	t0 := time.Now().Add(100 * time.Millisecond)
	c.generators[0].StartAt(t0)
	c.generators[1].StartAt(t0.Add(50 * time.Millisecond)) // T0 comes later by its clock
	c.beat()
	c.coordinate()
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

// A client that leaves hands the messages it had fetched to the others: the clients that stay count none of them.
func TestWhatArrivesWhenTheBooksAreClosedCountsNowhere(t *testing.T) {
	for _, told := range []bool{true, false} {
		p := fanOutPlan(1000, 100, 2)
		if p.DrainNs = 300 * ms; told {
			p.DrainNs = 20_000 * ms
		}
		s := &stub{copies: without(func(i int64) bool { return i >= 90 })}
		c := openClients(t, of(2, p), s)
		c.start(-100 * time.Millisecond)
		brokertest.Eventually(t, "it is quiet", c.quiet)
		if told {
			for _, g := range c.generators {
				g.CloseBooks()
			}
		}
		c.settle()
		sender := c.generators[0]
		if happened(sender.Finished()) || happened(c.generators[1].Finished()) || len(s.events) != 2 {
			t.Errorf("told %v: a client left when its books were closed: %v", told, s.events)
		}
		c.generators[1].Finish()
		<-c.generators[1].Finished()
		for i := int64(90); i < 100; i++ {
			m := sender.message(i%sender.share.producers, i/sender.share.producers)
			m.Name, m.SentNs = sender.byProducer[m.Producer].name, m.OffsetNs
			sender.stamp(m)
			s.deliver(m, nil)
		}
		// The messages of a client that has left are not handled.
		brokertest.Eventually(t, "it is handled", func() bool { return s.under.Load() <= 10 })
		c.finish()
		for _, m := range c.close() {
			m.has("state complete #response 90")
			// The wait is not part of the run.
			if len(m.lines("settled")) != 1 || m.totals.EndNs > 20_000*ms {
				t.Errorf("told %v: the run ended at %d ns: %s", told, m.totals.EndNs, m.progress)
			}
		}
		if got := readLedgers(t, c).count(c.plan, true); got["lost"] != 20 || got["received"] != 180 {
			t.Errorf("told %v: %v; want 180 received and 20 lost", told, got)
		}
	}
}

func TestWhatWillNeverBeAcknowledgedIsToldApartFromWhatIsStillInFlight(t *testing.T) {
	for _, n := range []int{1, 2} {
		p := workQueuePlan(1000, 200, 2)
		p.Connections, p.Producers, p.Acks, p.DrainNs = 2, 2, true, 600*ms
		c := openClients(t, of(n, p), &stub{acks: true, answer: unless(every(10, 3), 0), onSend: func(m *broker.Message) error {
			if m.Index%5 == 0 {
				return fmt.Errorf("gone: %w", broker.ErrUnknown)
			}
			return nil
		}})
		c.start(-time.Duration(p.windowEndNs()))
		if n > 1 {
			c.settle()
		}
		c.finish()
		var unknown, unanswered int64
		for _, m := range c.close() {
			unknown += m.window.Unknown
			unanswered += *m.totals.Unanswered
		}
		if unanswered != 40 || unknown != 60 {
			t.Errorf("%d clients: %d of 200 unknown, %d of them settled; want 60 and 40", n, unknown, unanswered)
		}
	}
}

func TestAClientThatIsToldToFinishBeforeItHasSentEverythingIsInterrupted(t *testing.T) {
	c := openClients(t, of(2, roundTripPlan(100, 2000, 2, 2)), &stub{})
	c.start(-1900 * time.Millisecond)
	for _, g := range c.generators {
		g.Finish()
	}
	for _, m := range c.close() {
		m.has("state interrupted")
	}
}

func TestAnInterruptedClientKeepsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := fanOutPlan(1000, 60_000, 2)
	p.Connections = 2
	c := openClients(t, of(2, p), &stub{ctx: ctx})
	c.start(50 * time.Millisecond)
	time.AfterFunc(500*time.Millisecond, cancel)
	for i, m := range c.close() {
		if m.has("state interrupted"); m.window.Sent == 0 || m.window.NotOffered == 0 {
			t.Errorf("client %d: %s", i, asJSON(m.window))
		}
	}
	if got := readLedgers(t, c).count(c.plan, true); got["lost"] != 0 || got["received"] != 2*got["tried"] {
		t.Errorf("%v; want all that was sent to be received by both", got)
	}
}

func TestOneOfSeveralClientsTellsHowFarItIs(t *testing.T) {
	p := fanOutPlan(500, 1100, 2)
	p.Acks = true
	c := openClients(t, of(2, p), &stub{acks: true})
	c.start(100 * time.Millisecond)
	for i := range c.generators {
		brokertest.Eventually(t, "it tells that all has left", func() bool { return strings.Contains(c.told(i), `"paced":true`) })
	}
	c.coordinate()
	measured := c.close()
	var all [3]int64
	// Messages sent less messages received, by both clients: nothing is under way in the end.
	under := int64(0)
	for _, m := range measured {
		told := m.lines("tick")
		so := told[len(told)-1].Crossing
		all = [3]int64{all[0] + so.Sent, all[1] + so.Acked, all[2] + so.Received}
		last := m.ticks[len(m.ticks)-1]
		if len(last.Outstanding) != len(last.Backlog) {
			t.Errorf("%d counts of what is outstanding, %d of what is in flight", len(last.Outstanding), len(last.Backlog))
		}
		under += last.Outstanding[len(last.Outstanding)-1]
	}
	if all != [3]int64{550, 550, 1100} {
		t.Errorf("sent, acked, received %v; want 550 550 1100", all)
	}
	if first := measured[0].ticks[0].Outstanding; under != 0 || first[len(first)-1] < 200 {
		t.Errorf("%d under way at the end, and client 0, which sends all, counts %v", under, first)
	}
}

func TestTheLeaderIsAskedForInBoundedTime(t *testing.T) {
	for _, c := range []struct {
		words  string
		leader func(context.Context, string) (string, error)
		want   string
	}{
		{"nobody can say", nil, `{"id":7,"mqbench":"leader","node":null}`},
		{"a node", func(_ context.Context, topic string) (string, error) { return "node of " + topic, nil }, `{"id":7,"mqbench":"leader","node":"node of a"}`},
		{"none at the moment", func(context.Context, string) (string, error) { return "", errors.New("no leader at nats://u:p@h") },
			`{"error":"no leader at nats://***@h","id":7,"mqbench":"leader","node":null}`},
		{"a broker that does not answer", func(context.Context, string) (string, error) { select {} },
			`{"error":"the broker did not say who leads within 2s","id":7,"mqbench":"leader","node":null}`},
	} {
		c1 := openClients(t, testPlan(100, 100), &stub{leader: c.leader})
		c1.generators[0].TellLeader(7)
		if got := c1.told(0); !strings.HasSuffix(got, c.want+"\n") {
			t.Errorf("%s: %s; want %s", c.words, got, c.want)
		}
		_ = c1.generators[0].Close()
	}
}

// A run of several clients is the run of one: the same producers, sequences and intended times, each once.
func TestTheUnionOfWhatClientsSendIsWhatOneSends(t *testing.T) {
	// Times do not affect which messages belong to which client: one kind of schedule for each topology.
	kinds := []string{"poisson", "constant", "stages", "constant", "poisson"}
	for k, to := range topologies {
		kind := kinds[k]
		p := fanOutPlan(2000, 300, to.subscriptions)
		p.Connections, p.Producers, p.ConsumerConnections = to.connections, to.producers, to.consumerConnections
		p.Schedule.WarmupNs = 33 * ms
		shape(p, kind)
		var one map[string]int
		for _, n := range []int{1, min(5, max(to.connections, to.consumerConnections))} {
			s := &stub{}
			sent, intended := map[string]int{}, int64(0)
			for _, m := range runLate(t, of(n, p), s, 0) {
				intended += m.warmup.Intended + m.window.Intended
			}
			for _, e := range s.sent {
				sent[fmt.Sprint(e.Producer, e.Sequence, e.Intended)]++
			}
			if all := p.Schedule.Messages; intended != all || int64(len(s.sent)) != all || int64(len(sent)) != all {
				t.Errorf("%+v, %s, %d clients: %d messages intended, %d sent, %d different ones; want %d", to, kind, n, intended, len(s.sent), len(sent), all)
			}
			if one == nil {
				one = sent
			}
			for id := range one {
				if sent[id] != 1 {
					t.Fatalf("%+v, %s: %d clients send %s %d times", to, kind, n, id, sent[id])
				}
			}
		}
	}
}

func TestAClientThatNeverStartsLeavesNothing(t *testing.T) {
	s := &stub{}
	c := openClients(t, of(2, fanOutPlan(1000, 100, 2)), s)
	for _, g := range c.generators {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(c.folder, "*"))
	if files = slices.DeleteFunc(files, func(file string) bool { return slices.Contains(c.progress, file) }); err != nil || len(files) != 0 {
		t.Errorf("%v (%v) is left", files, err)
	}
	if !slices.Contains(s.events, "remove topics") || !slices.Contains(s.events, "remove nothing") {
		t.Errorf("%v; want the topics removed", s.events)
	}
}
