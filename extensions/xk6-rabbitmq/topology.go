package rabbitmq

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// unusedAfter is how long a queue on a user's exchange may have no consumer before the broker removes it.
const unusedAfter = 5 * time.Minute

// topology is the objects that the clients of a run share on the broker: exchanges, queues and bindings. Each client declares all of it,
// and again after a lost connection, because a restarted broker has forgotten transient objects.
type topology struct {
	*session
	// exchange that topics are published to, or "" if each has its own. kind is the kind of all exchanges.
	exchange, kind string
	// exchanges of this run.
	exchanges []string
	// isQueue is which of the user's topics are queues; the others are exchanges.
	isQueue map[string]bool
	// queues are the queues of groups, and of topics without a reader, with their topics.
	queues map[string]string
	// groups has, by topic, the group that uses the queue named like the topic.
	groups map[string]string
}

func (s *session) lay(layout broker.Layout, isQueue map[string]bool) *topology {
	t := &topology{session: s, kind: cmp.Or(s.Exchange, direct), isQueue: isQueue, queues: map[string]string{}, groups: map[string]string{}}
	for _, to := range layout.Subscriptions {
		if to.Wildcard {
			t.kind = pattern
		}
	}
	names := layout.Names()
	switch {
	case s.Run != "":
	case t.kind == fanout:
		t.exchanges = names
	case len(names) > 0:
		// The common part of the topics: mqbench.run.1.0 gives mqbench.run.1.
		t.exchange = names[0][:max(0, strings.LastIndexByte(names[0], '.'))] + ":" + t.kind
		t.exchanges = []string{t.exchange}
	}
	for _, to := range layout.Subscriptions {
		if _, taken := t.groups[to.Topic]; !taken && to.Group != "" {
			t.groups[to.Topic] = to.Group
		}
		if to.Group != "" && !isQueue[to.Topic] {
			t.queues[t.queueOf(to)] = to.Topic
		}
	}
	for _, name := range names {
		reads := func(to broker.Subscription) bool { return broker.Matches(to.Topic, name) }
		if s.Run == "" && !slices.ContainsFunc(layout.Subscriptions, reads) {
			t.queues[name] = name
		}
	}
	return t
}

// queueOf is the queue of a group, or the user's queue.
func (t *topology) queueOf(to broker.Subscription) string {
	switch {
	case t.isQueue[to.Topic]:
		return to.Topic
	case t.Run != "":
		return t.Named(":", to.Topic) + ":" + to.Group
	case t.groups[to.Topic] == to.Group:
		return to.Topic
	}
	return to.Topic + ":" + to.Group
}

// nameOwn is a name for a subscription's own queue. An exclusive one, which belongs to its connection, gets another name on each.
func (t *topology) nameOwn(topic string) string { return t.Named(":", topic) + ":" + rand.Text()[:8] }

func (t *topology) route(topic string) (exchange, key string) {
	switch {
	case t.isQueue[topic]:
		return "", topic
	case t.kind == fanout && t.Run == "":
		return topic, ""
	}
	return cmp.Or(t.exchange, topic), topic
}

func (t *topology) declare(ctx context.Context, w *wire) error {
	err := w.declare(ctx, t.exchanges, func(on *amqp.Channel, name string) error {
		return broker.Wrap(fmt.Sprintf("declare exchange %q", name), on.ExchangeDeclare(name, t.kind, t.durable(), false, false, false, nil))
	})
	if err != nil {
		return err
	}
	return w.declare(ctx, slices.Collect(maps.Keys(t.queues)), func(on *amqp.Channel, name string) error {
		return t.declareQueue(on, name, t.queues[name], false)
	})
}

// declareQueue makes a queue, and binds it to its topic, or to a pattern over topics.
func (t *topology) declareQueue(on *amqp.Channel, name, topic string, exclusive bool) error {
	args := amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeClassic}
	if t.version > 0 {
		args[amqp.QueueVersionArg] = t.version
	}
	if t.Queue == quorum {
		args[amqp.QueueTypeArg] = amqp.QueueTypeQuorum
		if t.Replicas > 0 {
			args["x-quorum-initial-group-size"] = t.Replicas
		}
	}
	if t.Run != "" && !exclusive {
		// The exchange stays, and would fill the queue for ever if it were not removed.
		args[amqp.QueueTTLArg] = unusedAfter.Milliseconds()
	}
	if _, err := on.QueueDeclare(name, t.durable(), false, exclusive, false, args); err != nil {
		return fmt.Errorf("declare queue %q: %w", name, err)
	}
	exchange, key := t.route(topic)
	return broker.Wrap(fmt.Sprintf("bind queue %q", name), on.QueueBind(name, key, exchange, false, nil))
}

func (s *session) durable() bool { return s.Queue != transient }
