package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// rig is a session on one topic, what was received on it, and what became of the sends.
type rig struct {
	t       *testing.T
	session *session

	mu       sync.Mutex
	errors   []string
	received map[int64]int
	outcomes map[int64]error
}

const patience = 20 * time.Second

// newRig opens a session on a topic. change may be nil.
func newRig(t *testing.T, url, options, topic string, change func(*broker.Options, *session)) *rig {
	t.Helper()
	r := &rig{t: t, received: map[int64]int{}, outcomes: map[int64]error{}}
	o := broker.Options{
		URL: url, Driver: json.RawMessage(options), Connections: 1, MessageBytes: 64, Now: clock.New().Now,
		OnError: func(err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.errors = append(r.errors, err.Error())
		},
	}
	if change != nil {
		change(&o, nil)
	}
	made, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.session = made.(*session)
	if change != nil {
		change(&o, r.session)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.session.Open(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.session.Close() })
	if err := r.session.Prepare(ctx, broker.Layout{Topics: []broker.Topic{{Name: topic, Partitions: 1}}}); err != nil {
		t.Fatal(err)
	}
	return r
}

// consume counts what arrives; before may be nil.
func (r *rig) consume(to broker.Subscription, before func()) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := r.session.Consume(ctx, to, func(d broker.Delivery) {
		if before != nil {
			before()
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

// send sends message i, with `bytes` bytes or as few as it takes.
func (r *rig) send(i int64, bytes int) {
	payload := fmt.Appendf(nil, "%d ", i)
	payload = append(payload, make([]byte, max(0, bytes-len(payload)))...)
	p := &producer{line: r.session.lines[0]}
	m := &broker.Message{Name: r.session.topics[0].name, Index: i, Payload: payload}
	p.Send(m, func(m *broker.Message, _ int64, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.outcomes[m.Index] = err
	})
}

// done is how many sends were completed: well, and with an error.
func (r *rig) done() (well, failed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range r.outcomes {
		if err == nil {
			well++
		} else {
			failed++
		}
	}
	return well, failed
}

func (r *rig) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.received)
}

func (r *rig) reported(words string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range r.errors {
		if strings.Contains(err, words) {
			return true
		}
	}
	return false
}

func (r *rig) eventually(what string, holds func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.t.Fatalf("not within %s: %s (errors: %q)", patience, what, r.errors)
		}
	}
}

func (r *rig) within(what string, do func()) {
	r.t.Helper()
	returned := make(chan struct{})
	go func() { defer close(returned); do() }()
	select {
	case <-returned:
	case <-time.After(patience):
		r.t.Fatalf("%s hangs", what)
	}
}
