package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// examine asks the server what it is, and refuses what this driver cannot measure.
func (s *session) examine(ctx context.Context) error {
	var info string
	err := s.ask(ctx, func(k *socket) (err error) {
		info, err = k.client.Info(ctx, "server").Result()
		return err
	})
	if err != nil {
		return err
	}
	facts := map[string]string{}
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			facts[key] = value
		}
	}
	version := facts["redis_version"]
	s.server = map[string]string{"name": "redis-server " + version}
	if valkey := facts["valkey_version"]; valkey != "" {
		s.server["name"] = "valkey-server " + valkey
	}
	if mode := facts["redis_mode"]; mode != "" && mode != "standalone" {
		return fmt.Errorf("the server runs as %s; mqbench measures a single Redis server, not a cluster and not sentinels", mode)
	}
	if s.mode != modePubSub && older(version, least) {
		return fmt.Errorf("mode %s needs Redis %s or newer; the server is %s", s.mode, least, s.server["name"])
	}
	// Some services forbid CONFIG; then the setting is unknown.
	for _, key := range []string{"appendonly", "appendfsync", "save", "client-output-buffer-limit"} {
		value := "unknown: CONFIG GET is refused"
		_ = s.ask(ctx, func(k *socket) error {
			found, err := k.client.ConfigGet(ctx, key).Result()
			if err == nil {
				value = strconv.Quote(found[key])
			}
			return err
		})
		s.server[key] = value
	}
	return nil
}

// least is the first version with LMOVE and XAUTOCLAIM.
const least = "6.2"

// atOnce is how many keys one command or pipeline makes or removes.
const atOnce = 500

// clear removes what is stored under the topics' names, by any session.
func (s *session) clear(ctx context.Context) error {
	if s.mode == modePubSub {
		return nil
	}
	var keys []string
	var members []*redis.StringSliceCmd
	for _, t := range s.topics {
		keys = append(keys, t.name)
		if s.mode == modeLists {
			keys = append(keys, membersOf(t.name))
		}
	}
	if s.mode == modeLists {
		err := s.each(ctx, func(p redis.Pipeliner, t *topic) {
			members = append(members, p.SMembers(ctx, membersOf(t.name)))
		})
		if err != nil {
			return err
		}
	}
	for i, found := range members {
		for _, member := range found.Val() {
			keys = append(keys, takenBy(s.topics[i].name, member))
		}
	}
	for some := range slices.Chunk(keys, atOnce) {
		err := s.ask(ctx, func(k *socket) error { return k.client.Unlink(ctx, some...).Err() })
		if err != nil {
			return err
		}
	}
	return nil
}

// each asks something about every topic, a few hundred in each pipeline.
func (s *session) each(ctx context.Context, queue func(redis.Pipeliner, *topic)) error {
	for some := range slices.Chunk(s.topics, atOnce) {
		err := s.ask(ctx, func(k *socket) error {
			_, err := k.client.Pipelined(ctx, func(p redis.Pipeliner) error {
				for _, t := range some {
					queue(p, t)
				}
				return nil
			})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ask runs commands that are not measured, one caller at a time, on a connection that is replaced when it breaks.
func (s *session) ask(ctx context.Context, commands func(*socket) error) error {
	s.adminMu.Lock()
	defer s.adminMu.Unlock()
	if s.admin == nil {
		k, err := s.dial(ctx, commandTimeout)
		if err != nil {
			return err
		}
		s.admin = k
	}
	err := commands(s.admin)
	if err != nil && !refused(err) && !errors.Is(err, redis.Nil) {
		s.drop(s.admin)
		s.admin = nil
	}
	return err
}

// older compares the first two numbers of versions. A version that cannot be read is not older.
func older(version, least string) bool {
	var a, b, x, y int
	if n, _ := fmt.Sscanf(version, "%d.%d", &a, &b); n != 2 {
		return false
	}
	_, _ = fmt.Sscanf(least, "%d.%d", &x, &y)
	return a < x || a == x && b < y
}
