package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// find checks whether existing topics are what the mode needs. Channels and empty lists have no key, so there is nothing to find.
func (s *session) find(ctx context.Context) error {
	if s.mode == modePubSub {
		return nil
	}
	var kinds []*redis.StatusCmd
	if err := s.each(ctx, func(p redis.Pipeliner, t *topic) { kinds = append(kinds, p.Type(ctx, t.name)) }); err != nil {
		return fmt.Errorf("look up topics: %w", err)
	}
	want := map[string]string{modeStreams: "stream", modeLists: "list"}[s.mode]
	for i, kind := range kinds {
		switch name := s.topics[i].name; {
		case kind.Val() == want, kind.Val() == "none" && s.mode == modeLists:
		case kind.Val() == "none":
			return broker.MissingTopic(name, "there is no stream of this key")
		default:
			return fmt.Errorf("topic %s is a key of type %s, and mode %s needs a %s; name another topic, or choose another mode", name, kind.Val(), s.mode, want)
		}
	}
	return nil
}

// leave removes what consumers have made on topics that stay: groups, which clients share and client 0 removes, and the notes of list
// members. Messages that those have taken and not finished go back.
func (s *session) leave(ctx context.Context) error {
	if s.Run != "" && s.mode == modeLists {
		deadline.AtMost(endTimeout, s.running.Wait)
		for _, c := range s.members {
			if err := s.ask(ctx, func(k *socket) error { return c.giveBack(ctx, k) }); err != nil {
				return err
			}
		}
	}
	if s.Run != "" && s.mode == modeStreams && s.Client == 0 {
		for _, g := range s.names() {
			err := s.each(ctx, func(p redis.Pipeliner, t *topic) { p.XGroupDestroy(ctx, t.name, g) })
			if err != nil && !refused(err) { // a stream that is gone has no groups
				return err
			}
		}
	}
	return nil
}

// untouched refuses a list of the user's own that holds messages: consuming would take them away.
func (c *consumer) untouched(ctx context.Context, k *socket) error {
	if c.s.Run == "" {
		return nil
	}
	n, err := k.client.LLen(ctx, c.topic.name).Result()
	if err == nil && n > 0 {
		return fmt.Errorf("it holds %d messages, which consumers of this run would take away; empty it first, or name another list", n)
	}
	return err
}

// --- internal ---

// endTimeout is how long consumers may take to end: a command that waits on the server, and a little more.
const endTimeout = 2 * blockFor

// giveBack returns what a member took and did not finish to where it came from, in the old order, and forgets the member.
func (c *consumer) giveBack(ctx context.Context, k *socket) error {
	for {
		err := k.client.LMove(ctx, c.taken(), c.topic.name, "LEFT", "RIGHT").Err()
		if errors.Is(err, redis.Nil) {
			return k.client.SRem(ctx, c.enrolled(), c.name).Err()
		}
		if err != nil {
			return err
		}
	}
}

// names of the groups of members here.
func (s *session) names() []string {
	var list []string
	for _, g := range s.groups {
		list = append(list, g.name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
