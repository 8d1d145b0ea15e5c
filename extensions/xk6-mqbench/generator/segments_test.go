package generator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
)

func TestASegmentSendsTheRestOfTheScheduleAfterAnotherWarmUp(t *testing.T) {
	t.Parallel()
	for words, change := range map[string]func(*Plan){
		"acknowledged":         func(p *Plan) { p.Acks = true },
		"without acks":         func(*Plan) {},
		"with inFlight":        func(p *Plan) { p.Acks, p.InFlight = true, 2 },
		"several producers":    func(p *Plan) { p.Producers = 7 },
		"random times":         func(p *Plan) { p.Schedule.Kind, p.Schedule.Seed = "poisson", 5 },
		"fan-out":              func(p *Plan) { p.Pattern, p.Subscriptions, p.ConsumerConnections = fanOut, 2, 2 },
		"seconds taken by two": func(p *Plan) { p.IntervalSeconds = 2 },
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			p := testPlan(1000, 8000)
			p.Schedule.WarmupNs = 500 * ms
			p.Segments = &Segments{CheckpointNs: 60_000 * ms, ResumeNs: 6500 * ms}
			change(p)
			complete(p)
			began := time.Now().UnixNano()
			s := &stub{acks: p.Acks, copies: func(int, int64) int { return 1 }}
			m := measure(t, p, s, nil)
			t0, first := began-6000*ms, int64(0)
			g := generate(t, p, s)
			from, resume, end := g.schedule.Before(6000*ms), g.schedule.Before(6500*ms), g.schedule.Before(8500*ms)
			m.has("intended %d sent %d notOffered 0 lost 0 duplicated 0 failed 0 unknown 0 foreign 0", end-resume, end-resume)
			m.has("warmup.intended %d warmup.sent %d warmup.lost 0 windowStartNs 6500000000", resume-from, resume-from)
			if len(s.sent) != int(end-from) {
				t.Errorf("%d messages were sent; want %d", len(s.sent), end-from)
			}
			for _, e := range s.sent {
				i := int64(e.Sequence)*int64(p.Producers) + int64(e.Producer)
				if i < from || i >= end || e.Intended != g.schedule.Offset(i) {
					t.Fatalf("message %d, due at %d, was sent", i, e.Intended)
				}
			}
			// T0 is before the process began, and the first claim 100 ms before the first message.
			m.between("first claim", m.totals.FirstClaimNs, -startAheadNs, -startAheadNs/2)
			m.between("first message", *m.totals.FirstSendNs, 6500*ms, 8500*ms)
			var client struct{ T0UnixNs string }
			line, _, _ := bytes.Cut(m.text(".jsonl"), []byte("\n"))
			if err := json.Unmarshal(line, &client); err != nil || json.Unmarshal([]byte(client.T0UnixNs), &first) != nil {
				t.Fatal(err)
			}
			m.between("T0", first, t0, t0+3000*ms)
			if m.ticks[0].At != 7 || m.ticks[len(m.ticks)-1].At < 9 {
				t.Errorf("ticks %+v", m.ticks)
			}
		})
	}
}

func TestACheckpointIsTheRunUntilThen(t *testing.T) {
	t.Parallel()
	p := testPlan(1000, 10_000)
	p.Schedule.WarmupNs, p.DrainNs, p.Acks = 500*ms, 1000*ms, true
	p.Segments = &Segments{CheckpointNs: 1000 * ms}
	p.Limits = nil
	m := measure(t, complete(p), &stub{acks: true, copies: func(_ int, i int64) int { return int(min(1, i%100)) }}, nil)
	text, hlog := m.text(".jsonl"), m.text(".hlog")
	sum := func(of []byte) string { s := sha256.Sum256(of); return hex.EncodeToString(s[:]) }
	var untils []int64
	seconds := map[int]int64{}
	before := 0
	for raw := range bytes.Lines(text) {
		var line struct {
			Type           string
			Second         int
			Metrics        map[string]struct{ Count int64 }
			UntilNs, Lines int64
			Counters       []books.Counters
			Sha256         string
			Hlog           struct {
				Bytes  int
				Sha256 string
			}
			Totals  struct{ EndNs int64 }
			Slowest []slow
		}
		if err := json.Unmarshal(raw, &line); err != nil {
			t.Fatal(err)
		}
		switch line.Type {
		case "second":
			seconds[line.Second] += line.Metrics["response"].Count
		case "checkpoint":
			untils = append(untils, line.UntilNs)
			intended := (line.UntilNs - 500*ms) / ms
			warmup, window := line.Counters[0], line.Counters[1]
			if line.Sha256 != sum(text[:before]) || line.Hlog.Sha256 != sum(hlog[:line.Hlog.Bytes]) {
				t.Errorf("the sums of the checkpoint at %d are not those of the lines before it", line.UntilNs)
			}
			if warmup.Intended != 500 || warmup.Sent != 500 || *warmup.Lost != 5 {
				t.Errorf("warm-up %+v", warmup)
			}
			if window.Intended != intended || window.Sent != intended || *window.Acked != intended || *window.Lost != intended/100 || window.NotOffered != 0 {
				t.Errorf("until %d: %+v", line.UntilNs, window)
			}
			written := int64(0)
			for n, count := range seconds {
				if n >= 0 && n < int(intended/1000) {
					written += count
				}
			}
			if written != *window.Received || len(line.Slowest) == 0 {
				t.Errorf("until %d the seconds have %d responses, the books %d receipts", line.UntilNs, written, *window.Received)
			}
		}
		before += len(raw)
	}
	// At second k, what was due 5 s before it is written for good.
	want := []int64{1500 * ms, 2500 * ms, 3500 * ms, 4500 * ms}
	if len(untils) < 4 || !slices.Equal(untils[:4], want) {
		t.Errorf("checkpoints until %v; want %v, ...", untils, want)
	}
}
