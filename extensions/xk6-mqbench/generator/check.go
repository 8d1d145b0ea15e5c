package generator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
)

const (
	// mostSets limits the books of a fan-out: subscribers x producers have a set of sequences each.
	mostSets = 1 << 22
	// mostUnits limits the books of an order: subscribers x producers x streams, 8 bytes each.
	mostUnits = 1 << 26
)

// check refuses a plan that contradicts itself or that this binary cannot run.
func (p *Plan) check() error {
	for _, check := range []func() error{
		p.checkNumbers, p.checkMessage, p.checkTopology, p.checkPattern, p.checkClients, p.checkSchedule, p.checkLimits, p.checkBooks,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// --- internal ---

func (p *Plan) checkNumbers() error {
	switch {
	case p.Schema != 1:
		return fmt.Errorf("schema %d, this binary reads schema 1: rebuild it or compile the scenario again", p.Schema)
	case p.Connections < 1 || p.Producers < 1 || len(p.Topics) < 1 || p.Heartbeat.SlotsPerSecond < 1:
		return fmt.Errorf("connections, producers, topics and slots must be at least 1")
	case p.IntervalSeconds < 0:
		return fmt.Errorf("intervalSeconds %d: must be at least 1", p.IntervalSeconds)
	case p.DrainNs < 0 || p.TimeoutNs < 0:
		return fmt.Errorf("drain %d ns and timeout %d ns must not be negative", p.DrainNs, p.TimeoutNs)
	case p.InFlight != nil && *p.InFlight < 1:
		return fmt.Errorf("inFlight %d: must be at least 1, or null", *p.InFlight)
	case p.Replicas != nil && *p.Replicas < 1:
		return fmt.Errorf("replicas %d: must be at least 1, or null", *p.Replicas)
	case p.DurabilityLevel != nil && !slices.Contains([]string{"memory", "os", "interval", "fsync"}, *p.DurabilityLevel):
		return fmt.Errorf("durabilityLevel must be memory, os, interval or fsync, got %q", *p.DurabilityLevel)
	case !slices.Contains([]string{"none", "per-producer", "per-key"}, p.Order):
		return fmt.Errorf("order must be none, per-producer or per-key, got %q", p.Order)
	case p.Order == "per-key" && p.Keys == nil:
		return fmt.Errorf("order per-key needs messages with keys")
	}
	return nil
}

func (p *Plan) checkMessage() error {
	if p.Message.Checksum && p.Message.Bytes < p.Message.smallest() {
		return fmt.Errorf("message of %d bytes is too small: envelope and checksum take %d", p.Message.Bytes, p.Message.smallest())
	}
	return nil
}

func (p *Plan) checkTopology() error {
	named := map[string]bool{}
	for _, topic := range slices.Concat(p.Topics, p.ReplyTopics) {
		if topic == "" || named[topic] {
			return fmt.Errorf("topic %q is listed twice or has no name", topic)
		}
		named[topic] = true
	}
	switch {
	case p.Partitions < 1:
		return fmt.Errorf("partitions %d: must be at least 1", p.Partitions)
	case p.Consumers < 0 || p.ConsumerConnections < 0 || p.Bystanders < 0:
		return fmt.Errorf("consumers, consumerConnections and bystanders must not be negative")
	case p.Wildcard:
		_, err := p.topicPattern()
		return err
	}
	return nil
}

// checkPattern checks what each pattern needs and what it has no use for.
func (p *Plan) checkPattern() error {
	reply, apart := p.Pattern == requestReply, p.grouped() || p.Pattern == fanOut
	switch {
	case !slices.Contains([]string{roundTrip, requestReply, fanOut, workQueue, publish, backlog}, p.Pattern):
		return fmt.Errorf("pattern %q is unknown to this binary", p.Pattern)
	case p.Pattern == publish && !p.Acks:
		return fmt.Errorf("publish ends at the acknowledgement, and this system sends none")
	case reply && len(p.ReplyTopics) != len(p.Topics):
		return fmt.Errorf("request-reply has %d topics and %d replyTopics; each topic needs one", len(p.Topics), len(p.ReplyTopics))
	case !reply && len(p.ReplyTopics) > 0:
		return fmt.Errorf("%s has no replyTopics", p.Pattern)
	case p.grouped() != (p.Consumers > 0):
		return fmt.Errorf("%s with %d consumers: request-reply, work-queue and backlog need at least 1, others have 0", p.Pattern, p.Consumers)
	case apart != (p.ConsumerConnections > 0):
		return fmt.Errorf("%s with %d consumerConnections: round-trip and publish have 0, others need at least 1", p.Pattern, p.ConsumerConnections)
	case p.Subscriptions < 1 || p.Pattern != fanOut && p.Subscriptions != 1:
		return fmt.Errorf("%s with %d subscriptions: fan-out needs at least 1, others have 1", p.Pattern, p.Subscriptions)
	case p.Pattern != fanOut && (p.Wildcard || p.Bystanders > 0):
		return fmt.Errorf("wildcard and bystanders belong to fan-out")
	case (p.Pattern == backlog) != (p.Backlog != nil):
		return fmt.Errorf("%s and backlog do not go together", p.Pattern)
	}
	if b := p.Backlog; b != nil && (b.PauseNs < 0 || b.ResumeNs <= b.PauseNs) {
		return fmt.Errorf("backlog from %d to %d ns: consumers must pause before they resume", b.PauseNs, b.ResumeNs)
	}
	if w := p.Work; w != nil {
		switch {
		case !p.grouped():
			return fmt.Errorf("work belongs to consumers that share messages, not to %s", p.Pattern)
		case w.MeanNs < 0 || w.Distribution != "constant" && w.Distribution != "exponential":
			return fmt.Errorf("work of %d ns, %q: the time must not be negative, the distribution constant or exponential", w.MeanNs, w.Distribution)
		}
	}
	return nil
}

func (p *Plan) checkSchedule() error {
	s := p.Schedule
	if s.WarmupNs < 0 || s.DurationNs < 1 || s.Messages < 1 || s.WarmupMessages < 0 || s.WarmupMessages > s.Messages {
		return fmt.Errorf("schedule of %d messages, %d of them warm-up, in %d + %d ns has no window",
			s.Messages, s.WarmupMessages, s.WarmupNs, s.DurationNs)
	}
	if p.closed() {
		switch {
		case p.InFlight == nil:
			return fmt.Errorf("a closed load needs inFlight, because nothing else limits it")
		case p.Pattern == backlog:
			return fmt.Errorf("a backlog needs a rate, not a closed load")
		case s.Rate != nil || len(s.Pieces) > 0 || s.WarmupNs != 0:
			return fmt.Errorf("a closed load has neither rate nor stages, and counts its warm-up in messages")
		}
		return nil
	}
	computed, err := schedule.Of(s.Shape)
	if err != nil {
		return err
	}
	warmup, all := computed.Before(s.WarmupNs), computed.Before(p.windowEndNs())
	if warmup != s.WarmupMessages || all != s.Messages {
		return fmt.Errorf("schedule has %d + %d messages, the plan says %d + %d",
			warmup, all-warmup, s.WarmupMessages, s.Messages-s.WarmupMessages)
	}
	if w := s.Steady; w != nil {
		whole := w.FromNs%int64(time.Second) == 0 && w.ToNs%int64(time.Second) == 0
		if !whole || w.FromNs > w.ToNs || w.ToNs != s.WarmupNs || len(s.Pieces) > 0 || p.Backlog != nil || p.Client.Count != 1 {
			return fmt.Errorf("a warm-up until steady, from %d to %d ns, does not fit this load", w.FromNs, w.ToNs)
		}
	}
	if b := p.Backlog; b != nil && b.ResumeNs > p.windowEndNs() {
		return fmt.Errorf("consumers resume at %d ns, after the last message", b.ResumeNs)
	}
	return nil
}

// checkLimits accepts a limit on a latency that the run does not have, and counts nothing for it: the floor of a plan is measured with
// the plan's own limits.
func (p *Plan) checkLimits() error {
	_, err := p.limits()
	return err
}

// checkBooks refuses what would need more memory than a laptop has.
func (p *Plan) checkBooks() error {
	if sets := p.subscribers() * int64(p.Producers); sets > mostSets {
		return fmt.Errorf("%d subscriptions of %d producers are too many: the books hold at most %d pairs", p.subscribers(), p.Producers, mostSets)
	}
	if p.Order != "none" && !p.orderFits() {
		return fmt.Errorf("order %s of %d subscriptions, %d producers and %d keys or partitions: the books hold at most %d streams",
			p.Order, p.subscribers(), p.Producers, p.streams(), mostUnits)
	}
	return nil
}

// orderFits reports whether there is room to watch the order of every stream. Order that is not promised is watched only then.
func (p *Plan) orderFits() bool {
	pairs := p.subscribers() * int64(p.Producers)
	return p.streams() <= mostUnits/pairs
}

// topicPattern stands for all topics: their common beginning, then "*" for the last word.
func (p *Plan) topicPattern() (string, error) {
	end := strings.LastIndexByte(p.Topics[0], '.')
	if end < 0 {
		return "", fmt.Errorf("wildcard: topic %q has one word only", p.Topics[0])
	}
	prefix := p.Topics[0][:end+1]
	for _, topic := range p.Topics {
		if last, ok := strings.CutPrefix(topic, prefix); !ok || last == "" || strings.Contains(last, ".") {
			return "", fmt.Errorf("wildcard: topic %q does not match %s*", topic, prefix)
		}
	}
	return prefix + "*", nil
}
