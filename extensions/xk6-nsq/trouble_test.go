package nsq

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// Longer than a server that stands still is waited for.
const patience = 2 * time.Minute

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func opened(t *testing.T, url, options string) broker.Session {
	t.Helper()
	s, err := New(broker.Options{
		URL: url, Driver: json.RawMessage(options), Connections: 1, MessageBytes: 64, Now: clock.New().Now, OnError: func(error) {},
		TimeoutNs: int64(time.Second),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context(), []broker.Topic{{Name: "a.topic", Partitions: 1}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// traffic is what was sent over one connection and received by one subscription, by the first byte.
type traffic struct {
	sync.Mutex
	producer                               broker.Producer
	received, answered, failed, unanswered map[byte]int
}

func trafficOf(t *testing.T, s broker.Session, group string) *traffic {
	t.Helper()
	all := &traffic{received: map[byte]int{}, answered: map[byte]int{}, failed: map[byte]int{}, unanswered: map[byte]int{}}
	err := s.Consume(t.Context(), broker.Subscription{Topic: "a.topic", Group: group, Members: 1}, func(d broker.Delivery) {
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
	all.producer.Send(&broker.Message{Name: "a.topic", Payload: append([]byte{number}, make([]byte, 63)...)}, func(_ *broker.Message, _ int64, err error) {
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

// A server that is killed loses what is in its memory, and knows its topics and channels again when it comes back.
func TestConsumersGoOnWhenTheServerHasComeBack(t *testing.T) {
	for name, args := range map[string][]string{"in memory": nil, "on disk": {"--mem-queue-size=0"}} {
		for _, group := range []string{"", "workers"} {
			t.Run(name+" "+group, func(t *testing.T) {
				server := startServer(t, args...)
				session := opened(t, server.url(), "")
				all := trafficOf(t, session, group)
				all.send(1)
				eventually(t, "the first message arrives", all.got(func(a *traffic) int { return a.received[1] }))
				server.Kill()
				eventually(t, "a message is refused, or nobody knows of it, while the server is down", func() bool {
					all.send(2)
					return all.got(func(a *traffic) int { return a.failed[2] + a.unanswered[2] })()
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

// Four members with 3 ms of work for each message all get some, and none is lost.
func TestAllMembersOfAChannelWork(t *testing.T) {
	const members, n = 4, 400
	server := startServer(t)
	session := opened(t, server.url(), `{"prefetch": 1}`)
	var mu sync.Mutex
	worked, seen := make([]int, members), map[byte]int{}
	for i := range members {
		err := session.Consume(t.Context(), broker.Subscription{Topic: "a.topic", Group: "workers", Members: members}, func(d broker.Delivery) {
			time.Sleep(3 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			worked[i]++
			seen[d.Payload[0]]++
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
		producer.Send(&broker.Message{Name: "a.topic", Payload: append([]byte{byte(i)}, make([]byte, 63)...)}, func(_ *broker.Message, _ int64, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "each message is handled", func() bool {
		mu.Lock()
		defer mu.Unlock()
		total := 0
		for _, one := range worked {
			total += one
		}
		return total >= n
	})
	mu.Lock()
	defer mu.Unlock()
	for i, one := range worked {
		if one < n/members/4 {
			t.Errorf("member %d of %v did next to nothing", i, worked)
		}
	}
}

func TestAServerWithoutItsHTTPPortIsNamed(t *testing.T) {
	server := startServer(t)
	s, err := New(broker.Options{URL: "nsq://" + server.tcp + "?http=127.0.0.1:1", Connections: 1, MessageBytes: 64, Now: clock.New().Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "?http=host:port") {
		t.Errorf("the error %v does not say what to write", err)
	}
}
