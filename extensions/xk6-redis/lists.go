package redis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// A list as a queue: LPUSH at its head. Consumers that acknowledge move messages from its tail to a list of their own (BLMOVE) and remove
// each one from there after its handler has returned (LREM). What a consumer took and did not finish is still there, and it takes
// that again when it has lost its connection; what a process has that dies stays there. The others take messages away (BRPOP), and what they
// hold is lost with them. LREM goes by value and not by position, so that an
// acknowledgement that is sent twice or late cannot remove another message; it costs the payload once more.

// popList consumes a list. Each message goes to one consumer: a list has one group, or one consumer without a group.
func (s *session) popList(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	g, err := s.groupOfList(to)
	if err != nil {
		return err
	}
	c := s.newConsumer(to, handle, g)
	err = s.ask(ctx, func(k *socket) error {
		if err := c.untouched(ctx, k); err != nil {
			return err
		}
		return c.enrol(ctx, k)
	})
	if err != nil {
		return err
	}
	s.consuming.Lock()
	s.members = append(s.members, c)
	s.consuming.Unlock()
	return s.begin(ctx, c, c.pop)
}

// --- internal ---

// groupOfList is the only group of a list; its first member makes it.
func (s *session) groupOfList(to broker.Subscription) (*group, error) {
	s.consuming.Lock()
	defer s.consuming.Unlock()
	g := s.groups[to.Topic]
	switch {
	case g == nil:
		g = &group{name: to.Group}
		s.groups[to.Topic] = g
		return g, nil
	case to.Group == "" || g.name != to.Group:
		return nil, errors.New("a list gives each message to one consumer, so it has one group or one subscription; use mode streams or pubsub")
	}
	return g, nil
}

// membersOf is the set of all consumers of a list.
func membersOf(topic string) string { return topic + ".members" }

// takenBy is the list of what a member has taken and not finished, the oldest at its tail.
func takenBy(topic, member string) string { return topic + ".taken." + member }

func (c *consumer) enrol(ctx context.Context, k *socket) error {
	return k.client.SAdd(ctx, c.enrolled(), c.name).Err()
}

// enrolled is the set with this consumer as a member, taken its list of unfinished messages.
func (c *consumer) enrolled() string { return membersOf(c.s.Named(".", c.topic.name)) }
func (c *consumer) taken() string    { return takenBy(c.s.Named(".", c.topic.name), c.name) }

// pop is a step of a consumer.
func (c *consumer) pop(k *socket, fresh bool) error {
	own := c.taken()
	if fresh {
		if err := c.resume(k, own); err != nil {
			return err
		}
	}
	to := own
	if c.acknowledge == broker.Automatic {
		to = ""
	}
	list, err := c.move(k, to)
	atNs := c.s.Now()
	if err != nil {
		return err
	}
	if len(list) == c.want {
		c.want = min(2*c.want, c.s.Prefetch)
	} else {
		c.want = 1
	}
	c.take(list, atNs, false)
	return nil
}

// move moves messages to another list, or takes them away (""): as many as are wanted, and waits a while for the first one.
func (c *consumer) move(k *socket, to string) ([]fetched, error) {
	ctx, from := c.s.Over, c.topic.name
	first, more := []any{"BLMOVE", from, to, "RIGHT", "LEFT", blockFor.Seconds()}, []any{"LMOVE", from, to, "RIGHT", "LEFT"}
	if to == "" {
		first, more = []any{"BRPOP", from, blockFor.Seconds()}, []any{"RPOP", from}
	}
	commands, err := k.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Do(ctx, first...)
		for range c.want - 1 {
			p.Do(ctx, more...)
		}
		return nil
	})
	if err != nil && !nothing(err) {
		return nil, err
	}
	list := make([]fetched, 0, c.want)
	for _, command := range commands {
		value, err := command.(*redis.Cmd).Result()
		if pair, ok := value.([]any); ok && len(pair) == 2 { // BRPOP: the list's name first
			value = pair[1]
		}
		if err == nil {
			list = append(list, fetched{payload: textOf(value)})
		} else if !nothing(err) {
			return nil, err
		}
	}
	return list, nil
}

// resume takes again what was moved on the previous socket and not removed.
func (c *consumer) resume(k *socket, own string) error {
	if err := c.enrol(c.s.Over, k); err != nil {
		return err
	}
	left, err := k.client.LRange(c.s.Over, own, 0, -1).Result()
	atNs := c.s.Now()
	if err != nil {
		return err
	}
	list := make([]fetched, 0, len(left))
	for i := len(left) - 1; i >= 0; i-- {
		list = append(list, fetched{payload: left[i]})
	}
	c.take(list, atNs, true)
	return nil
}
