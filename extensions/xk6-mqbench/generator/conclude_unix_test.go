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

// stopped stops this process for the length of pause.
func stopped(t *testing.T, pause time.Duration) {
	t.Helper()
	// If it is continued before it has stopped, it gets the signal once more.
	again := exec.Command("sh", "-c", fmt.Sprintf("sleep %f; kill -CONT %d; sleep 1; kill -CONT %d", pause.Seconds(), os.Getpid(), os.Getpid()))
	if err := again.Start(); err != nil {
		t.Error(err)
		return
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
	go func() { _ = again.Wait() }()
}

// A message delivered 50 ms after a stop that is longer than the drain is received, with a schedule or without one.
func TestTheDrainIsAsLongAsTheGeneratorCouldWait(t *testing.T) {
	for words, p := range map[string]*Plan{"with a schedule": testPlan(1000, 500), "closed": closedPlan(500, 500)} {
		t.Run(words, func(t *testing.T) {
			p.DrainNs, p.TimeoutNs = 1000*ms, 10_000*ms
			measure(t, p, &stub{receive: at(480, func() {
				time.Sleep(100 * time.Millisecond)
				stopped(t, 1300*time.Millisecond)
				time.Sleep(50 * time.Millisecond)
			})}, nil).has("received 500 lost 0")
		})
	}
}
