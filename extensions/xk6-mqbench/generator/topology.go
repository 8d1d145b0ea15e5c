package generator

import (
	"fmt"
	"strings"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Groups by which members share messages.
const (
	workersGroup    = "workers"
	respondersGroup = "responders"
)

// pair is one subscription of a group: a member on a topic.
type pair struct{ member, topic int }

// pairs gives every member and every topic at least one subscription: number k is member k mod M on topic k mod T.
func (p *Plan) pairs() []pair {
	members, topics := p.Consumers, len(p.Topics)
	pairs := make([]pair, max(members, topics))
	for k := range pairs {
		pairs[k] = pair{member: k % members, topic: k % topics}
	}
	return pairs
}

// membersOn is how many subscriptions a group has on a topic.
func membersOn(topic int, pairs []pair) int {
	n := 0
	for _, pair := range pairs {
		if pair.topic == topic {
			n++
		}
	}
	return n
}

// shared reports whether several members of a group are on one topic.
func (p *Plan) shared() bool { return p.grouped() && p.Consumers > len(p.Topics) }

// showsOrder reports whether one process receives what a producer sends to a stream, in an order that says something about the system.
func (p *Plan) showsOrder(groupOrder bool) bool {
	return p.receives() && p.orderFits() && (!p.shared() || groupOrder) && !(p.grouped() && p.crosses())
}

// allTopics are the plan's topics, those of replies and those of bystanders, in the order of broker.Message.Topic.
func (p *Plan) allTopics() []broker.Topic {
	var topics []broker.Topic
	for _, name := range p.Topics {
		topics = append(topics, broker.Topic{Name: name, Partitions: p.Partitions})
	}
	for _, name := range p.ReplyTopics {
		topics = append(topics, broker.Topic{Name: name, Partitions: p.Partitions})
	}
	for n := range p.Bystanders {
		topics = append(topics, broker.Topic{Name: p.bystander(n), Partitions: 1})
	}
	return topics
}

// bystander is the name of a topic to which nothing is sent.
func (p *Plan) bystander(n int) string {
	prefix := p.Topics[0][:strings.LastIndexByte(p.Topics[0], '.')+1]
	return fmt.Sprintf("%sbystander%d", prefix, n)
}

// SetUpTimeout limits connecting, making topics and subscribing: 30 s, and more for each thing that is made (setUpMs in
// runner/model/plan.ts).
func (p *Plan) SetUpTimeout() time.Duration {
	return 30*time.Second + time.Duration(p.made())*100*time.Millisecond
}

// leaveTimeout limits removing what was made on the broker and closing the connections.
func (p *Plan) leaveTimeout() time.Duration {
	return 5*time.Second + time.Duration(p.made())*10*time.Millisecond
}

// made is how many connections, partitions and subscriptions a run has at most.
func (p *Plan) made() int {
	partitions := 0
	for _, t := range p.allTopics() {
		partitions += t.Partitions
	}
	subscriptions := max(p.Consumers, len(p.Topics)) + len(p.ReplyTopics) + p.Subscriptions*len(p.Topics) + p.Bystanders
	return p.Connections + p.ConsumerConnections + partitions + subscriptions
}

// perConnection is the largest number of producers on one connection.
func (p *Plan) perConnection() int { return (p.Producers + p.Connections - 1) / p.Connections }
