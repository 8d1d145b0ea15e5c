// Package generator makes the load of one run: it paces, sends, stamps, receives, records, and closes the books. It does not depend on k6.
package generator

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/pacer"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/sizes"
)

// Patterns: the path of messages, and where the response ends (runner/model/plan.ts, reports/METHOD.md).
const (
	roundTrip    = "round-trip"
	requestReply = "request-reply"
	fanOut       = "fan-out"
	workQueue    = "work-queue"
	publish      = "publish"
	backlog      = "backlog"
	connect      = "connect"
	// catchUp sends nothing: it reads the topics of the load beside it, whose schedule it has, from their beginning.
	catchUp = "catch-up"
)

// closed is the kind of schedule that has no intended times.
const closed = "closed"

// Plan is the part of plan.json that the generator needs; runner/model/plan.ts has all of it and describes each field. Times are ns.
type Plan struct {
	Schema          int             `json:"schema"`
	RunID           string          `json:"runId"`
	Index           int             `json:"index"`
	RunNumber       uint32          `json:"runNumber"`
	Broker          string          `json:"broker"`
	DurabilityLevel string          `json:"durabilityLevel"`
	Replicas        int             `json:"replicas"`
	Acks            bool            `json:"acks"`
	URLEnv          string          `json:"urlEnv"`
	DriverOptions   json.RawMessage `json:"driverOptions"`
	Pattern         string          `json:"pattern"`
	Schedule        Schedule        `json:"schedule"`
	Backlog         *Backlog        `json:"backlog"`
	Loads           int             `json:"loads"`
	Beside          *Beside         `json:"beside"`
	Ledger          bool            `json:"ledger"`
	DrainNs         int64           `json:"drainNs"`
	TimeoutNs       int64           `json:"timeoutNs"`
	InFlight        int64           `json:"inFlight"`
	Hold            int             `json:"hold"`
	Connections     int             `json:"connections"`
	Producers       int             `json:"producers"`
	Topics          []string        `json:"topics"`
	Create          bool            `json:"create"`
	ReplyTopics     []string        `json:"replyTopics"`
	Partitions      int             `json:"partitions"`
	Consumers       int             `json:"consumers"`
	Subscriptions   int             `json:"subscriptions"`
	// ConsumerConnections are numbered after Connections.
	ConsumerConnections int              `json:"consumerConnections"`
	Wildcard            bool             `json:"wildcard"`
	Bystanders          int              `json:"bystanders"`
	Work                *Work            `json:"work"`
	Faults              []Fault          `json:"faults"`
	Keys                *Keys            `json:"keys"`
	Message             Message          `json:"message"`
	Order               string           `json:"order"`
	Pacing              pacer.Pacing     `json:"pacing"`
	Limits              []recorder.Limit `json:"limits"`
	SLA                 []SLALine        `json:"sla"`
	Heartbeat           struct {
		SlotsPerSecond int64 `json:"slotsPerSecond"`
		DurationNs     int64 `json:"durationNs"`
	} `json:"heartbeat"`
	IntervalSeconds int64     `json:"intervalSeconds"`
	Segments        *Segments `json:"segments"`
	// Client is which of how many clients this is. The file has index 0 for all of them; Take sets it.
	Client struct {
		Index int `json:"index"`
		Count int `json:"count"`
	} `json:"client"`
	// Listen is broker.Options.Listen. It is not in the file: each client has its own.
	Listen string `json:"-"`
}

// Beside is when a load beside another begins; in a catch-up, which has the other's T0, to read. ns since the other's T0.
type Beside struct {
	StartNs int64 `json:"startNs"`
}

// Schedule is the shape of the load, its length and its number of messages.
type Schedule struct {
	schedule.Shape
	WarmupNs       int64 `json:"warmupNs"`
	DurationNs     int64 `json:"durationNs"`
	WarmupMessages int64 `json:"warmupMessages"`
	Messages       int64 `json:"messages"`
	// Steady is nil if the window opens at WarmupNs; otherwise it opens at a whole second that the coordinator names, and at WarmupNs at the latest.
	Steady *Steady `json:"steady"`
}

// Segments makes a run that is cut go on with the same schedule: T0 is as far in the past as the part that is over was long.
type Segments struct {
	// CheckpointNs is how often the files get all that a report needs of the window so far.
	CheckpointNs int64 `json:"checkpointNs"`
	// ResumeNs is where this segment's part of the window begins, ns since T0, after a warm-up as long as the first one; 0 in the first segment.
	ResumeNs int64 `json:"resumeNs"`
}

// Steady is when a window may open at the earliest, ns since T0.
type Steady struct {
	FromNs int64 `json:"fromNs"`
}

// Backlog is when consumers take nothing, ns since T0.
type Backlog struct {
	PauseNs  int64 `json:"pauseNs"`
	ResumeNs int64 `json:"resumeNs"`
}

// Work is a consumer's simulated work for each message.
type Work struct {
	MeanNs       int64  `json:"meanNs"`
	Distribution string `json:"distribution"`
}

