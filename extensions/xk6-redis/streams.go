package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// start is at a stream's current end (XREAD), or joins a group (XREADGROUP).
func (c *consumer) start(ctx context.Context) error {
	if c.group != "" {
		return c.join(ctx, c.topic.shard.admin)
	}
	if c.fromStart {
		c.last = "0"
		return nil
	}
	// Its messages are all after the last entry, whether they come before or after its first XREAD. ("$" would skip messages in between.)
	info := c.topic.shard.admin.XInfoStream(ctx, c.topic.name)
	c.last = info.Val().LastGeneratedID
	return info.Err()
}

// join makes the group unless it exists: from the stream's beginning, or from the end of a user's stream, which it does not make.
func (c *consumer) join(ctx context.Context, on *redis.Client) error {
	create, from := on.XGroupCreateMkStream, "0"
	if c.s.Run != "" {
		create, from = on.XGroupCreate, "$"
	}
	if err := create(ctx, c.topic.name, c.group, from).Err(); !redis.HasErrorPrefix(err, "BUSYGROUP") {
		return err
	}
	return nil
}

func (c *consumer) readNext(k *socket) error {
	after := c.last
	if c.group != "" {
		if err := c.claim(k); err != nil {
			return err
		}
		c.settle(false)
		after = ">"
	}
	list, atNs, err := c.read(k, after)
	if len(list) > 0 {
		c.last = list[len(list)-1].id
	}
	c.take(list, atNs, false)
	return err
}

// recover takes messages again that were delivered to a member on the socket before and not acknowledged.
func (c *consumer) recover(k *socket) error {
	if c.group == "" {
		return nil
	}
	if err := c.join(c.s.Over, k.client); err != nil {
		return err
	}
	for after := "0"; ; {
		list, atNs, err := c.read(k, after)
		if err != nil || len(list) == 0 {
			return err
		}
		after = list[len(list)-1].id
		c.take(list, atNs, true)
	}
}

// read asks for entries: new ones (">"), those after an id, or in a group the member's after an id.
func (c *consumer) read(k *socket, after string) (list []fetched, atNs int64, err error) {
	args, block := []any{"XREAD"}, blockFor
	if c.group != "" {
		args = []any{"XREADGROUP", "GROUP", c.group, c.name}
	}
	if c.acknowledge == broker.PerInterval {
		block = broker.AcknowledgeInterval
	}
	args = append(args, "COUNT", c.s.Prefetch, "BLOCK", block.Milliseconds())
	if c.group != "" && c.acknowledge == broker.Automatic {
		args = append(args, "NOACK")
	}
	reply, err := k.client.Do(c.s.Over, append(args, "STREAMS", c.topic.name, after)...).Result()
	atNs = c.s.Now()
	if err != nil {
		return nil, 0, err
	}
	// [[key, entries]]
	if streams, _ := reply.([]any); len(streams) > 0 {
		if stream, _ := streams[0].([]any); len(stream) > 1 {
			list = entriesOf(stream[1])
		}
	}
	return list, atNs, nil
}

// claim takes over messages that no member has acknowledged for that long, a few at a time.
func (c *consumer) claim(k *socket) error {
	nowNs := c.s.Now()
	if nowNs < c.claimNs {
		return nil
	}
	c.claimNs = nowNs + c.s.ClaimAfterNs/3
	c.settle(true) // its own would be among them
	idle := c.s.ClaimAfterNs / int64(time.Millisecond)
	reply, err := k.client.Do(c.s.Over, "XAUTOCLAIM", c.topic.name, c.group, c.name, idle, "0", "COUNT", c.s.Prefetch).Result()
	atNs := c.s.Now()
	// [where to go on, entries, ...]
	if answer, _ := reply.([]any); len(answer) > 1 {
		c.take(entriesOf(answer[1]), atNs, true)
	}
	return err
}

// entriesOf reads entries: [[id, [field, value, ...]], ...]. An entry that was removed in the meantime is nil (Redis 6.2) or has no fields,
// and is skipped; one that another program added has other fields, and gets an empty payload here.
func entriesOf(reply any) []fetched {
	entries, _ := reply.([]any)
	list := make([]fetched, 0, len(entries))
	for _, one := range entries {
		pair, _ := one.([]any)
		if len(pair) < 2 {
			continue
		}
		fields, _ := pair[1].([]any)
		if len(fields) == 0 {
			continue
		}
		list = append(list, fetched{id: textOf(pair[0])})
		for i := 0; i+1 < len(fields); i += 2 {
			if textOf(fields[i]) == "p" {
				list[len(list)-1].payload = textOf(fields[i+1])
			}
		}
	}
	return list
}
