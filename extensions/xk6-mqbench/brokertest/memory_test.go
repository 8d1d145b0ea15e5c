package brokertest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// memory is a broker in this process that does everything in the contract: it stores, acknowledges, delivers again. A fault, by name,
// breaks one promise.
type memory struct {
	fault string
	// struck is true once a message has had a fault that strikes only one.
	struck atomic.Bool
	mu     sync.Mutex
	change sync.Cond
	gone   bool
	// down is true while the leader, with this number counted from 0, is gone, and there is no other yet.
	down   bool
	leader int
	// topics by name; in each a queue per group, and one per subscription without a group.
	topics map[string]*memoryTopic
}

type memoryTopic struct {
	queues []*memoryQueue
	// early are the messages sent before there was any queue: the first group gets it.
	early []memoryMessage
	// log has all messages, for subscriptions from the start.
	log []memoryMessage
}

type memoryQueue struct {
	group    string
	members  int
	messages []memoryMessage
	// of is the session of a subscription without a group, and ends with it.
	of *memorySession
}

type memoryMessage struct {
	payload     []byte
	redelivered bool
}

type memorySession struct {
	*memory
	*broker.Base
	topics  []broker.Topic
	dropped atomic.Int64
	members sync.WaitGroup
	sending sync.Mutex
	// pattern is the queue of the first pattern, for the fault that mixes two.
	pattern *memoryQueue
}

type memoryProducer struct{ *memorySession }

// newMemory is without fault, except in a process that fails has started.
func newMemory() *memory {
	m := &memory{fault: os.Getenv(faultEnv), topics: map[string]*memoryTopic{}}
	if m.change.L = &m.mu; m.fault != "" {
		patience = 1500 * time.Millisecond
	}
	return m
}

func (m *memory) driver(o broker.Options) (broker.Session, error) {
	if m.fault != "takes any option" {
		if err := o.Decode(&struct{}{}); err != nil {
			return nil, err
		}
	}
	return &memorySession{memory: m, Base: broker.NewBase("memory", o)}, nil
}

func (m *memory) exists(_ *testing.T, topic string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.topics[topic] != nil
}

// make makes a topic as its user would.
func (m *memory) make(_ *testing.T, topic string, _ int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.topics[topic] = &memoryTopic{}
}

// groups of a run on topics.
func (m *memory) groups(_ *testing.T, run string, topics []string) (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, topic := range topics {
		if t := m.topics[topic]; t != nil {
			for _, q := range t.queues {
				if strings.HasPrefix(q.group, run) {
					names = append(names, q.group)
				}
			}
		}
	}
	return names
}

// strikes reports once whether a fault has its message: the seventh, or the first one after it that meets a leader.
func (m *memory) strikes(fault string, index int64) bool {
	return m.fault == fault && index >= 7 && !m.struck.Swap(true)
}

func (m *memory) die(*testing.T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone = true
	m.change.Broadcast()
}

// kill takes the leader away; after a moment there is another one.
func (m *memory) kill(*testing.T, string) (restart func()) {
	m.mu.Lock()
	m.down = true
	m.mu.Unlock()
	time.AfterFunc(50*time.Millisecond, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.down = false
		m.leader++
	})
	return nil
}

func (s *memorySession) Leader(context.Context, string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return "", errors.New("memory: no leader")
	}
	if s.fault == "names the old leader" {
		return "0", nil
	}
	return strconv.Itoa(s.leader), nil
}

func (s *memorySession) Open(context.Context) error { return nil }

func (s *memorySession) Prepare(_ context.Context, layout broker.Layout) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topics = layout.Topics
	for _, t := range s.topics {
		if s.Found() && s.fault != "makes what is missing" {
			if s.memory.topics[t.Name] == nil {
				return broker.MissingTopic(t.Name, "it is not in memory")
			}
			continue
		}
		if s.memory.topics[t.Name] == nil || s.fault != "keeps old messages" {
			s.memory.topics[t.Name] = &memoryTopic{}
		}
	}
	return nil
}

