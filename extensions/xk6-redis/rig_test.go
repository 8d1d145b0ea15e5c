package redis

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// server is a redis-server (or its like) for one test.
type server struct {
	*brokertest.Server
	port int
	// bus is the port for other nodes of a cluster.
	bus string
}

// startServer starts `program` with settings as it takes them on its command line: "--appendonly", "yes".
func startServer(t testing.TB, program string, args ...string) *server {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("CI") == "true" && program == "redis-server" {
			t.Fatalf("%s is not on PATH", program)
		}
		t.Skipf("%s is not on PATH: install it to run this test", program)
	}
	port := brokertest.FreePort(t)
	argv := []string{path, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--appendonly", "no"}
	return &server{brokertest.StartServer(t, "Ready to accept connections", append(argv, args...)...), port, ""}
}

func (s *server) address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }
func (s *server) url() string     { return "redis://" + s.address() }

func (s *server) client(t *testing.T) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: s.address()})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// at is a server with options of the driver.
func (s *server) at(driver string) broker.Options {
	return broker.Options{URL: s.url(), Driver: json.RawMessage(driver)}
}

// traffic is the messages through a mode, to a member of the group if there is one.
func (s *server) traffic(t *testing.T, mode, group string) *brokertest.Traffic {
	t.Helper()
	return system(s, mode, clientLink).Traffic(t, group)
}

// opened is a session of one connection, until the test is over, and the error of Open or else Prepare with that topic.
func opened(t testing.TB, o broker.Options, topic string, to ...broker.Subscription) (*session, error) {
	t.Helper()
	o.Connections, o.Now = 1, clock.New().Now
	o.MessageBytes = max(64, o.MessageBytes)
	made, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Close() })
	if err = made.Open(t.Context()); err == nil {
		err = made.Prepare(t.Context(), broker.Layout{Topics: []broker.Topic{{Name: topic, Partitions: 1}}, Subscriptions: to})
	}
	return made.(*session), err
}

// rig is a session on one topic with its traffic, for tests that look inside.
type rig struct {
	t         *testing.T
	session   *session
	consumers []broker.Subscription
	sent      int64

	mu       sync.Mutex
	errors   []string
	received map[int64]int
	outcomes []error
}

// newRig opens a session with consumers of the topic, and of patterns.
func newRig(t *testing.T, o broker.Options, topic string, consumers ...broker.Subscription) *rig {
	t.Helper()
	for i := range consumers {
		consumers[i].Topic = cmp.Or(consumers[i].Topic, topic)
	}
	r := &rig{t: t, consumers: consumers, received: map[int64]int{}}
	o.OnError = func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.errors = append(r.errors, err.Error())
	}
	var err error
	if r.session, err = opened(t, o, topic, consumers...); err != nil {
		t.Fatal(err)
	}
	return r
}

// consume makes the consumers and counts their deliveries; before may be nil.
func (r *rig) consume(before func(broker.Delivery)) {
	r.t.Helper()
	for _, to := range r.consumers {
		err := r.session.Consume(r.t.Context(), to, func(d broker.Delivery) {
			if before != nil {
				before(d)
			}
			var i int64
			_, _ = fmt.Sscan(string(d.Payload), &i)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.received[i]++
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// send sends the next n messages, counted from 0, with this number of bytes, or more if the number needs them.
func (r *rig) send(n, bytes int) {
	for range n {
		payload := fmt.Appendf(nil, "%d ", r.sent)
		payload = append(payload, make([]byte, max(0, bytes-len(payload)))...)
		r.session.lines[0][0].Send(&broker.Message{Index: r.sent, Payload: payload}, func(_ *broker.Message, _ int64, err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.outcomes = append(r.outcomes, err)
		})
		r.sent++
	}
}

// answered waits until all sends have ended, and wants them acknowledged.
func (r *rig) answered() {
	r.t.Helper()
	r.eventually("all are answered", func() bool { return len(r.outcomes) == int(r.sent) })
	if err := errors.Join(r.outcomes...); err != nil {
		r.t.Error(err)
	}
}

// eventually waits until something holds for the rig's records.
func (r *rig) eventually(what string, holds func() bool) {
	r.t.Helper()
	brokertest.Eventually(r.t, what, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return holds()
	})
}

func (r *rig) reported(words string) bool {
	return slices.ContainsFunc(r.errors, func(err string) bool { return strings.Contains(err, words) })
}
