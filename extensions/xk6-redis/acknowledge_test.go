package redis

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestAMemberAcknowledgesAsItIsTold(t *testing.T) {
	s := startServer(t, "redis-server")
	client := s.client(t)
	for _, c := range []struct {
		options, group string
		// command that acknowledges, how often at most for 21 messages, and how many it has to do for while the first is handled.
		command     string
		least, most int
		pending     int64
	}{
		{`{"mode": "streams"}`, "g", "xack", 21, 21, 1},
		{`{"mode": "streams", "client": "go-redis"}`, "g", "xack", 21, 21, 1},
		{`{"mode": "streams", "acknowledge": "batch"}`, "g", "xack", 2, 2, 1},
		{`{"mode": "streams", "acknowledge": "interval"}`, "g", "xack", 1, 2, 1},
		{`{"mode": "streams", "acknowledge": "automatic"}`, "g", "xack", 0, 0, 0},
		{`{"mode": "lists"}`, "g", "lrem", 21, 21, 1},
		{`{"mode": "lists", "client": "go-redis"}`, "g", "lrem", 21, 21, 1},
		{`{"mode": "lists"}`, "", "lrem", 0, 0, 0},
	} {
		t.Run(c.options+c.group, func(t *testing.T) {
			ctx := t.Context()
			if err := client.ConfigResetStat(ctx).Err(); err != nil {
				t.Fatal(err)
			}
			topic := "acknowledge." + rand.Text()
			r := newRig(t, s.at(c.options), topic, broker.Subscription{Group: c.group})
			began, over := make(chan struct{}, 21), make(chan struct{})
			r.consume(func(broker.Delivery) { began <- struct{}{}; <-over })
			r.send(1, 100)
			<-began
			r.send(20, 100)
			r.answered()
			pending := func() int64 {
				if c.command == "lrem" {
					return client.LLen(ctx, r.session.consumers[0].taken).Val()
				}
				return client.XPending(ctx, topic, "g").Val().Count
			}
			if n := pending(); n != c.pending {
				t.Errorf("%d messages wait for an acknowledgement, want %d", n, c.pending)
			}
			close(over)
			for range 20 {
				<-began
			}
			calls := func() (n int) {
				_, after, _ := strings.Cut(client.Info(ctx, "commandstats").Val(), "cmdstat_"+c.command+":calls=")
				_, _ = fmt.Sscan(strings.Split(after, ",")[0], &n)
				return n
			}
			brokertest.Eventually(t, "none waits for an acknowledgement", func() bool { return pending() == 0 && calls() >= c.least })
			if n := calls(); n > c.most {
				t.Errorf("%s is sent %d times, want %d to %d", c.command, n, c.least, c.most)
			}
		})
	}
}
