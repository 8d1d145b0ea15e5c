package generator

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func TestARunThatCannotBeginSaysWhyAndLeavesNothing(t *testing.T) {
	real := fileLimit
	defer func() { fileLimit = real }()
	fileLimit = func() int64 { return 256 }
	queue := workQueuePlan(100, 100, 1)
	queue.Pattern, queue.Backlog = backlog, &Backlog{PauseNs: 10 * ms, ResumeNs: 20 * ms}
	wild := fanOutPlan(100, 100, 1)
	wild.Wildcard = true
	large := testPlan(100, 100)
	large.Connections = 300
	for _, c := range []struct {
		plan *Plan
		stub *stub
		want string
		// events on the broker before it was closed.
		events string
	}{
		{publishPlan(100, 100), &stub{}, "the driver says they are not", ""},
		{testPlan(100, 100), &stub{acks: true}, "the plan says they are not", ""},
		{wild, &stub{}, "no subscriptions by a pattern", ""},
		{queue, &stub{}, "stores messages", ""},
		{large, &stub{}, "300 connections need at least 332 open files, and this machine allows 256 (ulimit -H -n)", ""},
		{workQueuePlan(100, 100, 1), &stub{noConsumers: errors.New("no consumers today")}, "no consumers today", "make 1 topics, remove topics, "},
	} {
		g := generate(t, c.plan, c.stub)
		if err := g.Open(t.Context(), t.TempDir()+"/x", nil, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open says %v; want %q", err, c.want)
		}
		if got := strings.Join(c.stub.events, ", "); got != c.events+"close" {
			t.Errorf("%q: %s; want %sclose", c.want, got, c.events)
		}
	}
}

func TestABrokerThatCannotBeTidiedUpIsAnErrorAndNotAHang(t *testing.T) {
	m := measure(t, testPlan(100, 100), &stub{noRemoval: errors.New("it is gone")}, nil)
	if m.has("state complete"); len(m.totals.Errors) != 1 || m.totals.Errors[0].Message != "remove: it is gone" {
		t.Errorf("errors %+v; want 'remove: it is gone'", m.totals.Errors)
	}
}

func TestTheDriverIsToldWhoseTheTopicsAreAndWhatThePlanAsksFor(t *testing.T) {
	for _, create := range []bool{true, false} {
		for index, connections := range []int{3, 2} {
			p := gated(10, fanOutPlan(100, 100, 3))
			p.RunID, p.Index, p.Create, p.Client.Count, p.ConsumerConnections = "night", 7, create, 2, 4
			p.Client.Index, p.DurabilityLevel, p.Replicas, p.DrainNs, p.TimeoutNs = index, "fsync", 3, 70*ms, 7*ms
			o := p.options("url", nil, nil)
			// The first client makes the topics, unless they are the user's own; the second one finds them.
			found, run := index > 0 || !create, map[bool]string{false: "mqbench-night-7"}[create]
			if o.Found() != found || o.Run != run || o.Client != index || o.Clients != 2 || o.Connections != connections {
				t.Errorf("create %v, client %d: %+v", create, index, o)
			}
			// 10 in flight for each of 3 producers on a connection; the time is the drain's.
			if o.Durability != "fsync" || o.Replicas != 3 || o.InFlight != 30 || o.TimeoutNs != 70*ms {
				t.Errorf("options %+v; want fsync, 3 replicas, 30 in flight, 70 ms", o)
			}
		}
	}
}

// simple has none of the abilities, whatever is inside.
type simple struct{ broker.Session }

func TestWhatADriverDoesNotCountIsUnknownAndNotZero(t *testing.T) {
	s := &stub{wrap: func(s *session) broker.Session { return simple{s} }}
	m := measure(t, testPlan(100, 100), s, nil)
	if m.has("state complete clientDropped null reconnects null"); !strings.Contains(string(m.text(".jsonl")), `"held":null,`) {
		t.Errorf("what waits in the library is known: %s", m.text(".jsonl"))
	}
	if slices.Contains(s.events, "remove topics") {
		t.Errorf("%v; want no removal", s.events)
	}
}

func TestSettingsOfConsumersThatThePatternHasNotAreLeftOut(t *testing.T) {
	const alone, group, prefetch = "acknowledgeAlone", "acknowledgeInGroup", "prefetch"
	for pattern, want := range map[string][]string{
		roundTrip: {alone, prefetch}, fanOut: {alone, prefetch}, requestReply: {group, alone, prefetch},
		workQueue: {group, prefetch}, backlog: {group, prefetch}, publish: {}, connect: {alone, prefetch, "dialled"},
	} {
		said := map[string]string{"confirm": "", alone: "", group: "", prefetch: ""}
		got := slices.Sorted(maps.Keys((&Plan{Pattern: pattern}).applying(said)))
		if want = slices.Sorted(slices.Values(append(want, "confirm"))); !slices.Equal(got, want) || len(said) != 4 {
			t.Errorf("%s: %v of %v; want %v", pattern, got, said, want)
		}
	}
	if written := measure(t, testPlan(100, 100), &stub{}, nil).text(".jsonl"); !strings.Contains(string(written), `"driverOptions":{}`) {
		t.Errorf("a round trip's file has the setting of groups: %s", written)
	}
}

func TestTheTimeForSettingUpGrowsWithWhatIsMade(t *testing.T) {
	// runner/model/plan.test.ts has the same figures.
	for name, want := range map[string]time.Duration{
		"quickstart": 30400 * time.Millisecond, "fan-out": 55100 * time.Millisecond, "three-clients": 32400 * time.Millisecond,
	} {
		text, _ := os.ReadFile("../../../runner/script/golden/" + name + "/plan.json")
		p, err := ParsePlan(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.SetUpTimeout(); got != want {
			t.Errorf("%s: %s; want %s", name, got, want)
		}
	}
	p := fanOutPlan(1000, 1000, 5)
	p.Bystanders = 1000
	if got := p.SetUpTimeout(); got < 3*time.Minute || p.leaveTimeout() < 20*time.Second {
		t.Errorf("1000 bystanders: %s to set up, %s to leave; want minutes, and 20 s", got, p.leaveTimeout())
	}
}
