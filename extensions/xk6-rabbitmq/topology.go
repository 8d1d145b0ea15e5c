package rabbitmq

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// topology is what a session has declared on the broker: exchanges, queues and what binds them. It is complete before
// the run starts; after a lost connection it is declared anew.
type topology struct {
	chosen choices
	// to is where messages are published.
	to atomic.Pointer[exchange]

	mu     sync.Mutex
	topics []string
	prefix string
	queues []*queue
	// groups is, by topic, the group that has the queue of the topic's own name.
	groups map[string]string
	shared map[string]*queue
}

// exchange of one kind; a fanout one has no name here: each topic has its own.
type exchange struct {
	kind, name string
}

// queue and the topic, or the pattern over topics, that it gets the messages of.
type queue struct {
	// label is the queue's name; that of an exclusive one has a random end for each connection.
	label     string
	topic     string
	exclusive bool
	// stored: nobody consumes it yet.
	stored bool
	// on is the connection that an exclusive queue belongs to.
	on *link
}

func newTopology(c choices) *topology {
	return &topology{chosen: c, groups: map[string]string{}, shared: map[string]*queue{}}
}

// name fixes the topics, and the exchange's name by what they have in common: mqbench.run.1.0 gives mqbench.run.1.
func (t *topology) name(topics []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.topics = topics
	if len(topics) > 0 {
		t.prefix = topics[0]
		if dot := strings.LastIndexByte(t.prefix, '.'); dot > 0 {
			t.prefix = t.prefix[:dot]
		}
	}
	kind := t.chosen.exchange
	if kind == "" {
		kind = direct
	}
	t.to.Store(t.exchangeOf(kind))
}

func (t *topology) kind() string { return t.to.Load().kind }

// route is where a message of the topic goes.
func (t *topology) route(topic string) (exchange, key string) {
	to := t.to.Load()
	if to.kind == fanout {
		return topic, ""
	}
	return to.name, topic
}

// subscribe gives the queue of a subscription.
func (t *topology) subscribe(to broker.Subscription, on *link) *queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	if to.Group == "" {
		q := &queue{topic: to.Topic, exclusive: t.chosen.queue == transient, on: on}
		q.label = to.Topic + ":" + random()
		t.queues = append(t.queues, q)
		return q
	}
	label := to.Topic
	if first, taken := t.groups[to.Topic]; !taken {
		t.groups[to.Topic] = to.Group
	} else if first != to.Group {
		label += ":" + to.Group
	}
	q := t.share(label, to.Topic)
	q.stored = false
	return q
}

// unstore takes away the queues of unread that cover a topic, or a pattern, which now is read otherwise.
func (t *topology) unstore(topic string) []*queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	var gone []*queue
	for _, q := range t.queues {
		if q.stored && matches(topic, q.topic) {
			gone = append(gone, q)
			delete(t.shared, q.label)
		}
	}
	t.queues = slices.DeleteFunc(t.queues, func(q *queue) bool { return slices.Contains(gone, q) })
	return gone
}

// unread makes queues for the topics that nobody subscribes to.
func (t *topology) unread() []*queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	var made []*queue
	for _, topic := range t.topics {
		read := false
		for _, q := range t.queues {
			read = read || matches(q.topic, topic)
		}
		if !read {
			q := t.share(topic, topic)
			q.stored = true
			made = append(made, q)
		}
	}
	return made
}

// allowPatterns changes to a topic exchange, if the kind was left to us, and gives the queues that have to be bound to it.
func (t *topology) allowPatterns() ([]*queue, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.kind() == pattern:
		return nil, nil
	case t.chosen.exchange != "":
		return nil, fmt.Errorf("a %s exchange has no patterns; use exchange: topic", t.chosen.exchange)
	}
	t.to.Store(t.exchangeOf(pattern))
	return slices.Clone(t.queues), nil
}

// all gives the queues that a connection has to have: the shared ones, and those that are exclusively its own.
func (t *topology) all(on *link) []*queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []*queue
	for _, q := range t.queues {
		if !q.exclusive || q.on == on {
			list = append(list, q)
		}
	}
	return list
}

func (t *topology) declareExchanges(on *channel) error {
	for _, name := range t.exchanges() {
		if err := on.ExchangeDeclare(name, t.kind(), t.durable(), false, false, false, nil); err != nil {
			return fmt.Errorf("declare exchange %q: %w", name, err)
		}
	}
	return nil
}

func (t *topology) declareQueues(on *channel, queues []*queue) error {
	for _, q := range queues {
		if err := t.declareQueue(on, q); err != nil {
			return err
		}
	}
	return nil
}

func (t *topology) declareQueue(on *channel, q *queue) error {
	args := amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeClassic}
	if t.chosen.version > 0 {
		args[amqp.QueueVersionArg] = t.chosen.version
	}
	if t.chosen.queue == quorum {
		args[amqp.QueueTypeArg] = amqp.QueueTypeQuorum
		if t.chosen.replicas > 0 {
			args["x-quorum-initial-group-size"] = t.chosen.replicas
		}
	}
	if _, err := on.QueueDeclare(q.label, t.durable(), false, q.exclusive, false, args); err != nil {
		return fmt.Errorf("declare queue %q: %w", q.label, err)
	}
	return t.bind(on, q)
}

func (t *topology) bind(on *channel, q *queue) error {
	name, key := t.route(q.topic)
	if err := on.QueueBind(q.label, key, name, false, nil); err != nil {
		return fmt.Errorf("bind queue %q: %w", q.label, err)
	}
	return nil
}

// delete removes all that does not vanish with its connection.
func (t *topology) delete(on *channel) error {
	t.mu.Lock()
	queues := slices.Clone(t.queues)
	t.mu.Unlock()
	var failed []error
	for _, q := range queues {
		if !q.exclusive {
			failed = append(failed, on.deleteQueue(q.label))
		}
	}
	names := t.exchanges()
	if t.chosen.exchange == "" && t.kind() == pattern {
		names = append(names, t.exchangeOf(direct).name)
	}
	for _, name := range names {
		if err := on.ExchangeDelete(name, false, false); err != nil {
			failed = append(failed, fmt.Errorf("delete exchange %q: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

// --- internal ---

func (t *topology) durable() bool { return t.chosen.queue != transient }

func (t *topology) exchangeOf(kind string) *exchange {
	return &exchange{kind: kind, name: t.prefix + ":" + kind}
}

// exchanges are the names of those that messages are published to.
func (t *topology) exchanges() []string {
	if t.kind() == fanout {
		return t.topics
	}
	return []string{t.to.Load().name}
}

// share gives the queue of that name, which any connection may consume. mu is held.
func (t *topology) share(label, topic string) *queue {
	q := t.shared[label]
	if q == nil {
		q = &queue{label: label, topic: topic}
		t.shared[label] = q
		t.queues = append(t.queues, q)
	}
	return q
}

// matches reports whether a topic falls under a pattern, in which "*" stands for one word between dots.
func matches(over, topic string) bool {
	a, b := strings.Split(over, "."), strings.Split(topic, ".")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != "*" && a[i] != b[i] {
			return false
		}
	}
	return true
}

func random() string {
	var bytes [4]byte
	_, _ = rand.Read(bytes[:])
	return hex.EncodeToString(bytes[:])
}
