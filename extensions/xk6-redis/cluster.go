package redis

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const slots = 16384

// shard is a master of a cluster with its slots, or the single server. A topic's key or channel has a slot, and so a shard.
type shard struct {
	index int
	// ranges of slots, first and last of each. The node that has the first slot has them all.
	ranges [][2]int
	// at is the node that has them: another one after a failover.
	at atomic.Pointer[redis.Options]
	// moved: look for another node before the next dial.
	moved atomic.Bool
	// admin carries requests that are not measured.
	admin *redis.Client
}

func (s *session) newShard(at *redis.Options) *shard {
	h := &shard{index: len(s.shards)}
	h.at.Store(at)
	h.admin = redis.NewClient(s.options(h, commandTimeout))
	context.AfterFunc(s.Over, func() { _ = h.admin.Close() })
	s.shards = append(s.shards, h)
	return h
}

// discover replaces the servers of the URL by the cluster's masters. A node is dialled at its address in the URL if it has one there, and else
// where the cluster says.
func (s *session) discover(ctx context.Context) error {
	seeds := s.shards
	for i, seed := range seeds {
		id, err := seed.admin.ClusterMyID(ctx).Result()
		if err != nil {
			return fmt.Errorf("host %d of the URL: %w", i+1, err)
		}
		s.known[id] = seed.at.Load()
	}
	ranges, err := seeds[0].admin.ClusterSlots(ctx).Result()
	if err != nil {
		return err
	}
	s.shards = nil
	owners, covered := map[string]*shard{}, 0
	for _, r := range ranges {
		if len(r.Nodes) == 0 {
			continue
		}
		h := owners[r.Nodes[0].ID]
		if h == nil {
			h = s.newShard(s.reach(r.Nodes[0]))
			owners[r.Nodes[0].ID] = h
		}
		h.ranges = append(h.ranges, [2]int{r.Start, r.End})
		covered += r.End - r.Start + 1
	}
	if covered < slots {
		return fmt.Errorf("%d of the cluster's %d slots have no node", slots-covered, slots)
	}
	return nil
}

// relocate asks the other nodes which one has a shard's slots now.
func (s *session) relocate(ctx context.Context, h *shard) {
	for _, other := range s.shards {
		if other == h {
			continue
		}
		ranges, _ := other.admin.ClusterSlots(ctx).Result()
		for _, r := range ranges {
			if first := h.ranges[0][0]; len(r.Nodes) > 0 && r.Start <= first && first <= r.End {
				h.at.Store(s.reach(r.Nodes[0]))
				return
			}
		}
	}
}

// locate finds the shards of the topics.
func (s *session) locate(ctx context.Context) error {
	for _, t := range s.topics {
		t.shard = s.shards[0]
	}
	if !s.cluster {
		return nil
	}
	found, err := s.shards[0].admin.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, t := range s.topics {
			p.ClusterKeySlot(ctx, t.name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, t := range s.topics {
		slot := int(found[i].(*redis.IntCmd).Val())
		t.shard = s.shards[slices.IndexFunc(s.shards, func(h *shard) bool { return h.has(slot) })]
	}
	return nil
}

func (h *shard) has(slot int) bool {
	return slices.ContainsFunc(h.ranges, func(r [2]int) bool { return r[0] <= slot && slot <= r[1] })
}

// Leader is the node that has a topic's slot, by its place in the URL; "" of a single server.
func (s *session) Leader(_ context.Context, topic string) (string, error) {
	if !s.cluster {
		return "", nil
	}
	at := s.named[topic].shard.at.Load().Addr
	place := slices.IndexFunc(s.addresses, func(one *redis.Options) bool { return one.Addr == at })
	if place < 0 {
		return "", fmt.Errorf("redis: %s has the topic's slot, and is not in the URL", at)
	}
	return "node-" + strconv.Itoa(1+place), nil
}

// fan is the sending side of a connection: a line to each shard.
type fan []*line

func (f fan) Send(m *broker.Message, done broker.Done) {
	f[f[0].s.topics[m.Topic].shard.index].Send(m, done)
}

// --- internal ---

// reach is how to dial a node.
func (s *session) reach(node redis.ClusterNode) *redis.Options {
	if at := s.known[node.ID]; at != nil {
		return at
	}
	at := *s.addresses[0]
	at.Addr = node.Addr
	if at.TLSConfig != nil && s.TLS.ServerName == "" {
		at.TLSConfig = at.TLSConfig.Clone()
		at.TLSConfig.ServerName, _, _ = net.SplitHostPort(node.Addr)
	}
	return &at
}

// gone reports whether an answer says that another node has the slot now.
func gone(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "MOVED ") }
