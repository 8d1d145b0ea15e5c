//go:build unix

package redis

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// The server is slow, frozen, killed, or refuses.

func TestAFrozenServerIsWaitedForAndNothingIsLost(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "redis-server")
			traffic := s.traffic(t, mode, "")
			s.Freeze()
			const n = 1000
			for range n {
				traffic.Send()
			}
			time.Sleep(300 * time.Millisecond)
			if ended := traffic.Answered() + traffic.Failed() + traffic.Unknown(); ended > 0 {
				t.Errorf("%d sends end while the server is frozen", ended)
			}
			_ = s.Process().Signal(syscall.SIGCONT)
			traffic.Arrives()
			for i := range uint64(n) {
				if times := traffic.Arrived(i); times != 1 {
					t.Errorf("message %d arrives %d times", i, times)
				}
			}
			if again := *broker.Reconnects(traffic.Session); again != 0 {
				t.Errorf("%d connections were made anew, though none was lost", again)
			}
		})
	}
}

// It holds up Send only when queue and socket buffers are full. Subscribers may have messages that a server took and did not answer.
func TestAFrozenServerHoldsUpSendUntilItDiesAndThenNobodyKnows(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "redis-server")
			traffic := s.traffic(t, mode, "")
			stop := traffic.HeldUp(s.Server)
			s.Kill()
			stop()
			brokertest.Eventually(t, "sends fail, and nobody knows of those that were written", func() bool {
				return traffic.Failed() > 0 && traffic.Unknown() > 0
			})
			if n := traffic.Answered(); n > 0 {
				t.Errorf("%d sends are answered by a server that was frozen", n)
			}
		})
	}
}

func TestAFrozenServerHoldsUpNeitherRemoveNorClose(t *testing.T) {
	s := startServer(t, "redis-server")
	traffic := s.traffic(t, modeLists, "")
	stop := traffic.HeldUp(s.Server)
	began := time.Now()
	_ = broker.Remove(t.Context(), traffic.Session)
	_ = traffic.Session.Close()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("Remove and Close take %s", took)
	}
	stop()
	brokertest.Eventually(t, "sends fail", func() bool { return traffic.Failed() > 0 })
}

func TestASubscriberThatTheServerThrowsOutIsSeen(t *testing.T) {
	s := startServer(t, "redis-server", "--client-output-buffer-limit", "pubsub 256kb 0 0")
	r := newRig(t, s.at(`{}`), "slow", broker.Subscription{})
	hold := make(chan struct{})
	r.consume(func(broker.Delivery) { <-hold })
	const n = 200
	r.send(n, 100_000)
	r.answered()
	close(hold)
	r.eventually("the lost connection is reported", func() bool { return r.reported("client-output-buffer-limit") })
	r.eventually("it is made anew", func() bool { return r.session.Reconnects() == 1 })
	brokertest.Eventually(t, "messages arrive again", func() bool {
		r.send(1, 0)
		time.Sleep(10 * time.Millisecond)
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.received[r.sent-1] > 0
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := len(r.received); got >= n {
		t.Errorf("all of %d messages arrive on a connection that was thrown out", got)
	}
}

func TestAServerThatIsKilledAndComesBackIsFoundAgain(t *testing.T) {
	for _, mode := range modes {
		for _, group := range []string{"", "workers"} {
			if mode == modePubSub && group != "" {
				continue
			}
			t.Run(mode+" "+group, func(t *testing.T) {
				t.Parallel()
				s := startServer(t, "redis-server", "--appendonly", "yes", "--appendfsync", "always")
				traffic := s.traffic(t, mode, group)
				const n = 300
				for range n {
					traffic.Send()
				}
				brokertest.Eventually(t, "some are acknowledged", func() bool { return traffic.Answered() > 0 })
				s.Kill()
				brokertest.Eventually(t, "every send is completed", func() bool {
					return traffic.Answered()+traffic.Failed()+traffic.Unknown() == n
				})
				acknowledged := traffic.Answered() // the first ones
				s.Start()
				traffic.Survives(s.Server)
				if again := *broker.Reconnects(traffic.Session); again < 4 {
					t.Errorf("%d connections were made anew; the sender's and the consumer's were lost twice", again)
				}
				for i := range uint64(acknowledged) {
					// A list's only reader takes messages away: messages on their way when the server dies are lost.
					if stays := mode == modeStreams || group != ""; stays && traffic.Arrived(i) == 0 {
						t.Errorf("message %d of %d that were acknowledged does not arrive", i, acknowledged)
					}
				}
			})
		}
	}
}

func TestAMessageThatTheServerRefusesFailsWithItsWords(t *testing.T) {
	s := startServer(t, "redis-server", "--maxmemory", "1mb", "--maxmemory-policy", "noeviction")
	r := newRig(t, s.at(`{"mode": "lists"}`), "refused")
	r.send(1, 0)
	r.eventually("the send fails", func() bool { return len(r.outcomes) == 1 })
	if err := fmt.Sprint(r.outcomes[0]); err != "redis: LPUSH: OOM command not allowed when used memory > 'maxmemory'." {
		t.Errorf("the error is %q", err)
	}
}

func TestAMessageAboveTheLimitIsRefusedInTheServersWords(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "redis-server", "--proto-max-bulk-len", "1mb")
			brokertest.System{Driver: New, URL: s.url(), DriverOptions: fmt.Appendf(nil, `{"mode": %q}`, mode)}.RefusesAbove(t, "large", 1<<20, "invalid bulk length")
		})
	}
}
