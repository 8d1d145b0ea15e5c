package clock

import (
	"testing"
	"time"
)

func TestAMomentOfTheWallClockHasItsReading(t *testing.T) {
	c := New()
	time.Sleep(5 * time.Millisecond)
	for _, ahead := range []time.Duration{-time.Hour, 0, time.Second} {
		before := c.Now()
		got := c.At(time.Now().Add(ahead))
		after := c.Now()
		// Round 0 strips the monotonic reading, which a moment from a network does not have.
		stripped := c.At(time.Now().Add(ahead).Round(0))
		if got < before+int64(ahead) || got > after+int64(ahead) {
			t.Errorf("%s from now: %d; want %d .. %d", ahead, got, before+int64(ahead), after+int64(ahead))
		}
		if stripped < got || stripped > c.Now()+int64(ahead) {
			t.Errorf("%s from now, by the wall clock alone: %d; want %d and a little more", ahead, stripped, got)
		}
	}
}
