package brokertest

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
)

func TestACopyIsNoFaultWhereTheSystemHadToHandTheMessageOutAgain(t *testing.T) {
	for _, c := range []struct {
		after, second time.Duration
		want          int
	}{
		{0, time.Hour, 2},
		{time.Second, 999 * time.Millisecond, 2},
		{time.Second, time.Second, 1},
		{time.Millisecond, 5 * time.Millisecond, 1},
	} {
		r := &rig{t: t, redeliversAfter: c.after}
		first, second := &subscription{rig: r}, &subscription{rig: r}
		first.got = []receipt{{Envelope: envelope.Envelope{Sequence: 7, Sent: 100}, receivedNs: 100 + int64(10*time.Millisecond)}}
		second.got = []receipt{{Envelope: envelope.Envelope{Sequence: 7, Sent: 100}, receivedNs: 100 + int64(c.second)}}
		if got := len(together(first, second)); got != c.want {
			t.Errorf("handed out again after %s, a copy %s after the send: %d receipts count, want %d", c.after, c.second, got, c.want)
		}
	}
}
