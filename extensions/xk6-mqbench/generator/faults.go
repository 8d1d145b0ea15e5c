package generator

import (
	"fmt"
	"slices"
)

// Fault is one of the plan's faults. The runner carries out those of brokers, each client those of its own consumers (members.go).
type Fault struct {
	AtNs   int64  `json:"atNs"`
	Of     string `json:"of"`
	Action string `json:"action"`
	// ForNs is nil if the members do not come back.
	ForNs *int64 `json:"forNs"`
	Count int    `json:"count"`
}

const (
	ofConsumers = "consumers"
	leaves      = "leave"
	killed      = "kill"
	joins       = "join"
	pauses      = "pause"
	// comesBack is a change, not an action of a plan: the end of a leave or kill.
	comesBack = "back"
)

// change is what happens to one member. Times are ns since T0; nil if it did not begin, or was not done.
type change struct {
	Fault   int    `json:"fault"`
	Member  int    `json:"member"`
	Action  string `json:"action"`
	BeganNs *int64 `json:"beganNs"`
	DoneNs  *int64 `json:"doneNs"`
	Error   string `json:"error,omitempty"`

	dueNs, untilNs int64
}

func (c change) enters() bool { return c.Action == joins || c.Action == comesBack }

// changes that the plan's faults make to members, in order of time.
func (p *Plan) changes() (all []change) {
	present, next := []int{}, p.Consumers
	for m := range p.Consumers {
		present = append(present, m)
	}
	for i, f := range p.Faults {
		if f.Of != ofConsumers {
			continue
		}
		if f.Action == joins {
			for range f.Count {
				present = append(present, next)
				next++
			}
		}
		stay := max(0, len(present)-f.Count)
		for _, m := range present[stay:] {
			one := change{Fault: i, Member: m, Action: f.Action, dueNs: f.AtNs}
			if f.ForNs != nil {
				one.untilNs = f.AtNs + *f.ForNs
			}
			all = append(all, one)
			if f.ForNs != nil && f.Action != pauses {
				all = append(all, change{Fault: i, Member: m, Action: comesBack, dueNs: one.untilNs})
			}
		}
		if f.ForNs == nil && f.Action != joins {
			present = present[:stay]
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return int(a.dueNs - b.dueNs) })
	return all
}

// members is how many members stay for the whole run, the first ones, and how many it has in all.
func (p *Plan) members() (residents, all int) {
	residents, all = p.Consumers, p.Consumers
	for _, c := range p.changes() {
		all = max(all, c.Member+1)
		if c.Action != pauses {
			residents = min(residents, c.Member)
		}
	}
	return residents, all
}

func (p *Plan) checkFaults() error {
	for _, f := range p.Faults {
		if f.Of == ofConsumers && (p.Pattern != workQueue && p.Pattern != backlog || p.closed() || f.Count < 1 || p.ConsumerConnections != p.Consumers) {
			return fmt.Errorf("a fault of %d consumers needs a group (work-queue, backlog) whose %d members have a connection each, and a schedule",
				f.Count, p.Consumers)
		}
	}
	return nil
}