// Keys of the messages.
type Keys struct {
	Distribution string `json:"distribution"`
	Count        int64  `json:"count"`
	Seed         uint64 `json:"seed"`
}

// Message describes the messages.
type Message struct {
	envelope.Payload
	// Sizes is nil if all messages have the same size, Bytes. Otherwise that is the largest.
	Sizes *sizes.Cycle `json:"sizes"`
	// LimitBytes is the largest message that the system takes, if messages are larger on purpose.
	LimitBytes int `json:"limitBytes"`
	// Checksum is true if every payload ends in its CRC32C, and receipts are checked.
	Checksum bool `json:"checksum"`
}

// SLALine is the part of an SLA line that the generator needs: its count, or "" if it is not about a count.
type SLALine struct {
	Tally string `json:"tally"`
}

// ParsePlan reads plan.json. The schedule is computed here again, and both results must be equal. Missing fields have the defaults of plan.ts.
func ParsePlan(text []byte) (*Plan, error) {
	p := Plan{Partitions: 1, Subscriptions: 1, Order: "none", Create: true, Loads: 1}
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	// What the segment before has left on the broker is foreign to this one.
	p.RunNumber += uint32(p.beginNs() / int64(time.Second))
	return &p, nil
}

// Take is the plan for client index of count. The count must be the plan's own.
func (p *Plan) Take(index, count int) (*Plan, error) {
	if count != p.Client.Count {
		return nil, fmt.Errorf("plan: it is for %s, k6's execution segment makes this one of %d: start k6 with --execution-segment and --execution-segment-sequence in equal parts",
			clients(p.Client.Count), count)
	}
	taken := *p
	taken.Client.Index = index
	if err := taken.checkClients(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &taken, nil
}

// Latency is the metric that reports and live lines use for the run: response, service in a closed load, ack in a backlog.
func (p *Plan) Latency() recorder.Metric {
	switch {
	case p.Pattern == backlog:
		return recorder.Ack
	case p.closed():
		return recorder.Service
	}
	return recorder.Response
}

// --- internal ---

func clients(n int) string {
	if n == 1 {
		return "1 client"
	}
	return fmt.Sprintf("%d clients", n)
}

// closed reports whether the load has no schedule. Each producer then sends as fast as inFlight allows.
func (p *Plan) closed() bool { return p.Schedule.Kind == closed }

// receives reports whether messages are consumed.
func (p *Plan) receives() bool { return p.Pattern != publish }

// grouped reports whether members of a group share the messages (work-queue, backlog) or the requests.
func (p *Plan) grouped() bool {
	return p.Pattern == requestReply || p.Pattern == workQueue || p.Pattern == backlog
}

// subscribers is how many receipts each message should have.
func (p *Plan) subscribers() int64 {
	if p.Pattern == fanOut {
		return int64(p.Subscriptions)
	}
	return 1
}

// streams is the number of units in which a producer's order is promised: keys, or else partitions.
func (p *Plan) streams() int64 {
	if p.Keys != nil {
		return p.Keys.Count
	}
	return int64(p.Partitions)
}

func (p *Plan) metrics() []recorder.Metric {
	responds, scheduled := p.Pattern != backlog, !p.closed()
	has := map[recorder.Metric]bool{
		recorder.Response: responds && scheduled, recorder.Service: responds, recorder.Ack: p.Acks,
		recorder.Lag: scheduled, recorder.Queued: scheduled,
		// With subscribers on several clients it is unknown which one was the last.
		recorder.Last: scheduled && p.Pattern == fanOut && !p.crosses(),
	}
	return slices.DeleteFunc(recorder.Metrics(), func(m recorder.Metric) bool { return p.Pattern == catchUp || !has[m] })
}

func (p *Plan) frame() recorder.Frame {
	f := recorder.Frame{
		StartNs: p.Schedule.WarmupNs, EndNs: p.windowEndNs(), First: p.Schedule.WarmupMessages, Metrics: p.metrics(), WarmUp: true,
		Acks: p.Acks && len(p.dueBefore()) == 0, IntervalSeconds: p.IntervalSeconds,
	}
	if p.closed() {
		f.StartNs, f.EndNs, f.WarmUp = recorder.Unopened, recorder.Endless, false
	}
	return f
}

// beginNs is when the first message of this segment is intended, ns since T0.
func (p *Plan) beginNs() int64 {
	if p.Segments == nil {
		return 0
	}
	return max(0, p.Segments.ResumeNs-p.Schedule.WarmupNs)
}

// looks reports whether an SLA line counts copies that may come when every message has its first one.
func (p *Plan) looks() bool {
	return p.receives() && slices.ContainsFunc(p.SLA, func(line SLALine) bool {
		return line.Tally == "duplicated" || line.Tally == "redelivered"
	})
}

// windowEndNs is the end of intended times (in closed loads, of sends).
func (p *Plan) windowEndNs() int64 { return p.Schedule.WarmupNs + p.Schedule.DurationNs }
