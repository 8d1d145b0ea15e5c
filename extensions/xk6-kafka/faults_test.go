package kafka

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// waits is traffic whose producers wait for these acknowledgements, and for each no longer than the timeout.
func (s *server) waits(t *testing.T, acks string, timeout time.Duration, group string) *brokertest.Traffic {
	t.Helper()
	a := brokertest.System{Driver: New, URL: s.url, DriverOptions: []byte(`{"acks": "` + acks + `"}`), Timeout: timeout}.Traffic(t, group)
	a.Arrives()
	a.Settles()
	return a
}

func TestAFrozenBrokerFailsMessagesInTheEndAndHoldsUpNeitherSendNorClose(t *testing.T) {
	s := running(t)
	defer s.recover(t)
	all := []*brokertest.Traffic{s.waits(t, "1", time.Second, ""), s.waits(t, "all", time.Second, "workers")}
	unready, err := prepared(t, broker.Options{URL: s.url, TimeoutNs: int64(time.Second)}, broker.Topic{Name: "unready", Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.Freeze()
	began := time.Now()
	for _, a := range all {
		for range 100 {
			a.Send()
		}
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("200 sends to a frozen broker took %s", took)
	}
	defer func(usual time.Duration) { readyTimeout = usual }(readyTimeout)
	readyTimeout = time.Second
	if _, err := unready.Producer(0); err == nil || !strings.Contains(err.Error(), "connection 1 is not ready within 1s: ") ||
		!strings.Contains(err.Error(), "; kafka: the topics get no leaders: ") {
		t.Errorf("Producer = %v; want how long it took, and what the brokers say", err)
	}
	for _, a := range all {
		a.Settles()
		if a.Failed()+a.Unknown() < 100 {
			t.Errorf("%d of 100 messages that a frozen broker does not answer have an error", a.Failed()+a.Unknown())
		}
		if a.Unknown() == 0 {
			t.Error("the broker would take the first when it wakes, and all are counted as failed")
		}
	}
	if !deadline.AtMost(30*time.Second, deadline.Steps(all, func(a *brokertest.Traffic) { _ = a.Session.Close() })...) {
		t.Fatal("Close hangs")
	}
}

func TestARestartedBrokerIsFoundAgainAndTheReconnectIsCounted(t *testing.T) {
	s := running(t)
	a := s.waits(t, "all", time.Minute, "")
	before := a.Answered()
	s.kill()
	a.Send()
	s.run()
	a.Send()
	brokertest.Eventually(t, "both are acknowledged and arrive", func() bool {
		return a.Answered() == before+2 && a.Arrived(uint64(before)) == 1 && a.Arrived(uint64(before+1)) == 1
	})
	if n := *broker.Reconnects(a.Session); n < 2 {
		t.Errorf("%d reconnects are counted; the sending and the receiving connection were made anew", n)
	}
	brokertest.Eventually(t, "lost connections are reported", func() bool { return a.Told("lost") })
}

// Like with NATS, Redis and RabbitMQ: a message that was written and whose connection was lost before its answer may have arrived, so its
// fate is unknown. A message sent after the broker has died has never left: it failed.
func TestWhatIsSentToABrokerThatDies(t *testing.T) {
	s := running(t)
	both := map[string]*brokertest.Traffic{}
	for _, acks := range []string{"1", "all"} {
		both[acks] = s.waits(t, acks, 3*time.Second, "")
	}
	s.Freeze()
	for _, a := range both {
		a.Send() // the kernel takes it: it has left
	}
	time.Sleep(500 * time.Millisecond)
	s.kill()
	for acks, a := range both {
		a.Settles()
		if a.Failed() > 0 {
			t.Errorf("acks %s: it is counted as failed, though it may have arrived", acks)
		}
	}
	time.Sleep(time.Second)
	for range 10 {
		for _, a := range both {
			a.Send()
		}
		time.Sleep(50 * time.Millisecond)
	}
	for acks, a := range both {
		a.Settles()
		// The first may go into a socket that the client has not yet found dead.
		if failed := a.Failed(); failed < 9 {
			t.Errorf("acks %s: %d of 10 messages that never left have failed", acks, failed)
		}
	}
}

// A setting is not enough if the broker does not act on it: strace counts.
func TestTheLogIsFlushedAsTheLevelSays(t *testing.T) {
	needs(t, "strace")
	trace := filepath.Join(t.TempDir(), "strace")
	s := start(t, t.TempDir(), setup{
		settings: map[string]string{
			"log.flush.scheduler.interval.ms": "200",
			"log.flush.interval.ms":           never, // for topics without flush.ms; if it is missing, as often as above
			"log.initial.task.delay.ms":       "0",   // half a minute by default
		},
		under: []string{"strace", "-f", "-y", "--seccomp-bpf", "-e", "trace=fsync,fdatasync", "-o", trace},
	})
	traffic := func(durability string) (a *brokertest.Traffic, flushes func() int) {
		a = brokertest.System{Driver: New, URL: s.url, Durability: durability}.Traffic(t, "")
		return a, func() (count int) {
			text, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, "/"+a.Topic+"-0/") && strings.Contains(line, ".log>") {
					count++
				}
			}
			return count
		}
	}
	const n = 30
	for durability, want := range map[string]int{"fsync": n, "": 0, "os": 0, "memory": 0} {
		a, flushes := traffic(durability)
		for range n {
			a.Send()
			a.Settles()
		}
		if got := flushes(); got != want || a.Answered() != n {
			t.Errorf("%q: %d flushes of the log for %d messages, want %d", durability, got, a.Answered(), want)
		}
	}
	a, flushes := traffic("interval")
	a.Send()
	brokertest.Eventually(t, "the log is flushed", func() bool { return flushes() > 0 })
	refuses(t, broker.Options{URL: running(t).url, Durability: "interval"}, "set log.flush.scheduler.interval.ms=1000")
}

func TestAQuotaOfTheBrokerIsTimeThatItThrottles(t *testing.T) {
	s := running(t)
	id := "mqbench-producer-0"
	quota := func(remove bool) {
		entry := kadm.AlterClientQuotaEntry{
			Entity: kadm.ClientQuotaEntity{{Type: "client-id", Name: &id}},
			Ops:    []kadm.AlterClientQuotaOp{{Key: "producer_byte_rate", Value: 1000, Remove: remove}},
		}
		if _, err := s.admin(t).AlterClientQuotas(context.Background(), []kadm.AlterClientQuotaEntry{entry}); err != nil {
			t.Fatal(err)
		}
	}
	a := s.waits(t, "all", time.Minute, "")
	throttledNs := a.Session.(*session).ThrottledNs
	if ns := throttledNs(); ns != 0 {
		t.Errorf("without a quota the broker throttled for %d ns", ns)
	}
	quota(false)
	defer quota(true)
	brokertest.Eventually(t, "the quota throttles for a second", func() bool {
		for range 20 {
			a.Send()
		}
		time.Sleep(20 * time.Millisecond)
		return throttledNs() > int64(time.Second)
	})
}

// refuses checks that Open fails, with these words and without a password.
func refuses(t *testing.T, o broker.Options, words string) {
	t.Helper()
	o.Connections, o.Now = 1, time.Now().UnixNano
	session, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	began := time.Now()
	err = session.Open(t.Context())
	if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "wr0ng") || strings.Contains(err.Error(), "s3cr") {
		t.Errorf("Open = %v; want a sentence with %s, and no password", err, words)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("Open took %s", took)
	}
}
