//go:build acceptance

package kafka

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// The broker reads it when it wakes: it does arrive.
func TestAMessageThatAFrozenBrokerTakesLaterIsNotFailed(t *testing.T) {
	s := running(t)
	b := open(t, broker.Options{URL: s.url, Driver: []byte(`{"acks": "1"}`), TimeoutNs: int64(12 * time.Second)}, "")
	b.send()
	b.until("the first message arrives", func() bool { return len(b.received) == 1 })
	s.freeze(t)
	b.send()
	b.until("the second is given up", func() bool { return b.acked+len(b.errs) == 2 })
	s.thaw()
	time.Sleep(3 * time.Second)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.received) == 2 && unknown(b.errs) != len(b.errs) {
		t.Errorf("received, and counted as failed: %v", b.errs)
	}
}
