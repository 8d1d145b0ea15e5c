package redis

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// A member of a group that works 10 ms on each message takes them one after the other: what waits in the client behind a slow one
// has not been received yet. That is what the drivers for Kafka (per record), NATS and RabbitMQ (per message) stamp.
func TestAMessageBehindASlowOneIsNotReceivedYet(t *testing.T) {
	const n, work = 20, 10 * time.Millisecond
	for _, mode := range []string{modeStreams, modeLists} {
		t.Run(mode, func(t *testing.T) {
			s := startServer(t, "redis-server")
			r := newRig(t, s.url(), `{"mode": "`+mode+`"}`, "t.0", nil)
			var mu sync.Mutex
			var stamps []int64
			var entered []int64
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			now := r.session.Now
			err := r.session.Consume(ctx, broker.Subscription{Topic: "t.0", Group: "workers"}, func(d broker.Delivery) {
				mu.Lock()
				stamps, entered = append(stamps, d.ReceivedNs), append(entered, now())
				mu.Unlock()
				time.Sleep(work)
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range int64(n) {
				r.send(i, 64)
			}
			r.eventually("all are handled", func() bool { mu.Lock(); defer mu.Unlock(); return len(stamps) == n })
			mu.Lock()
			defer mu.Unlock()
			var hidden time.Duration
			for k := range stamps {
				hidden = max(hidden, time.Duration(entered[k]-stamps[k]))
			}
			t.Logf("stamps span %v, handling spans %v", time.Duration(stamps[n-1]-stamps[0]), time.Duration(entered[n-1]-entered[0]))
			if hidden > work {
				t.Errorf("a message was stamped as received %v before the consumer took it: its wait behind slow ones is in no number", hidden)
			}
		})
	}
}
