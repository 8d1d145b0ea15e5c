package generator

import (
	"strings"
	"testing"
)

func TestAPlanThatContradictsItselfIsRefused(t *testing.T) {
	if _, err := of(3, roundTripPlan(1000, 100, 3, 3)).Take(0, 2); err == nil || !strings.Contains(err.Error(), "for 3 clients") {
		t.Errorf("two parts of a plan for three: %v", err)
	}
	for _, c := range []struct {
		words string
		plan  *Plan
		spoil func(*Plan)
		want  string
	}{
		{"more messages than the schedule", testPlan(10, 1000), func(p *Plan) { p.Schedule.Messages++ }, "the plan says"},
		{"another warm-up than the schedule", testPlan(10, 1000), func(p *Plan) { p.Schedule.WarmupMessages++ }, "the plan says"},
		{"a schedule without its rate", testPlan(10, 1000), func(p *Plan) { p.Schedule.Rate = nil }, "no rate"},
		{"an unknown schedule", testPlan(10, 1000), func(p *Plan) { p.Schedule.Kind = "bursts" }, "bursts"},
		{"no window", testPlan(10, 1000), func(p *Plan) { p.Schedule.DurationNs = 0 }, "no window"},
		{"an unknown pattern", testPlan(10, 1000), func(p *Plan) { p.Pattern = "gossip" }, "gossip"},
		{"a newer schema", testPlan(10, 1000), func(p *Plan) { p.Schema = 2 }, "schema 2"},
		{"no topics", testPlan(10, 1000), func(p *Plan) { p.Topics = nil }, "at least 1"},
		{"more clients than connections", testPlan(10, 1000), func(p *Plan) { p.Client.Count = 2 }, "the last client has none"},
		{"a client that there is not", testPlan(10, 1000), func(p *Plan) { p.Client.Index = 1 }, "client 1 of 1"},
		{"no partitions", testPlan(10, 1000), func(p *Plan) { p.Partitions = 0 }, "at least 1"},
		{"a message without room for its checksum", testPlan(10, 1000), func(p *Plan) { p.Message.Bytes, p.Message.Checksum = 51, true }, "52"},
		{"a round trip with consumers", testPlan(10, 1000), func(p *Plan) { p.Consumers = 1 }, "1 consumers"},
		{"a work-queue without connections", workQueuePlan(10, 1000, 1), func(p *Plan) { p.ConsumerConnections = 0 }, "0 consumerConnections"},
		{"a request-reply without topics of replies", requestReplyPlan(10, 1000), func(p *Plan) { p.ReplyTopics = nil }, "0 replyTopics"},
		{"a backlog without its pause", workQueuePlan(10, 1000, 1), func(p *Plan) { p.Pattern = backlog }, "backlog false"},
		{"more subscribers than the books hold", fanOutPlan(10, 1000, 2), func(p *Plan) { p.Subscriptions = 10_000_000 }, "at most"},
		{"a closed load of two clients", closedPlan(10, 1), func(p *Plan) { p.Client.Count = 2 }, "a closed load has one client"},
		{"a topic that is received on another client", roundTripPlan(10, 1000, 3, 6), func(p *Plan) { p.Topics, p.Client.Count = p.Topics[:2], 2 }, "its topic is received on client"},
		{"a closed load without inFlight", closedPlan(10, 1), func(p *Plan) { p.InFlight = 0 }, "needs inFlight"},
		{"a closed load of warm-up alone", closedPlan(10, 1), func(p *Plan) { p.Schedule.WarmupMessages = 11 }, "no window"},
	} {
		if err := c.plan.check(); err != nil {
			t.Errorf("%s: the plan is refused before it is spoilt: %v", c.words, err)
		}
		c.spoil(c.plan)
		if err := c.plan.check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want words with %q", c.words, err, c.want)
		}
	}
}

func TestAPlanThatIsWrittenByHandHasTheDefaultsOfTheOthers(t *testing.T) {
	text := `{"schema":1,"runNumber":1,"broker":"nats","urlEnv":"U","driverOptions":{},"pattern":"round-trip",
		"schedule":{"kind":"constant","rate":{"messages":10,"perNs":1000000000},"warmupNs":0,"durationNs":1000000000,"warmupMessages":0,"messages":10},
		"drainNs":1,"timeoutNs":1,"inFlight":null,"connections":1,"producers":1,"topics":["a"],
		"message":{"bytes":64,"payload":"random","seed":1,"checksum":false},"limits":[],
		"heartbeat":{"slotsPerSecond":100},"client":{"index":0,"count":1}}`
	p, err := ParsePlan([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if p.Partitions != 1 || p.Subscriptions != 1 || p.Order != "none" || p.Acks || p.Keys != nil {
		t.Errorf("%+v; want the defaults of plan.ts", p)
	}
	spoilt := strings.Replace(text, `"limits":[`, `"limits":[{"metric":"speed","limitNs":1}`, 1)
	if _, err := ParsePlan([]byte(spoilt)); err == nil || err.Error() != `plan: limit on the unknown metric "speed"` {
		t.Errorf("a limit on a metric that nobody knows: %v", err)
	}
}

func TestOrderThatTakesTooMuchRoomIsRefusedWhereItIsPromisedAndLeftOutElsewhere(t *testing.T) {
	p := testPlan(10, 1000)
	p.Keys, p.Producers = &Keys{Distribution: "random", Count: 10_000_000}, 100
	if err := p.check(); err != nil || p.orderFits() {
		t.Errorf("nothing is promised: %v, fits %v; want a plan whose order is not watched", err, p.orderFits())
	}
	p.Order = "per-key"
	if err := p.check(); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("%v; want a refusal", err)
	}
}
