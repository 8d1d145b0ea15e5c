package recorder

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBreakdownAndSlowestAreThoseOfThePlainListOfMessages(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	r := New(3, Frame{StartNs: secondNs, EndNs: 2 * secondNs, First: 1000, Metrics: Metrics(), WarmUp: true}, nil)
	var all []Slow
	for i := range int64(50_000) {
		m := Slow{
			Index: i, OffsetNs: 10, QueuedNs: int64(math.Exp(random.Float64() * 18)), LagNs: random.Int64N(50_000), ServiceNs: int64(math.Exp(random.Float64() * 12)),
		}
		if i%3 > 0 {
			m.QueuedNs = 0
		}
		m.ResponseNs = m.QueuedNs + m.LagNs + m.ServiceNs
		if i >= 1000 { // the messages before it are of the warm-up
			all = append(all, m)
		}
		s := r.Shard(int(i))
		s.Enter()
		s.Completed(i, 10, 10+m.ResponseNs, 10+m.QueuedNs+m.LagNs, m.LagNs)
		s.Leave()
	}
	found := int64(0)
	last := int64(-1)
	for _, b := range r.Breakdown() {
		if b.FromNs <= last || b.ToNs < b.FromNs || b.Messages == 0 {
			t.Errorf("%+v comes after a bucket up to %d", b, last)
		}
		last = b.ToNs
		want := Bucket{FromNs: b.FromNs, ToNs: b.ToNs}
		for _, m := range all {
			if m.ResponseNs >= b.FromNs && m.ResponseNs <= b.ToNs {
				want.Messages++
				want.QueuedNs += m.QueuedNs
				want.LagNs += m.LagNs
				want.ServiceNs += m.ServiceNs
			}
		}
		if b != want {
			t.Errorf("%+v; want %+v", b, want)
		}
		found += b.Messages
	}
	if found != int64(len(all)) {
		t.Errorf("%d messages are in buckets; want %d", found, len(all))
	}
	slices.SortFunc(all, func(a, b Slow) int { return cmp.Compare(b.ResponseNs, a.ResponseNs) })
	if got := r.Slowest(); !slices.Equal(got, all[:SlowestKept]) {
		t.Errorf("the slowest are %+v; want %+v", got, all[:SlowestKept])
	}
}

func TestAMessageOutOfRangeIsInABreakdownWithItsTrueParts(t *testing.T) {
	r := New(2, frame(0, secondNs), nil)
	for i, m := range []Slow{{QueuedNs: 3, LagNs: 2, ServiceNs: -9}, {QueuedNs: HighestNs, LagNs: 1, ServiceNs: 5}} {
		s := r.Shard(i)
		s.Enter()
		s.Completed(0, 10, 10+m.QueuedNs+m.LagNs+m.ServiceNs, 10+m.QueuedNs+m.LagNs, m.LagNs)
		s.Leave()
	}
	got := r.Breakdown()
	if len(got) != 2 || got[0] != (Bucket{0, 0, 1, 3, 2, -9}) {
		t.Fatalf("%+v; want one below 0 in the bucket of 0", got)
	}
	if b := got[1]; b.FromNs > HighestNs || b.ToNs < HighestNs || b.QueuedNs != HighestNs || b.LagNs != 1 || b.ServiceNs != 5 {
		t.Errorf("%+v; want one above an hour in the bucket of an hour", b)
	}
}

func TestValuesByClassAreThoseOfThePlainListOfTheWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, by := range []Metric{Response, Ack} {
		f := frame(secondNs, 3*secondNs)
		f.First, f.ByClass, f.Classes = 1000, by, []int{100, 200, 300}
		f.Class = func(i int64) int { return int(i % 7 % 3) }
		r := New(3, f, nil)
		want := make([]Exact, 3)
		for i := range int64(20_000) {
			ns := random.Int64N(1_000_000)
			s := r.Shard(int(i))
			s.Enter()
			s.Completed(i, i*100_000, i*100_000+ns, i*100_000, 0)
			s.Acked(i, i*100_000, i*100_000+ns, 0)
			s.Leave()
			if i >= 1000 {
				want[f.Class(i)].add(Exact{Count: 1, Sum: ns, Min: ns, Max: ns})
			}
		}
		got := make([]Exact, 3)
		for _, n := range r.Numbers() {
			s := r.Take(n)
			for k := range got {
				row := int(metrics) + k
				if counted := sumAll(s.merged[row]); counted != s.exact[row].Count {
					t.Errorf("%s: the histogram has %d values; want %d", s.tags[row], counted, s.exact[row].Count)
				}
				got[k].add(s.exact[row])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v by class: %+v; want %+v", by, got, want)
		}
	}
}

func sumAll(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}
