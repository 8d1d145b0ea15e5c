package broker

import "testing"

func TestConnectionsThatAreHeldBackAtTheSameTimeCountOnce(t *testing.T) {
	now := int64(0)
	throttle := NewThrottle(func() int64 { return now })
	at := func(ns, want int64) {
		t.Helper()
		if now = ns; throttle.ThrottledNs() != want {
			t.Errorf("at %d: %d ns, want %d", ns, throttle.ThrottledNs(), want)
		}
	}
	at(10, 0)
	first := throttle.Hold()
	at(15, 5)
	second := throttle.Hold()
	at(20, 10)
	first()
	first()
	at(30, 20)
	second()
	at(50, 20)
	third := throttle.Hold()
	at(51, 21)
	third()
	at(60, 21)
}