func (s *memorySession) Remove(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.fault == "removes nothing":
	case s.fault == "removes all":
		clear(s.memory.topics)
	case s.Found() && s.fault != "removes what others share" && s.fault != "removes what was there":
		for _, t := range s.memory.topics {
			t.queues = slices.DeleteFunc(t.queues, func(q *memoryQueue) bool {
				ours := s.Client == 0 && s.Run != "" && strings.HasPrefix(q.group, s.Run) && s.fault != "leaves groups behind"
				return ours || q.of == s
			})
		}
	case s.fault == "removes what was there" && s.Client > 0:
	default:
		for _, t := range s.topics {
			delete(s.memory.topics, t.Name)
		}
	}
	return nil
}

func (s *memorySession) Producer(int) (broker.Producer, error) { return memoryProducer{s}, nil }

func (s *memorySession) Describe() broker.Description {
	settings := map[string]string{}
	for _, name := range broker.EachMessage {
		settings[name] = "none"
	}
	if s.fault == "prints the password" {
		settings["address"] = s.URL
	}
	return broker.Description{
		Acks: true, Order: "per-producer", Wildcards: true, Stores: true, Replays: true, Library: "memory", Server: "memory", Settings: settings,
	}
}

func (s *memorySession) Dropped() int64 { return s.dropped.Load() }

func (s *memorySession) Consume(_ context.Context, to broker.Subscription, handle broker.Handler) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := []string{to.Topic}
	if to.Wildcard {
		prefix := strings.TrimSuffix(to.Topic, "*")
		if s.fault == "takes a pattern for all" {
			prefix = ""
		}
		names = slices.DeleteFunc(slices.Collect(maps.Keys(s.memory.topics)), func(name string) bool {
			return !strings.HasPrefix(name, prefix)
		})
	}
	q := &memoryQueue{of: s}
	if to.Wildcard && s.fault == "mixes what two patterns get" {
		s.pattern = cmp.Or(s.pattern, q)
		q = s.pattern
	}
	if to.Group != "" {
		q = &memoryQueue{group: s.Run + to.Group}
		switch s.fault {
		case "names groups by the client":
			q.group += strconv.Itoa(s.Client)
		case "shares groups among runs":
			q.group = to.Group
		}
	}
	for _, name := range names {
		t := s.memory.topics[name]
		if t == nil {
			return errors.New("memory: no such topic")
		}
		old := slices.IndexFunc(t.queues, func(other *memoryQueue) bool { return q.group != "" && other.group == q.group })
		switch {
		case old >= 0 && s.fault != "gives every member all":
			q = t.queues[old]
		case s.fault == "knows one subscription" && len(t.queues) > 0:
			t.queues[0] = q
		default:
			t.queues = append(t.queues, q)
			if to.FromStart {
				switch s.fault {
				case "replays nothing":
				case "replays what it has twice":
					q.messages = slices.Concat(t.log, t.log)
				default:
					q.messages = slices.Clone(t.log)
				}
			} else if s.fault == "begins at the beginning" {
				q.messages = append(q.messages, t.early...)
			} else if s.Run == "" {
				q.messages, t.early = append(q.messages, t.early...), nil
			}
		}
	}
	q.members++
	s.members.Add(1)
	go s.member(q, handle, q.members)
	if s.fault == "subscribes later" {
		q.members = -1
		time.AfterFunc(20*time.Millisecond, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			q.members = 1
		})
	}
	return nil
}

func (s *memorySession) closed() bool { return s.Over.Err() != nil }

