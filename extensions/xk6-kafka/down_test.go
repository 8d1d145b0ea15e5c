package kafka

import (
	"errors"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// As with NATS, Redis and RabbitMQ: a message that was written and whose connection was lost before its answer may have arrived, so its fate is
// unknown. What is sent after the broker has died has never left: it failed.
func TestWhatIsSentToABrokerThatDies(t *testing.T) {
	s := running(t)
	both := map[string]*bench{}
	for _, acks := range []string{"1", "all"} {
		b := open(t, broker.Options{URL: s.url, Driver: []byte(`{"acks": "` + acks + `"}`), TimeoutNs: int64(3 * time.Second)}, false)
		b.send()
		b.until("the first message is acknowledged", func() bool { return b.acked == 1 })
		both[acks] = b
	}
	s.freeze(t)
	for _, b := range both {
		b.send() // the kernel takes it: it has left
	}
	time.Sleep(500 * time.Millisecond)
	s.kill()
	for acks, b := range both {
		b.until("the second is completed", func() bool { return b.acked+b.failed == 2 })
		for _, err := range b.errs {
			if !errors.Is(err, broker.ErrUnknown) {
				t.Errorf("acks %s: %v: counted as failed, though it may have arrived", acks, err)
			}
		}
	}
	time.Sleep(time.Second)
	for range 10 {
		for _, b := range both {
			b.send()
		}
		time.Sleep(50 * time.Millisecond)
	}
	for acks, b := range both {
		b.until("all are completed", func() bool { return b.acked+b.failed == 12 })
		unknown := 0
		for _, err := range b.errs[1:] {
			t.Logf("acks %s: %v", acks, err)
			if errors.Is(err, broker.ErrUnknown) {
				unknown++
			}
		}
		// The first may go into a socket of which the client has not heard yet that nobody reads it.
		if unknown > 1 {
			t.Errorf("acks %s: %d of 10 messages that never left are unknown", acks, unknown)
		}
	}
}
