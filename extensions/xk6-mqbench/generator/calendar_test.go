package generator

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestACalendarInOrderIsLindleysRecursion(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var c calendar
	at, waitNs, busyNs := int64(0), int64(0), int64(0)
	for range 20_000 {
		gap := random.Int64N(1000)
		at += gap
		waitNs = max(0, waitNs+busyNs-gap)
		if got := c.free(at) - at; got != waitNs {
			t.Fatalf("at %d it waits %d; want %d", at, got, waitNs)
		}
		busyNs = random.Int64N(900)
		c.book(at+waitNs, busyNs)
	}
}

func TestACalendarOutOfOrder(t *testing.T) {
	type send struct{ at, ns, want int64 }
	for _, c := range []struct {
		words string
		sends []send
	}{
		{"nobody waits for what is due later", []send{{0, 1000 * ms, 0}, {5000 * ms, 10, 5000 * ms}, {2000 * ms, 10, 2000 * ms}}},
		{"those behind a block wait for its end, each for those that were sent meanwhile", []send{
			{0, 300 * ms, 0},
			{10 * ms, 1 * ms, 300 * ms},
			{20 * ms, 1 * ms, 301 * ms},
			{15 * ms, 1 * ms, 302 * ms},
		}},
		{"one that was overtaken by the next stretch waits for its own", []send{
			{0, 300 * ms, 0},
			{400 * ms, 1 * ms, 400 * ms},
			{10 * ms, 2 * ms, 300 * ms},
			{20 * ms, 2 * ms, 302 * ms},
			{400 * ms, 1 * ms, 401 * ms},
		}},
		{"and for the newest one when it reaches that", []send{
			{0, 300 * ms, 0},
			{301 * ms, 5 * ms, 301 * ms},
			{10 * ms, 2 * ms, 300 * ms},
			{20 * ms, 2 * ms, 306 * ms},
		}},
	} {
		var cal calendar
		for k, s := range c.sends {
			got := cal.free(s.at)
			if got != s.want {
				t.Errorf("%s: send %d begins at %d; want %d", c.words, k, got, s.want)
			}
			cal.book(got, s.ns)
		}
	}
}

func TestALongBlockIsRememberedWhileShortOnesComeAndGo(t *testing.T) {
	var c calendar
	c.book(1*ms, 300*ms)
	at := 301 * ms
	for range 200 {
		at += 1 * ms
		c.book(at, 300_000)
	}
	if got := c.free(2 * ms); got != 301*ms {
		t.Errorf("200 short blocks later a message of the long one begins at %d", got)
	}
	for range 1000 {
		at += 2 * 300 * ms
		c.book(at, 200*ms)
	}
	if got := c.free(2 * ms); got != 2*ms {
		t.Errorf("ten minutes later it begins at %d", got)
	}
	if !slices.IsSortedFunc(c.past, func(a, b stretch) int { return int(a.fromNs - b.fromNs) }) || cap(c.past) != stretches {
		t.Errorf("%d of %d: %v", len(c.past), cap(c.past), c.past)
	}
}

// BenchmarkCalendar is what it adds to a message: in order, and where it was overtaken with the past full.
func BenchmarkCalendar(b *testing.B) {
	for name, full := range map[string]bool{"in order": false, "overtaken": true} {
		b.Run(name, func(b *testing.B) {
			var c calendar
			at := int64(0)
			back := int64(0)
			for k := 0; full && k < 2*stretches; k++ {
				at += 10 * ms
				c.book(c.free(at), ms)
				back = 25 * ms
			}
			b.ReportAllocs()
			for range b.N {
				if !full {
					at += 1000
				}
				c.book(c.free(at-back), 100)
			}
		})
	}
}