// member takes one message at a time, and gives it back when the session is closed before its handler returned.
func (s *memorySession) member(q *memoryQueue, handle broker.Handler, number int) {
	defer s.members.Done()
	for {
		s.mu.Lock()
		for !s.closed() && !s.gone && (len(q.messages) == 0 || s.fault == "feeds one member" && number > 1) {
			s.change.Wait()
		}
		if s.closed() || s.gone {
			q.members--
			s.mu.Unlock()
			return
		}
		if s.fault == "swaps two" && len(q.messages) > 1 && q.messages[0].payload[23] == 100 {
			q.messages[0], q.messages[1] = q.messages[1], q.messages[0]
		}
		m := q.messages[0]
		q.messages = q.messages[1:]
		s.mu.Unlock()
		if s.fault == "waits for a batch" {
			time.Sleep(8 * time.Millisecond)
		}
		received := s.Now()
		if s.fault == "stamps with another clock" {
			received = time.Now().UnixNano()
		}
		handled := make(chan struct{})
		go func() {
			defer close(handled)
			if s.fault == "sends while it handles" {
				s.sending.Lock()
				defer s.sending.Unlock()
			}
			handle(broker.Delivery{ReceivedNs: received, Payload: m.payload, Redelivered: m.redelivered})
		}()
		over := s.Over.Done()
		if s.fault == "waits for handlers" {
			over = nil
		}
		select {
		case <-handled:
		case <-over:
			s.mu.Lock()
			defer s.mu.Unlock()
			m.redelivered = s.fault != "does not flag"
			if s.fault != "forgets what a member took" {
				q.messages = slices.Insert(q.messages, 0, m)
			}
			s.change.Broadcast()
			q.members--
			return
		}
		if s.fault == "delivers twice" && m.payload[23]%3 == 2 {
			handle(broker.Delivery{ReceivedNs: received, Payload: m.payload})
		}
	}
}

func (p memoryProducer) Send(m *broker.Message, done broker.Done) {
	s := p.memorySession
	if s.fault == "sends while it handles" {
		s.sending.Lock()
		defer s.sending.Unlock()
	}
	s.mu.Lock()
	if s.closed() || s.gone {
		s.mu.Unlock()
		if s.fault != "never says that it failed" {
			done(m, 0, errors.New("memory: send: closed"))
		}
		return
	}
	if s.down {
		s.mu.Unlock()
		switch s.fault {
		case "leaves a send open":
			return
		case "holds up a send":
			<-make(chan struct{})
		}
		done(m, 0, errors.New("memory: send: no leader"))
		return
	}
	s.store(m)
	s.mu.Unlock()
	if s.strikes("says failed of what it stored", m.Index) {
		done(m, 0, errors.New("memory: send: failed"))
		return
	}
	ackNs := s.Now()
	switch s.fault {
	case "acknowledges in the past":
		ackNs = 1
	case "calls done twice":
		done(m, ackNs, nil)
	case "never calls done":
		return
	}
	done(m, ackNs, nil)
}

func (s *memorySession) store(m *broker.Message) {
	t := s.memory.topics[m.Name]
	if s.fault == "mixes topics" {
		t = s.memory.topics[s.topics[0].Name]
	}
	if t == nil {
		return
	}
	payload := bytes.Clone(m.Payload)
	switch {
	case s.strikes("loses one", m.Index):
		return
	case s.strikes("changes a byte", m.Index):
		payload[50]++
	case s.fault == "cuts what is large" && len(payload) > 1<<16:
		payload = payload[:1<<16]
	case s.fault == "loses a partition" && m.Partition == 2:
		return
	case s.fault == "loses keys" && len(m.Key) > 0:
		return
	}
	stored := memoryMessage{payload: payload}
	t.log = append(t.log, stored)
	if len(t.queues) == 0 {
		t.early = append(t.early, stored)
	}
	for _, q := range t.queues {
		if s.fault == "drops above 1000" && len(q.messages) >= 1000 {
			continue
		}
		if s.fault == "drops above 1000, and says so" && len(q.messages) >= 1000 {
			s.dropped.Add(1)
			continue
		}
		if q.members < 0 || s.fault == "keeps nothing for a group" && q.members == 0 {
			continue
		}
		q.messages = append(q.messages, stored)
	}
	s.change.Broadcast()
}

func (s *memorySession) Close() error {
	s.mu.Lock()
	s.End()
	s.change.Broadcast()
	s.mu.Unlock()
	s.members.Wait()
	return nil
}
