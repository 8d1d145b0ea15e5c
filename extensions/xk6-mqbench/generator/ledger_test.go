package generator

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
)

// Every fault that is put in at 10 000 messages a second is found, and nothing else. Only a message handed to the driver can have a
// fault: on a machine that others use not every message is offered.
func TestEveryInjectedFaultIsFoundAndNothingElse(t *testing.T) {
	const n = 20_000
	p := testPlan(10_000, 2000)
	p.Message.Checksum = true
	// The run waits for dropped messages; and a shared machine may be seconds behind.
	p.DrainNs, p.TimeoutNs = 8_000_000_000, 8_000_000_000
	// Each message has at most one fault, the first of these.
	faults := []struct {
		kind string
		of   func(int64) bool
	}{{"failed", every(10_007, 77)}, {"dropped", every(1009, 501)}, {"duplicated", every(2003, 1001)}, {"corrupted", every(3001, 17)}, {"late", every(5003, 40)}}
	fault := func(i int64) string {
		for _, f := range faults {
			if f.of(i) {
				return f.kind
			}
		}
		return ""
	}
	late := func(i int64) bool { return fault(i) == "late" && (fault(i+1) == "" || fault(i+1) == "duplicated") }
	flagged := every(4001, 9)
	handed := make([]bool, n+1)
	m := measure(t, p, &stub{
		onSend: func(msg *broker.Message) error {
			handed[msg.Index] = true
			return refused(faults[0].of)(msg)
		},
		copies: func(_ int, i int64) int { return map[string]int{"dropped": -1, "duplicated": 1}[fault(i)] + 1 },
		alter: func(i int64, payload []byte) {
			if fault(i) == "corrupted" {
				// In the body first; then in magic, run, producer, sequence and intended time.
				payload[[]int{50, 0, 5, 8, 23, 30}[i/3001%6]] ^= 0x10
			}
		},
		overtaken: late,
		again:     flagged,
	}, nil)
	want, first := map[string]int64{}, map[string]int64{}
	found := func(kind string, i int64) {
		if want[kind]++; want[kind] == 1 {
			first[kind] = i
		}
	}
	for i := range int64(n) {
		if !handed[i] {
			continue
		}
		switch kind := fault(i); kind {
		case "failed", "duplicated":
			found(kind, i)
		case "corrupted":
			found(kind, i)
			found("lost", i)
		case "dropped":
			found("lost", i)
		case "late":
			// An overtaken message arrives with the next one that does.
			next := i + 1
			for next < n && (!handed[next] || fault(next) == "failed") {
				next++
			}
			if late(i) && next < n && fault(next) != "dropped" && fault(next) != "corrupted" {
				found("reordered", i)
			}
		}
		if flagged(i) && fault(i) != "failed" && fault(i) != "dropped" {
			want["redelivered"] += map[bool]int64{false: 1, true: 2}[fault(i) == "duplicated"]
		}
	}
	m.has("foreign 0")
	for _, kind := range []string{"failed", "lost", "duplicated", "corrupted", "reordered", "redelivered"} {
		m.has(kind+" %d", want[kind])
		if got := m.offenders[kind]; want[kind] == 0 || kind != "redelivered" && (got.Sequence != first[kind] || *got.IntendedNs != first[kind]*100_000) {
			t.Errorf("first %s = %+v; want message %d of %d", kind, got, first[kind], want[kind])
		}
	}
}

// Its stamps split a message's response. Stamps that contradict each other or the schedule, or are from another run, do not count. With a
// checksum they are damage.
func TestAMessageWhoseStampsContradictEachOtherIsNotOurs(t *testing.T) {
	for _, checksum := range []bool{false, true} {
		for _, p := range []*Plan{testPlan(1000, 400), closedPlan(400, 10)} {
			p.DrainNs, p.TimeoutNs, p.Message.Checksum = 300*ms, 200*ms, checksum
			m := measure(t, p, &stub{alter: func(i int64, payload []byte) {
				e, _ := envelope.Get(payload)
				switch i % 10 {
				case 1:
					e.Lag = -1
				case 2:
					e.Lag = e.Sent - e.Intended + 1
				case 3:
					e.Sent = e.Intended - 1
				case 4:
					e.Intended++
				case 5:
					e.Run++
				}
				envelope.Put(payload, e)
			}}, nil)
			if m.has("received 200 lost 200"); checksum {
				m.has("foreign 0 corrupted 200")
			} else {
				m.has("foreign 200 corrupted null")
			}
		}
	}
}

func TestOrderIsThatOfAProducersPartitionOrOfAKey(t *testing.T) {
	for words, c := range map[string]struct{ partitions, keys, want int64 }{
		"one partition": {1, 0, 10},
		// The next message is of the other one: overtaking within the topic breaks no promise.
		"two partitions":                 {2, 0, 0},
		"one key":                        {1, 1, 10},
		"neighbours with different keys": {1, 3, 0},
	} {
		p := testPlan(2000, 500)
		p.Partitions = int(c.partitions)
		if c.keys > 0 {
			p.Keys, p.Order = &Keys{Distribution: "round-robin", Count: c.keys}, "per-key"
		}
		wrong := 0
		s := &stub{overtaken: every(100, 50), onSend: func(msg *broker.Message) error {
			partition, key := int32(msg.Index%c.partitions), ""
			if c.keys > 0 {
				partition, key = -1, "k"+string(rune('0'+msg.Index%c.keys))
			}
			if msg.Partition != partition || string(msg.Key) != key {
				wrong++
			}
			return nil
		}}
		measure(t, p, s, nil).has("reordered %d received 1000", c.want)
		if wrong != 0 || s.prepared.Topics[0].Partitions != p.Partitions {
			t.Errorf("%s: %d messages had another key or partition, of %d", words, wrong, s.prepared.Topics[0].Partitions)
		}
	}
}
