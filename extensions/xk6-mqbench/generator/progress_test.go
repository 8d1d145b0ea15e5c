package generator

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

func TestWhatIsToldIsWhatTheFilesHold(t *testing.T) {
	p := testPlan(1000, 3000)
	p.Schedule.WarmupNs = 1000 * ms
	m := measure(t, complete(p), &stub{receive: at(2200, func() { time.Sleep(500 * time.Millisecond) })}, nil)
	ends := m.lines("end")
	if len(ends) != 1 || ends[0].State != "complete" || ends[0].Window == nil || ends[0].WindowLagP99 == nil {
		t.Fatalf("told at the end: %+v", ends)
	}
	w, exact := ends[0].Window, m.metrics["response"]
	if ends[0].Metric != "response" || w.Count != exact.Count || w.Count != 3000 || w.Max != exact.Max {
		t.Errorf("told %+v of %s; the files hold %+v", w, ends[0].Metric, exact)
	}
	// 500 of 3000 waited for 500 ms and less: the slowest hundredth for 470 ms and more.
	m.between("p99 of the window", w.P99, 450*ms, w.P999)
	m.between("p99.9 of the window", w.P999, w.P99, w.Max)
	m.between("p50 of the window", w.P50, exact.Min, w.P99)
	if lag := m.metrics["lag"]; *ends[0].WindowLagP99 > lag.Max || *ends[0].WindowLagP99 < lag.Min {
		t.Errorf("lag p99 %d is not within %d..%d", *ends[0].WindowLagP99, lag.Min, lag.Max)
	}
	// The figures so far count the window only, and never go back.
	ticks := m.lines("tick")
	if len(ticks) < 2 || ticks[0].At != 1 || ticks[0].Window != nil {
		t.Fatalf("%d ticks, the first %+v; want several, and nothing of the window in the first", len(ticks), ticks[0])
	}
	var count, most int64
	for _, tick := range ticks[1:] {
		if tick.Window == nil || tick.Window.Count < count || tick.Window.Max < most || tick.Window.Count > 3000 {
			t.Fatalf("at %d: %+v; before there were %d, max %d", tick.At, tick.Window, count, most)
		}
		count, most = tick.Window.Count, tick.Window.Max
	}
}

func TestAClosedLoadTellsOfItsServiceTime(t *testing.T) {
	m := measure(t, closedPlan(3000, 2), &stub{onSend: func(*broker.Message) error {
		time.Sleep(time.Millisecond)
		return nil
	}}, nil)
	for _, line := range append(m.lines("tick")[1:], m.lines("end")...) {
		if line.Metric != "service" || line.Window == nil || line.WindowLagP99 != nil || line.LagP99 != nil {
			t.Errorf("at %d: %+v; want service times, and no lag", line.At, line)
		}
	}
	if end := m.lines("end")[0].Window; end.Count != 3000 || end.Max != m.metrics["service"].Max {
		t.Errorf("told at the end: %+v; the files hold %+v", end, m.metrics["service"])
	}
}

func TestATickAndASecondOfALongRunStandForSeveral(t *testing.T) {
	p := testPlan(200, 5000)
	p.Schedule.WarmupNs, p.IntervalSeconds = 1000*ms, 2
	m := measure(t, complete(p), &stub{}, nil)
	var starts []string
	for _, found := range regexp.MustCompile(`"second":(-?\d+)(?:,"seconds":2)?,"type":"second"`).FindAllSubmatch(m.text(".jsonl"), -1) {
		starts = append(starts, string(found[1]))
	}
	slices.Sort(starts)
	if want := []string{"-1", "0", "2", "4"}; !slices.Equal(slices.Compact(starts), want) {
		t.Errorf("seconds %v; want %v", starts, want)
	}
	var ends, spans, sent, samples int64
	for _, tick := range m.ticks {
		ends, spans = ends*10+int64(tick.At), spans*10+max(1, tick.Seconds)
		sent, samples = sent+tick.Sent, samples+int64(len(tick.Backlog))
	}
	// A busy machine ends a second later.
	if ends/10 != 135 || spans/10 != 122 || sent != 1200 || samples < 31 || samples > 40 {
		t.Errorf("ticks end at %d, of %d seconds, with %d sent and %d samples; want 135., 122., 1200, and ten samples each, or of the last as many as there are",
			ends, spans, sent, samples)
	}
	if n := len(m.completions); n < 3 || n > 4 || m.completed() != 1200 {
		t.Errorf("%d completions in %d lines; want 1200 in 3", m.completed(), n)
	}
	var told int64
	for _, line := range append(m.lines("tick"), m.lines("end")...) {
		told += line.Sent
	}
	if told != 1200 || len(m.lines("tick")) < 5 {
		t.Errorf("%d sent told in %d lines of progress; want 1200, and a line a second", told, len(m.lines("tick")))
	}
}

func TestWhatWaitsInTheClientLibraryIsCountedTenTimesASecond(t *testing.T) {
	var stopped nap
	// A second that is over is reported: the third one is not.
	m := measure(t, testPlan(1000, 2300), &stub{receive: at(500, func() { stopped.take(500 * time.Millisecond) })}, nil)
	var held []int64
	for _, tick := range m.ticks {
		held = append(held, tick.Held...)
	}
	// A machine that is busy with other programs still gets three; once a second would be two.
	if len(held) < 3 || len(held) > 25 {
		t.Fatalf("%d samples in 2 s; want ten a second: %v", len(held), held)
	}
	if most := slices.Max(held); most < 100 || most > stopped.ms()+1000 {
		t.Errorf("at most %d messages waited behind a handler that took %d ms at 1000/s", most, stopped.ms())
	}
	if held[len(held)-1] != 0 {
		t.Errorf("held after the stop: %v", held)
	}
}

func TestAWindowThatOpensEarlierHasItsOwnMessagesOnly(t *testing.T) {
	// The order comes at message 700, and at 1700: then the second before the window has begun.
	for _, c := range []struct{ at, opens int64 }{{700, 2}, {1700, 3}} {
		p := testPlan(1000, 1000)
		p.Schedule.WarmupNs = 3000 * ms
		p.Schedule.Steady = &Steady{FromNs: 1000 * ms}
		p.Limits = []recorder.Limit{{Metric: recorder.Response, Ns: 1}}
		var g *Generator
		m := measure(t, complete(p), &stub{onNew: func(made *Generator) { g = made }, receive: at(c.at, func() {
			g.OpenAt(1000*ms + 1) // no whole second
			g.OpenAt(2000 * ms)
		})}, nil)
		m.has("state complete windowStartNs %d warmup.intended %d intended 1000 #response 1000", c.opens*1000*ms, c.opens*1000)
		if m.over[0] != 1000 {
			t.Errorf("told at message %d: %d over the limit; want 1000", c.at, m.over[0])
		}
		for _, slow := range m.slowest {
			if slow.IntendedNs < c.opens*1000*ms {
				t.Errorf("told at message %d: %+v is of the warm-up", c.at, slow)
			}
		}
		starts := regexp.MustCompile(`(?m)^Tag=response,(\d)\.000`).FindAllSubmatch(m.text(".hlog"), -1)
		for _, s := range starts {
			if int64(s[1][0]-'0') != c.opens {
				t.Errorf("told at message %d: the second from %s s on is tagged as the window's", c.at, s[1])
			}
		}
		if len(starts) == 0 {
			t.Errorf("told at message %d: nothing is tagged as the window's", c.at)
		}
	}
}
