package redis

import (
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// pop is a step of a consumer. It takes up to `want` messages, and waits a while for the first one.
//
// A list is a queue: LPUSH at its head. Consumers that acknowledge move messages from its tail to a list of their own (BLMOVE) and remove each after
// its handler has returned (LREM). What a consumer took and did not finish it takes again when it has lost its connection; a process that dies leaves
// it there. The others take messages away (BRPOP), and those they hold are lost with them. LREM goes by value, so an acknowledgement that is sent
// twice or late cannot remove another message; it costs the payload once more.
func (c *consumer) pop(k *socket) error {
	ctx, from := c.s.Over, c.topic.name
	first, more := []any{"BLMOVE", from, c.taken, "RIGHT", "LEFT", blockFor.Seconds()}, []any{"LMOVE", from, c.taken, "RIGHT", "LEFT"}
	if c.acknowledge == broker.Automatic {
		first, more = []any{"BRPOP", from, blockFor.Seconds()}, []any{"RPOP", from}
	}
	commands, err := k.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Do(ctx, first...)
		for range c.want - 1 {
			p.Do(ctx, more...)
		}
		return nil
	})
	atNs := c.s.Now()
	if err != nil && !nothing(err) {
		return err
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
			return err
		}
	}
	if len(list) == c.want {
		c.want = min(2*c.want, c.s.Prefetch)
	} else {
		c.want = 1
	}
	c.take(list, atNs, false)
	return nil
}

// resume takes messages again that were moved on the earlier socket and not removed.
func (c *consumer) resume(k *socket) error {
	left, err := k.client.LRange(c.s.Over, c.taken, 0, -1).Result()
	atNs := c.s.Now()
	list := make([]fetched, 0, len(left))
	for _, payload := range slices.Backward(left) {
		list = append(list, fetched{payload: payload})
	}
	c.take(list, atNs, true)
	return err
}
