package generator

import (
	"fmt"
	"testing"
)

func TestStopsWithinASendCall(t *testing.T) {
	// The watch slept from 8 to 10 ms and ran at 409, from 409 to 411 and ran at 470, and now wants to run at 501.
	var s stops
	s.woke(10*ms, 409*ms)
	s.woke(411*ms, 470*ms)
	s.woke(480*ms, 480*ms+stoppedNs-1) // late, but as usual for threads
	s.dueNs.Store(501 * ms)
	for _, c := range []struct {
		words             string
		from, until, want int64
	}{
		{"before the first", 0, 5 * ms, 0},
		{"around the first", 5 * ms, 410 * ms, 399 * ms},
		{"around both", 5 * ms, 480 * ms, 458 * ms},
		{"from within the first", 300 * ms, 410 * ms, 109 * ms},
		{"after both", 471 * ms, 500 * ms, 0},
		{"until now, the watch is in time", 471 * ms, 505 * ms, 0},
		{"until now, the watch has not run since", 471 * ms, 901 * ms, 400 * ms},
		{"all of it", 0, 901 * ms, 858 * ms},
	} {
		if got := s.during(c.from, c.until); got != c.want {
			t.Errorf("%s: %d..%d: %d; want %d", c.words, c.from, c.until, got, c.want)
		}
	}
	// A caller that asked before the watch ran, and asks again afterwards, gets the same stop.
	s.woke(501*ms, 901*ms)
	if got := s.during(471*ms, 901*ms); got != 400*ms {
		t.Errorf("%d; want the stop once", got)
	}
}

func TestStopsAreToldOnce(t *testing.T) {
	var s stops
	s.woke(10*ms, 409*ms)
	s.woke(411*ms, 470*ms)
	if got := fmt.Sprint(s.take(100 * ms)); got != "[[-90000000 309000000] [311000000 370000000]]" {
		t.Errorf("%s; want both stops since 100 ms", got)
	}
	if got := s.take(100 * ms); got != nil {
		t.Errorf("%d; want nothing new", got)
	}
	for i := range int64(remembered + 3) {
		s.woke(i*10*ms, i*10*ms+stoppedNs)
	}
	if got := s.take(0); len(got) != remembered || got[0] != [2]int64{30 * ms, 30*ms + stoppedNs} {
		t.Errorf("%d stops from %d; want those that are remembered", len(got), got[0])
	}
}
