package kafka

import (
	"errors"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// What is sent a second after the broker has died has never left: it failed, as with NATS, Redis and RabbitMQ.
func TestAMessageSentWhileThereIsNoBrokerFailed(t *testing.T) {
	for _, acks := range []string{"1", "all"} {
		t.Run("acks "+acks, func(t *testing.T) {
			s := start(t, setup{})
			b := open(t, broker.Options{URL: s.url, Driver: []byte(`{"acks": "` + acks + `"}`), TimeoutNs: int64(3 * time.Second)}, false)
			b.send()
			b.until("the first message is acknowledged", func() bool { return b.acked == 1 })
			s.kill()
			time.Sleep(time.Second)
			for range 10 {
				b.send()
				time.Sleep(50 * time.Millisecond)
			}
			b.until("all are completed", func() bool { return b.acked+b.failed == 11 })
			b.mu.Lock()
			defer b.mu.Unlock()
			unknown := 0
			for _, err := range b.errs {
				t.Log(err)
				if errors.Is(err, broker.ErrUnknown) {
					unknown++
				}
			}
			// The first may go into a socket of which the client has not heard yet that nobody reads it.
			if unknown > 1 {
				t.Errorf("%d of 10 messages that never left are unknown", unknown)
			}
		})
	}
}
