package generator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
)

const (
	// mostSets limits the books of a fan-out: subscribers x producers have a set of sequences each.
	mostSets = 1 << 22
	// mostUnits limits the books of an order: subscribers x producers x streams, 8 bytes each.
	mostUnits = 1 << 26
)

// check refuses a plan that this binary cannot run, or whose schedule it computes differently. The planner has checked the rest.
func (p *Plan) check() error {
	switch {
	case p.Schema != 1:
		return fmt.Errorf("schema %d, this binary reads schema 1: rebuild it or compile the scenario again", p.Schema)
	case !slices.Contains([]string{roundTrip, requestReply, fanOut, workQueue, publish, backlog, connect, catchUp}, p.Pattern):
		return fmt.Errorf("pattern %q is unknown to this binary", p.Pattern)
	case min(p.Connections, p.Producers, len(p.Topics), p.Partitions, p.Subscriptions) < 1 || p.Heartbeat.SlotsPerSecond < 1:
		return fmt.Errorf("connections, producers, topics, partitions, subscriptions and slots must be at least 1")
	case (p.Pattern == requestReply) != (len(p.ReplyTopics) == len(p.Topics)), p.grouped() != (p.Consumers > 0),
		(p.grouped() || p.Pattern == fanOut || p.Pattern == catchUp) != (p.ConsumerConnections > 0), (p.Pattern == backlog) != (p.Backlog != nil):
		return fmt.Errorf("%s with %d replyTopics, %d consumers and %d consumerConnections, backlog %v: runner/model/plan.ts says what each pattern needs",
			p.Pattern, len(p.ReplyTopics), p.Consumers, p.ConsumerConnections, p.Backlog != nil)
	case p.Hold < 0 || p.Pattern == connect && (p.InFlight == 0 || p.Keys != nil || !p.Acks || !p.Create) || p.Pattern != connect && p.Hold > 0:
		return fmt.Errorf("%s with hold %d, %d in flight, acks %v and create %v: runner/model/plan.ts says what each pattern needs",
			p.Pattern, p.Hold, p.InFlight, p.Acks, p.Create)
	case p.Pattern == catchUp && (p.Beside == nil || p.Client.Count != 1):
		return fmt.Errorf("catch-up is one client beside another load")
	}
	_, err := p.sizes()
	return cmp.Or(err, p.checkClients(), p.checkSchedule(), p.checkBooks(), p.checkFaults())
}

// --- internal ---

func (p *Plan) checkSchedule() error {
	s := p.Schedule
	if s.DurationNs < 1 || s.Messages < 1 || s.WarmupMessages > s.Messages {
		return fmt.Errorf("schedule of %d messages, %d of them warm-up, in %d + %d ns has no window",
			s.Messages, s.WarmupMessages, s.WarmupNs, s.DurationNs)
	}
	if p.closed() {
		if p.InFlight == 0 {
			return fmt.Errorf("a closed load needs inFlight, because nothing else limits it")
		}
		return nil
	}
	computed, err := schedule.Of(s.Shape)
	if err != nil {
		return err
	}
	if warmup, all := computed.Before(s.WarmupNs), computed.Before(p.windowEndNs()); warmup != s.WarmupMessages || all != s.Messages {
		return fmt.Errorf("schedule has %d + %d messages, the plan says %d + %d",
			warmup, all-warmup, s.WarmupMessages, s.Messages-s.WarmupMessages)
	}
	return nil
}

// checkBooks refuses plans that would need more memory than a laptop has.
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
