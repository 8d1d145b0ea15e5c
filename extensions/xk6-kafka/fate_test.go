package kafka

import (
	"errors"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// A message that was written and whose connection was lost before its answer may have arrived: its fate is unknown
// (broker.ErrUnknown), as it is for NATS, Redis and RabbitMQ, and not failed.
func TestAMessageWhoseConnectionIsLostAfterItWasWrittenIsUnknown(t *testing.T) {
	s := running(t)
	both := openBoth(t, s, 5*time.Second)
	s.freeze(t)
	for _, b := range both {
		b.send() // the kernel takes it: it has left
	}
	time.Sleep(500 * time.Millisecond)
	s.kill()
	for acks, b := range both {
		b.until("the second is completed", func() bool { return b.acked+b.failed == 2 })
		for _, err := range b.errs {
			t.Logf("acks %s: %v", acks, err)
			if !errors.Is(err, broker.ErrUnknown) {
				t.Errorf("acks %s: %v: counted as failed, though it may have arrived", acks, err)
			}
		}
	}
}

// The broker reads it when it wakes: it does arrive.
func TestAMessageThatAFrozenBrokerTakesLaterIsNotFailed(t *testing.T) {
	s := running(t)
	b := open(t, broker.Options{URL: s.url, Driver: []byte(`{"acks": "1"}`), TimeoutNs: int64(12 * time.Second)}, true)
	b.send()
	b.until("the first message arrives", func() bool { return len(b.received) == 1 })
	s.freeze(t)
	b.send()
	b.until("the second is given up", func() bool { return b.acked+b.failed == 2 })
	s.thaw()
	time.Sleep(3 * time.Second)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, err := range b.errs {
		t.Logf("%v; received %d", err, len(b.received))
		if len(b.received) == 2 && !errors.Is(err, broker.ErrUnknown) {
			t.Errorf("received, and counted as failed: %v", err)
		}
	}
}
