package generator

import (
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// With the kernel's default slack every sleep of the thread that took over would end 50 us late.
func TestTheThreadThatTakesOverSleepsExactlyToo(t *testing.T) {
	var fast, inexact atomic.Int64
	measure(t, roundTripPlan(1000, 600, 2, 2), &stub{onSend: func(msg *broker.Message) error {
		for give := time.Now().Add(20 * time.Second); msg.Index == 100 && fast.Load() < 150 && time.Now().Before(give); {
			time.Sleep(time.Millisecond)
		}
		if msg.Name == "t1" {
			fast.Add(1)
			if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil && slack != 1 {
				inexact.Add(1)
			}
		}
		return nil
	}}, nil)
	if n := inexact.Load(); n > fast.Load()/4 { // some the producer's own goroutine may have sent, while the walk had its connection
		t.Errorf("%d of %d messages were sent by a thread with the kernel's slack", n, fast.Load())
	}
}
