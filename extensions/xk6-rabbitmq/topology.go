package rabbitmq

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// unusedAfter: the broker removes a queue on an exchange of the user's own that nobody has consumed for that long.
const unusedAfter = 5 * time.Minute

// topology is what a session has declared on the broker: exchanges, queues and bindings. It is complete before the run starts, and
// declared again after a lost connection.
type topology struct {
	*broker.Part
	chosen choices
	// to is where messages are published to.
	to atomic.Pointer[exchange]

	mu     sync.Mutex
	topics []string
	prefix string
	queues []*queue
	// groups has, by topic, the group that uses the queue of the topic's own name.
	groups map[string]string
	shared map[string]*queue
	// queueOf says which of the user's own topics are queues; the others are exchanges.
	queueOf map[string]bool
}

// exchange of one kind. A fanout exchange has no name here: each topic has its own.
type exchange struct {
	kind, name string
}

// queue and the topic, or the pattern over topics, whose messages it gets.
type queue struct {
	// label is the queue's name. An exclusive queue's name ends in a random part for each connection.
	label     string
	topic     string
	exclusive bool
	// stored: nobody consumes it yet.
	stored bool
	// given: it existed before the run, and stays; readers is how many consumers it has here.
	given   bool
	readers int
	// group that shares it; "": it belongs to one subscription.
	group string
	// on is the connection that an exclusive queue belongs to.
	on *link
}

func newTopology(c choices, part *broker.Part) *topology {
	return &topology{chosen: c, Part: part, groups: map[string]string{}, shared: map[string]*queue{}, queueOf: map[string]bool{}}
}

// name sets the topics, and the exchange's name to what they have in common: mqbench.run.1.0 gives mqbench.run.1.
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

// given records a topic of the user's own.
func (t *topology) given(topic string, queue bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.topics = append(t.topics, topic)
	t.queueOf[topic] = queue
	t.to.Store(&exchange{})
}

// isQueue reports whether the topic is a queue of the user's own.
func (t *topology) isQueue(topic string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.queueOf[topic]
}

// readers is how many consumers the user's queue has in this session.
func (t *topology) readers(topic string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.shared[topic]; q != nil {
		return q.readers
	}
	return 0
}

func (t *topology) kind() string { return t.to.Load().kind }

// route is where a message of the topic goes.
func (t *topology) route(topic string) (exchange, key string) {
	to := t.to.Load()
	if t.Run != "" && t.queueOf[topic] {
		return "", topic
	}
	if t.Run != "" {
		return topic, topic
	}
	if to.kind == fanout {
		return topic, ""
	}
	return to.name, topic
}

// subscribe returns the queue of a subscription.
func (t *topology) subscribe(to broker.Subscription, on *link) *queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queueOf[to.Topic] {
		q := t.share(to.Topic, to.Topic)
		q.given, q.stored = true, false
		q.readers++
		return q
	}
	if to.Group == "" {
		q := &queue{topic: to.Topic, exclusive: t.chosen.queue == transient, on: on}
		q.label = t.named(to.Topic) + ":" + rand.Text()[:8]
		t.queues = append(t.queues, q)
		return q
	}
	if t.Run != "" {
		q := t.share(t.named(to.Topic)+":"+to.Group, to.Topic)
		q.group = to.Group
		return q
	}
	label := to.Topic
	if first, taken := t.groups[to.Topic]; !taken {
		t.groups[to.Topic] = to.Group
	} else if first != to.Group {
		label += ":" + to.Group
	}
	q := t.share(label, to.Topic)
	q.stored, q.group = false, to.Group
	return q
}

// unstore removes the queues of unread that cover a topic, or a pattern, which is now read otherwise.
func (t *topology) unstore(topic string) []*queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	var gone []*queue
	for _, q := range t.queues {
		if q.stored && broker.Matches(topic, q.topic) {
			gone = append(gone, q)
			delete(t.shared, q.label)
		}
	}
	t.queues = slices.DeleteFunc(t.queues, func(q *queue) bool { return slices.Contains(gone, q) })
	return gone
}

// unread makes queues for topics without subscriptions. If this client of several has subscriptions, others read the topics that it leaves
// out.
func (t *topology) unread() []*queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Found() || t.Clients > 1 && len(t.queues) > 0 {
		return nil
	}
	var made []*queue
	for _, topic := range t.topics {
		read := false
		for _, q := range t.queues {
			read = read || broker.Matches(q.topic, topic)
		}
		if !read {
			q := t.share(topic, topic)
			q.stored = true
			made = append(made, q)
		}
	}
	return made
}

// allowPatterns changes to a topic exchange, if the user did not choose the kind, and returns the queues to bind to it.
func (t *topology) allowPatterns() ([]*queue, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.Run != "":
		return nil, errors.New("a subscription to topics of your own cannot be a pattern")
	case t.kind() == pattern:
		return nil, nil
	case t.chosen.exchange != "":
		return nil, fmt.Errorf("a %s exchange has no patterns; use exchange: topic", t.chosen.exchange)
	}
	t.to.Store(t.exchangeOf(pattern))
	return slices.Clone(t.queues), nil
}

// all returns the queues that a connection needs: the shared ones and its own exclusive ones.
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

func (t *topology) declareQueue(on *channel, q *queue) error {
	if q.given {
		return nil
	}
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
	if t.Run != "" && !q.exclusive {
		// The exchange stays, and would fill the queue for ever if nobody were left to remove it.
		args[amqp.QueueTTLArg] = unusedAfter.Milliseconds()
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

// made is everything that does not vanish with its connection: this session's own queues and, for client 0, what clients share.
func (t *topology) made() (queues, exchanges []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := map[string]bool{}
	groups := map[string]bool{}
	for _, q := range t.queues {
		if q.group != "" {
			groups[q.group] = true
		}
		if shared := q.group != "" || q.stored; !q.exclusive && !q.given && (!shared || t.Client == 0) {
			names[q.label] = true
		}
	}
	// A group may have members on other clients only.
	if t.Client == 0 && t.Clients > 1 {
		for _, topic := range t.topics {
			for group := range groups {
				switch {
				case t.Run == "":
					names[topic] = true
				case !t.queueOf[topic]:
					names[t.named(topic)+":"+group] = true
				}
			}
		}
	}
	queues = slices.Sorted(maps.Keys(names))
	if t.Found() {
		return queues, nil
	}
	exchanges = t.exchanges()
	if t.chosen.exchange == "" && t.kind() == pattern {
		exchanges = append(exchanges, t.exchangeOf(direct).name)
	}
	return queues, exchanges
}

// --- internal ---

func (t *topology) durable() bool { return t.chosen.queue != transient }

func (t *topology) exchangeOf(kind string) *exchange {
	return &exchange{kind: kind, name: t.prefix + ":" + kind}
}

// named is the beginning of the names of queues for a topic.
func (t *topology) named(topic string) string { return t.Named(":", topic) }

// exchanges are the names of this run's exchanges that messages are published to.
func (t *topology) exchanges() []string {
	if t.Run != "" {
		return nil
	}
	if t.kind() == fanout {
		return t.topics
	}
	return []string{t.to.Load().name}
}

// share returns the queue of that name, which any connection may consume. The caller holds mu.
func (t *topology) share(label, topic string) *queue {
	q := t.shared[label]
	if q == nil {
		q = &queue{label: label, topic: topic}
		t.shared[label] = q
		t.queues = append(t.queues, q)
	}
	return q
}
