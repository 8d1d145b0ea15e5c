package redis

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// readStream reads a stream from its current end (XREAD), or as a member of a group.
func (s *session) readStream(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	if to.Group == "" {
		c := s.newConsumer(to, handle, nil)
		if err := c.findEnd(ctx); err != nil {
			return err
		}
		return s.begin(ctx, c, c.readPlain)
	}
	g, err := s.groupOf(ctx, to)
	if err != nil {
		return err
	}
	c := s.newConsumer(to, handle, g)
	if err := s.ask(ctx, func(k *socket) error { return c.join(ctx, k) }); err != nil {
		return err
	}
	return s.begin(ctx, c, c.readGroup)
}

// --- internal ---

// groupOf is the group of a subscription to a stream; its first member makes it.
func (s *session) groupOf(ctx context.Context, to broker.Subscription) (*group, error) {
	s.consuming.Lock()
	defer s.consuming.Unlock()
	if g := s.groups[to.Topic+" "+to.Group]; g != nil {
		return g, nil
	}
	g := &group{name: s.Named(".", to.Group), from: "0"}
	if s.Run != "" {
		end, err := s.endOf(ctx, to.Topic)
		if err != nil {
			return nil, err
		}
		g.from = end
	}
	s.groups[to.Topic+" "+to.Group] = g
	return g, nil
}

func (s *session) begin(ctx context.Context, c *consumer, step func(*socket, bool) error) error {
	k, err := s.dial(ctx, 0)
	if err != nil {
		return err
	}
	s.running.Go(func() { c.run(k, step) })
	return nil
}

// findEnd records the last entry: this consumer's messages are those after it, whether they come before or after its first XREAD. ("$"
// would skip what comes in between.)
func (c *consumer) findEnd(ctx context.Context) (err error) {
	c.last, err = c.s.endOf(ctx, c.topic.name)
	return err
}

// endOf is the id of a stream's last entry.
func (s *session) endOf(ctx context.Context, name string) (end string, err error) {
	err = s.ask(ctx, func(k *socket) error {
		info, err := k.client.XInfoStream(ctx, name).Result()
		switch {
		case err == nil:
			end = info.LastGeneratedID
		case strings.Contains(err.Error(), "no such key"):
			end = "0-0" // nothing was sent to it, so it reads everything
			return nil
		}
		return err
	})
	return end, err
}

// join makes the group unless it exists: from the stream's beginning, or from where it ended before the run. It does not make a stream of
// the user's own.
func (c *consumer) join(ctx context.Context, k *socket) error {
	var err error
	if c.s.Run == "" {
		err = k.client.XGroupCreateMkStream(ctx, c.topic.name, c.group.name, c.group.from).Err()
	} else {
		err = k.client.XGroupCreate(ctx, c.topic.name, c.group.name, c.group.from).Err()
	}
	if err != nil && strings.HasPrefix(err.Error(), "BUSYGROUP") {
		return nil
	}
	return err
}

// readPlain is a step of a reader without a group. A new socket goes on where the old one was.
func (c *consumer) readPlain(k *socket, _ bool) error {
	reply, err := k.do(c.s.Over, "XREAD", "COUNT", c.s.Prefetch, "BLOCK", blockFor.Milliseconds(), "STREAMS", c.topic.name, c.last)
	atNs := c.s.Now()
	if nothing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	list := entriesOf(reply)
	c.warn(c.handled.Load())
	if len(list) > 0 {
		c.last = list[len(list)-1].id
	}
	c.take(list, atNs, false)
	return nil
}

// readGroup is a step of a member.
func (c *consumer) readGroup(k *socket, fresh bool) error {
	if fresh {
		if err := c.recover(k); err != nil {
			return err
		}
	}
	if c.due() {
		if err := c.claimEntries(k); err != nil {
			return err
		}
	}
	c.settleInTime()
	reply, err := c.next(k, ">")
	atNs := c.s.Now()
	if nothing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	c.warn(c.group.handled.Load())
	c.take(entriesOf(reply), atNs, false)
	return nil
}

func (c *consumer) next(k *socket, after string) (any, error) {
	args := []any{"XREADGROUP", "GROUP", c.group.name, c.name, "COUNT", c.s.Prefetch, "BLOCK"}
	switch c.acknowledge {
	case broker.PerInterval:
		args = append(args, broker.AcknowledgeInterval.Milliseconds())
	case broker.Automatic:
		args = append(args, blockFor.Milliseconds(), "NOACK")
	default:
		args = append(args, blockFor.Milliseconds())
	}
	return k.do(c.s.Over, append(args, "STREAMS", c.topic.name, after)...)
}

// recover takes again what was delivered on the previous socket and not acknowledged.
func (c *consumer) recover(k *socket) error {
	if err := c.join(c.s.Over, k); err != nil {
		return err
	}
	for after := "0"; ; {
		reply, err := c.next(k, after)
		atNs := c.s.Now()
		if nothing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		list := entriesOf(reply)
		if len(list) == 0 {
			return nil
		}
		after = list[len(list)-1].id
		c.take(list, atNs, true)
	}
}

// claimEntries takes over what has not been acknowledged for that long, by whomever, a few at a time.
func (c *consumer) claimEntries(k *socket) error {
	c.settle() // its own would be among them
	idle := c.s.ClaimAfterNs / int64(time.Millisecond)
	reply, err := k.do(c.s.Over, "XAUTOCLAIM", c.topic.name, c.group.name, c.name, idle, "0", "COUNT", c.s.Prefetch)
	atNs := c.s.Now()
	if err != nil {
		return err
	}
	// [where to go on, entries, ...]
	if answer, _ := reply.([]any); len(answer) > 1 {
		c.take(entriesOfList(answer[1]), atNs, true)
	}
	return nil
}

// warn warns once if trimming may have removed entries that were not read yet.
func (c *consumer) warn(handled int64) {
	if limit := *c.s.MaxLength; limit > 0 && c.topic.added.Load()-handled > limit {
		once := &c.topic.trimmed
		if c.group != nil {
			once = &c.group.trimmed
		}
		once.Do(func() {
			c.s.Report("", fmt.Errorf("a consumer is more than %d entries behind, and MAXLEN ~ %d removes what it has not read; set maxLength", limit, limit))
		})
	}
}

// entriesOf reads the answer to XREAD and XREADGROUP of one stream: [[key, entries]].
func entriesOf(reply any) []fetched {
	streams, _ := reply.([]any)
	if len(streams) == 0 {
		return nil
	}
	stream, _ := streams[0].([]any)
	if len(stream) < 2 {
		return nil
	}
	return entriesOfList(stream[1])
}

// entriesOfList reads entries: [[id, [field, value, ...]], ...]. An entry that was removed meanwhile has no fields and is skipped; one
// that somebody else added has other fields, and gets an empty payload here.
func entriesOfList(reply any) []fetched {
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
