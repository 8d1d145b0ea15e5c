package generator

import (
	"sync/atomic"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
)

func TestOrderIsThatOfAProducersPartition(t *testing.T) {
	p := testPlan(2000, 500)
	p.Partitions = 2
	// The next message is of the other partition: overtaking within the topic is nobody's broken promise.
	m := measure(t, p, &stub{overtaken: func(i int64) bool { return i%100 == 50 }}, nil)
	if *m.window.Reordered != 0 || *m.window.Received != 1000 {
		t.Errorf("reordered %d of %d; want none", *m.window.Reordered, *m.window.Received)
	}
	p = testPlan(2000, 500)
	m = measure(t, p, &stub{overtaken: func(i int64) bool { return i%100 == 50 }}, nil)
	if *m.window.Reordered != 10 {
		t.Errorf("reordered %d in one partition; want 10", *m.window.Reordered)
	}
}

func TestOrderIsThatOfAKey(t *testing.T) {
	for _, c := range []struct {
		keys, want int64
		words      string
	}{{1, 10, "one key"}, {3, 0, "neighbours with different keys"}} {
		p := testPlan(2000, 500)
		p.Keys, p.Order = &Keys{Distribution: "round-robin", Count: c.keys}, "per-key"
		var wrong atomic.Int64
		m := measure(t, p, &stub{
			overtaken: func(i int64) bool { return i%100 == 50 },
			onSend: func(msg *broker.Message) error {
				if msg.Partition != -1 || string(msg.Key) != "k"+string(rune('0'+msg.Index%c.keys)) {
					wrong.Add(1)
				}
				return nil
			},
		}, nil)
		if *m.window.Reordered != c.want || wrong.Load() != 0 {
			t.Errorf("%s: reordered %d; want %d; %d messages had another key or a partition", c.words, *m.window.Reordered, c.want, wrong.Load())
		}
	}
}

func TestPartitionsAreTakenInTurnByEachProducer(t *testing.T) {
	p := testPlan(2000, 300)
	p.Partitions, p.Producers = 3, 2
	var wrong atomic.Int64
	s := &stub{onSend: func(msg *broker.Message) error {
		if int64(msg.Partition) != msg.Index/2%3 {
			wrong.Add(1)
		}
		return nil
	}}
	measure(t, p, s, nil)
	if wrong.Load() != 0 || s.prepared.Topics[0].Partitions != 3 {
		t.Errorf("%d messages in another partition; topics have %d", wrong.Load(), s.prepared.Topics[0].Partitions)
	}
}

func TestPoissonArrivalsAndStagesKeepTheirIdentities(t *testing.T) {
	for kind, shape := range map[string]schedule.Shape{
		"poisson": {Kind: "poisson", Rate: &schedule.Rate{Messages: 3000, PerNs: 1e9}, Seed: 5},
		"stages": {Kind: "stages", Rate: &schedule.Rate{Messages: 4000, PerNs: 1e9}, Pieces: []schedule.Piece{{
			DurationNs: 600 * ms, From: schedule.Rate{Messages: 500, PerNs: 1e9}, To: schedule.Rate{Messages: 4000, PerNs: 1e9},
		}}},
	} {
		p := testPlan(1, 600)
		p.Schedule.Shape = shape
		p.Producers = 2
		complete(p)
		m := measure(t, p, &stub{}, nil)
		if *m.window.Received != p.Schedule.Messages || p.Schedule.Messages < 1000 || m.totals.Foreign != 0 {
			t.Errorf("%s: received %d of %d, foreign %d", kind, *m.window.Received, p.Schedule.Messages, m.totals.Foreign)
		}
	}
}
