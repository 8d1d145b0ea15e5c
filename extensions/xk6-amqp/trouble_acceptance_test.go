//go:build acceptance

package amqp

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// patience is longer than a server that stands still is waited for.
const patience = 2 * time.Minute

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func opened(t *testing.T, url, options, durability string) broker.Session {
	t.Helper()
	s, err := New(broker.Options{
		URL: url, Driver: json.RawMessage(options), Durability: durability, Connections: 1, MessageBytes: 64, Now: clock.New().Now,
		OnError: func(error) {}, TimeoutNs: int64(time.Second),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context(), []broker.Topic{{Name: "a.queue", Partitions: 1}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// traffic is what was sent over one connection, by the first byte: how often it arrived, and what became of the sends.
type traffic struct {
	sync.Mutex
	producer                               broker.Producer
	received, answered, failed, unanswered map[byte]int
}

func trafficOf(t *testing.T, s broker.Session, group string) *traffic {
	t.Helper()
	all := &traffic{received: map[byte]int{}, answered: map[byte]int{}, failed: map[byte]int{}, unanswered: map[byte]int{}}
	err := s.Consume(t.Context(), broker.Subscription{Topic: "a.queue", Group: group, Members: 1}, func(d broker.Delivery) {
		all.Lock()
		defer all.Unlock()
		all.received[d.Payload[0]]++
	})
	if err == nil {
		all.producer, err = s.Producer(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (all *traffic) send(number byte) {
	all.producer.Send(&broker.Message{Name: "a.queue", Payload: append([]byte{number}, make([]byte, 63)...)}, func(_ *broker.Message, _ int64, err error) {
		all.Lock()
		defer all.Unlock()
		switch {
		case err == nil:
			all.answered[number]++
		case errors.Is(err, broker.ErrUnknown):
			all.unanswered[number]++
		default:
			all.failed[number]++
		}
	})
}

func (all *traffic) got(of func(*traffic) int) func() bool {
	return func() bool { all.Lock(); defer all.Unlock(); return of(all) > 0 }
}

var servers = map[string]func(testing.TB, bool) server{
	"Artemis": startArtemis,
	"ActiveMQ Classic": func(t testing.TB, sync bool) server {
		return startClassic(t, map[bool]string{true: "ALWAYS", false: "NEVER"}[sync])
	},
}

func TestConsumersGoOnWhenTheServerHasComeBack(t *testing.T) {
	for name, start := range servers {
		for _, group := range []string{"", "workers"} {
			t.Run(name+" "+group, func(t *testing.T) {
				server := start(t, true)
				session := opened(t, server.url, "", "fsync")
				all := trafficOf(t, session, group)
				all.send(1)
				eventually(t, "the first message arrives", all.got(func(a *traffic) int { return a.received[1] }))
				server.Kill()
				eventually(t, "a message is refused while the server is down", func() bool {
					all.send(2)
					return all.got(func(a *traffic) int { return a.failed[2] })()
				})
				server.Start()
				eventually(t, "a message sent afterwards arrives", func() bool {
					all.send(3)
					return all.got(func(a *traffic) int { return a.received[3] })()
				})
				if n := broker.Reconnects(session); n == nil || *n == 0 {
					t.Error("the lost connection is not counted")
				}
			})
		}
	}
}

// A server that stands still with its connections open is noticed by its silence; nobody knows of what it had got.
func TestAFrozenServerIsGivenUp(t *testing.T) {
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			server := start(t, true)
			all := trafficOf(t, opened(t, server.url, "", ""), "")
			all.send(1)
			eventually(t, "the first message arrives", all.got(func(a *traffic) int { return a.received[1] }))
			server.Freeze()
			for range 100 {
				all.send(2)
			}
			eventually(t, "a message that it does not answer is unknown", all.got(func(a *traffic) int { return a.unanswered[2] }))
			server.Kill()
			server.Start()
			eventually(t, "a message sent afterwards arrives", func() bool {
				all.send(3)
				return all.got(func(a *traffic) int { return a.received[3] })()
			})
		})
	}
}

// Four consumers of a queue with 3 ms of work for each message all get some, and none is lost.
func TestAllConsumersOfAQueueWork(t *testing.T) {
	const members, n = 4, 400
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			session := opened(t, start(t, false).url, `{"prefetch": 1}`, "")
			var mu sync.Mutex
			worked := make([]int, members)
			for i := range members {
				err := session.Consume(t.Context(), broker.Subscription{Topic: "a.queue", Group: "workers", Members: members}, func(broker.Delivery) {
					time.Sleep(3 * time.Millisecond)
					mu.Lock()
					defer mu.Unlock()
					worked[i]++
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			producer, err := session.Producer(0)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				producer.Send(&broker.Message{Name: "a.queue", Payload: append([]byte{byte(i)}, make([]byte, 63)...)}, func(_ *broker.Message, _ int64, err error) {
					if err != nil {
						t.Error(err)
					}
				})
			}
			eventually(t, "each message is handled once", func() bool {
				mu.Lock()
				defer mu.Unlock()
				total := 0
				for _, one := range worked {
					total += one
				}
				return total == n
			})
			for i, one := range worked {
				if one < n/members/4 {
					t.Errorf("member %d of %v did next to nothing", i, worked)
				}
			}
		})
	}
}

// What durability does on the way to the disk, counted by strace: the settings of runner/brokers/amqp.
func TestSyncBelongsToEachAcknowledgementOrToNone(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("strace is not on PATH")
	}
	const n = 50
	for name, start := range servers {
		for _, c := range []struct {
			durability string
			sync       bool
			// least and most flushes for n messages that are sent one after another.
			least, most int
		}{
			// A few for the queue itself, and for what the server does by the clock.
			{"memory", true, 0, n / 2},
			{"os", false, 0, n / 2},
			{"fsync", true, n, 6 * n},
		} {
			t.Run(name+" "+c.durability, func(t *testing.T) {
				s := start(t, c.sync)
				s.Kill()
				trace := filepath.Join(t.TempDir(), "trace")
				s.Start(strace, "-f", "-e", "trace=fsync,fdatasync,msync", "-o", trace)
				flushes := func() int {
					text, err := os.ReadFile(trace)
					if err != nil {
						t.Fatal(err)
					}
					return strings.Count(string(text), "sync(")
				}
				producer, err := opened(t, s.url, "", c.durability).Producer(0)
				if err != nil {
					t.Fatal(err)
				}
				before := flushes()
				for range n {
					done := make(chan error, 1)
					producer.Send(&broker.Message{Name: "a.queue", Payload: make([]byte, 64)}, func(_ *broker.Message, _ int64, err error) { done <- err })
					if err := <-done; err != nil {
						t.Fatal(err)
					}
				}
				got := flushes() - before
				t.Logf("%d flushes", got)
				if got < c.least || got > c.most {
					t.Errorf("%d flushes for %d acknowledged messages, want %d to %d", got, n, c.least, c.most)
				}
			})
		}
	}
}
