//go:build unix

package redis

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// What happens when the server is slow, frozen, killed, or refuses.

func TestAFrozenServerIsWaitedForAndNothingIsLost(t *testing.T) {
	for _, mode := range []string{modePubSub, modeStreams, modeLists} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "redis-server")
			pid, err := strconv.Atoi(s.client(t).InfoMap(t.Context(), "server").Item("Server", "process_id"))
			if err != nil {
				t.Fatal(err)
			}
			r := newRig(t, s.url(), fmt.Sprintf(`{"mode": %q}`, mode), "frozen", "")
			r.consume(nil)
			s.Freeze()
			const n = 1000
			r.within("sending to a frozen server", func() { r.sendAll(n) })
			time.Sleep(300 * time.Millisecond)
			if well, failed := r.done(); well+failed > 0 {
				t.Errorf("a frozen server completes %d sends and fails %d", well, failed)
			}
			_ = syscall.Kill(pid, syscall.SIGCONT)
			r.eventually("all arrive after it woke up", func() bool { return r.count() == n })
			r.answered(n)
			if again := r.session.Reconnects(); again != 0 {
				t.Errorf("%d connections were made anew, though none was lost", again)
			}
		})
	}
}

// Subscribers may have what a server took and did not answer.
func TestOfACommandWithoutAnAnswerNobodyKnows(t *testing.T) {
	for _, mode := range []string{modePubSub, modeStreams, modeLists} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "redis-server")
			r := newRig(t, s.url(), fmt.Sprintf(`{"mode": %q}`, mode), "unanswered")
			s.Freeze()
			const n = 100
			r.sendAll(n)
			time.Sleep(time.Second) // the first of them are written, which takes far less
			s.Kill()
			r.eventually("every send is completed", func() bool { well, failed := r.done(); return well+failed == n })
			r.mu.Lock()
			defer r.mu.Unlock()
			unknown := 0
			for _, err := range r.outcomes {
				if errors.Is(err, broker.ErrUnknown) {
					unknown++
				}
			}
			if unknown == 0 {
				t.Errorf("no outcome of %d is unknown: %v", n, r.outcomes[0])
			}
		})
	}
}

func TestAFrozenServerHoldsUpSendOnlyWhenTheQueueIsFullAndNeverClose(t *testing.T) {
	s := startServer(t, "redis-server")
	r := newRigOf(t, broker.Options{URL: s.url(), InFlight: 8, Driver: []byte(`{"mode": "lists"}`)}, "full")
	s.Freeze()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		// Its socket's buffers take some of it.
		for i := range int64(100) {
			r.send(i, 1<<20)
		}
	}()
	select {
	case <-sent:
		t.Error("100 MiB were taken for a server that takes nothing")
	case <-time.After(time.Second):
	}
	r.within("Remove while the server is frozen", func() { _ = r.session.Remove(t.Context()) })
	r.within("Close while the server is frozen", func() { _ = r.session.Close() })
	r.within("a send that waited", func() { <-sent })
	r.eventually("all sends fail", func() bool { _, failed := r.done(); return failed == 100 })
}

func TestASubscriberThatTheServerThrowsOutIsSeen(t *testing.T) {
	s := startServer(t, "redis-server", "--client-output-buffer-limit", "pubsub 256kb 0 0")
	r := newRig(t, s.url(), `{}`, "slow", "")
	hold := make(chan struct{})
	r.consume(func() { <-hold })
	const n = 200
	for i := range int64(n) {
		r.send(i, 100_000)
	}
	r.answered(n)
	close(hold)
	r.eventually("the lost connection is reported", func() bool { return r.reported("client-output-buffer-limit") })
	r.eventually("it is made anew", func() bool { return r.session.Reconnects() == 1 })
	next := int64(n)
	r.eventually("messages arrive again", func() bool {
		before := r.count()
		r.send(next, 0)
		next++
		time.Sleep(10 * time.Millisecond)
		return r.count() > before
	})
	if got := r.count(); got >= n {
		t.Errorf("all of %d messages arrive on a connection that was thrown out", got)
	}
	if !r.reported("nobody was subscribed") {
		t.Log("every message was published while the subscriber was there")
	}
}

func TestAServerThatIsKilledAndComesBackIsFoundAgain(t *testing.T) {
	for _, mode := range []string{modePubSub, modeStreams, modeLists} {
		for _, group := range []string{"", "workers"} {
			if mode == modePubSub && group != "" {
				continue
			}
			t.Run(mode+" "+group, func(t *testing.T) {
				t.Parallel()
				s := startServer(t, "redis-server", "--appendonly", "yes", "--appendfsync", "always")
				r := newRig(t, s.url(), fmt.Sprintf(`{"mode": %q}`, mode), "killed", group)
				r.consume(func() { time.Sleep(time.Millisecond) })
				const n = 300
				r.sendAll(n)
				s.Kill()
				r.eventually("every send is completed", func() bool { well, failed := r.done(); return well+failed == n })
				r.send(n, 0)
				r.eventually("a send without a server fails", func() bool { _, failed := r.done(); return failed > 0 })
				s.Start()
				next := int64(n)
				r.eventually("messages go through again", func() bool {
					next++
					r.send(next, 0)
					time.Sleep(10 * time.Millisecond)
					r.mu.Lock()
					defer r.mu.Unlock()
					return r.received[next] > 0 || r.received[next-1] > 0
				})
				if r.session.Reconnects() < 2 {
					t.Errorf("%d connections were made anew; the sender's and the consumer's were lost", r.session.Reconnects())
				}
				if mode == modePubSub {
					return
				}
				r.eventually("all that was acknowledged arrives", func() bool {
					r.mu.Lock()
					defer r.mu.Unlock()
					for i, err := range r.outcomes {
						if err == nil && r.received[i] == 0 {
							return false
						}
					}
					return true
				})
			})
		}
	}
}

func TestAMessageThatTheServerRefusesFailsWithItsWords(t *testing.T) {
	s := startServer(t, "redis-server", "--maxmemory", "1mb", "--maxmemory-policy", "noeviction")
	r := newRig(t, s.url(), `{"mode": "lists"}`, "refused")
	r.send(0, 0)
	r.eventually("the send fails", func() bool { _, failed := r.done(); return failed == 1 })
	if err := fmt.Sprint(r.outcomes[0]); err != "redis: LPUSH: OOM command not allowed when used memory > 'maxmemory'." {
		t.Errorf("the error is %q", err)
	}
}

func TestAMessageAboveTheLimitIsRefusedInTheServersWords(t *testing.T) {
	for _, mode := range []string{modePubSub, modeStreams, modeLists} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "redis-server", "--proto-max-bulk-len", "1mb")
			brokertest.System{Driver: New, URL: s.url(), DriverOptions: fmt.Appendf(nil, `{"mode": %q}`, mode)}.RefusesAbove(t, "large", 1<<20, "invalid bulk length")
		})
	}
}
