//go:build unix

package generator

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// What is delivered 50 ms after a stop that is longer than the drain is received, with a schedule or without one.
func TestTheDrainIsAsLongAsTheGeneratorCouldWait(t *testing.T) {
	open, closed := testPlan(1000, 500), closedPlan(500, 500)
	for words, p := range map[string]*Plan{"with a schedule": open, "closed": closed} {
		t.Run(words, func(t *testing.T) {
			p.DrainNs, p.TimeoutNs = 1000*ms, 10_000*ms
			m := measure(t, p, &stub{receive: func(_ string, i int64) {
				if i != 480 {
					return
				}
				time.Sleep(100 * time.Millisecond)
				again := exec.Command("sh", "-c", fmt.Sprintf("sleep 1.3; kill -CONT %d", os.Getpid()))
				if err := again.Start(); err != nil {
					t.Error(err)
					return
				}
				if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
					t.Error(err)
				}
				time.Sleep(50 * time.Millisecond)
				_ = again.Wait()
			}}, nil)
			if *m.window.Received != 500 || *m.window.Lost != 0 {
				t.Errorf("received %d, lost %d; want 500, 0", *m.window.Received, *m.window.Lost)
			}
		})
	}
}
