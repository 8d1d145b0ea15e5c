package kafka

import (
	"errors"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// What is sent a second after the broker has died has never left: it failed, as with NATS, Redis and RabbitMQ.
func TestAMessageSentWhileThereIsNoBrokerFailed(t *testing.T) {
	s := running(t)
	both := openBoth(t, s, 3*time.Second)
	s.kill()
	time.Sleep(time.Second)
	for range 10 {
		for _, b := range both {
			b.send()
		}
		time.Sleep(50 * time.Millisecond)
	}
	for acks, b := range both {
		b.until("all are completed", func() bool { return b.acked+b.failed == 11 })
		unknown := 0
		for _, err := range b.errs {
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

// openBoth gives a session with acks 1 and one with acks all on the same broker, each with one message that is acknowledged.
func openBoth(t *testing.T, s *server, timeout time.Duration) map[string]*bench {
	t.Helper()
	both := map[string]*bench{}
	for _, acks := range []string{"1", "all"} {
		b := open(t, broker.Options{URL: s.url, Driver: []byte(`{"acks": "` + acks + `"}`), TimeoutNs: int64(timeout)}, false)
		b.send()
		b.until("the first message is acknowledged", func() bool { return b.acked == 1 })
		both[acks] = b
	}
	return both
}
