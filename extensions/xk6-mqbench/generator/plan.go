// Package generator makes the load of one run: it hands the schedule to the pacer as k6 claims it, sends, stamps,
// receives, records, and closes the books. It knows nothing of k6.
package generator

import (
	"encoding/json"
	"fmt"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
)

// Plan is the part of plan.json that the generator needs (runner/plan/plan.ts has all of it). Times are ns.
type Plan struct {
	Schema        int             `json:"schema"`
	RunNumber     uint32          `json:"runNumber"`
	Broker        string          `json:"broker"`
	URLEnv        string          `json:"urlEnv"`
	DriverOptions json.RawMessage `json:"driverOptions"`
	Pattern       string          `json:"pattern"`
	Schedule      struct {
		Kind string `json:"kind"`
		Rate struct {
			Messages int64 `json:"messages"`
			PerNs    int64 `json:"perNs"`
		} `json:"rate"`
		WarmupNs       int64 `json:"warmupNs"`
		DurationNs     int64 `json:"durationNs"`
		WarmupMessages int64 `json:"warmupMessages"`
		Messages       int64 `json:"messages"`
	} `json:"schedule"`
	DrainNs     int64    `json:"drainNs"`
	TimeoutNs   int64    `json:"timeoutNs"`
	InFlight    *int64   `json:"inFlight"`
	Connections int      `json:"connections"`
	Producers   int      `json:"producers"`
	Topics      []string `json:"topics"`
	Message     struct {
		Bytes   int    `json:"bytes"`
		Payload string `json:"payload"`
		Seed    uint64 `json:"seed"`
		// Checksum: every payload ends in its CRC32C, and receipts are checked.
		Checksum bool `json:"checksum"`
	} `json:"message"`
	Limits []struct {
		Metric  string `json:"metric"`
		LimitNs int64  `json:"limitNs"`
	} `json:"limits"`
	Heartbeat struct {
		SlotsPerSecond int64 `json:"slotsPerSecond"`
	} `json:"heartbeat"`
	Client struct {
		Index int `json:"index"`
		Count int `json:"count"`
	} `json:"client"`
}

// ParsePlan reads plan.json and refuses one that contradicts itself: the schedule is computed here too, and both
// must agree.
func ParsePlan(text []byte) (*Plan, error) {
	var p Plan
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &p, nil
}

// --- internal ---

func (p *Plan) check() error {
	switch {
	case p.Schema != 1:
		return fmt.Errorf("schema %d, this binary reads schema 1: rebuild it or compile the scenario again", p.Schema)
	case p.Pattern != "round-trip":
		return fmt.Errorf("pattern %q is not in this binary", p.Pattern)
	case p.Schedule.Kind != "constant":
		return fmt.Errorf("schedule %q is not in this binary", p.Schedule.Kind)
	case p.Connections < 1 || p.Producers < 1 || len(p.Topics) < 1 || p.Heartbeat.SlotsPerSecond < 1:
		return fmt.Errorf("connections, producers, topics and slots must be at least 1")
	case p.Client.Count != 1 || p.Client.Index != 0:
		return fmt.Errorf("client %d of %d: this binary runs one client", p.Client.Index, p.Client.Count)
	case p.Message.Checksum && p.Message.Bytes < envelope.Bytes+envelope.ChecksumBytes:
		return fmt.Errorf("message of %d bytes: envelope and checksum take %d", p.Message.Bytes, envelope.Bytes+envelope.ChecksumBytes)
	case p.InFlight != nil && *p.InFlight < 1:
		return fmt.Errorf("inFlight %d: must be at least 1, or null", *p.InFlight)
	}
	s, err := p.constant()
	if err != nil {
		return err
	}
	warmup, all := s.Before(p.Schedule.WarmupNs), s.Before(p.Schedule.WarmupNs+p.Schedule.DurationNs)
	if warmup != p.Schedule.WarmupMessages || all != p.Schedule.Messages {
		return fmt.Errorf("schedule has %d + %d messages, the plan says %d + %d",
			warmup, all-warmup, p.Schedule.WarmupMessages, p.Schedule.Messages-p.Schedule.WarmupMessages)
	}
	_, err = p.limits()
	return err
}

func (p *Plan) constant() (schedule.Constant, error) {
	return schedule.New(p.Schedule.Rate.Messages, p.Schedule.Rate.PerNs)
}

func (p *Plan) limits() ([]recorder.Limit, error) {
	var limits []recorder.Limit
	for _, l := range p.Limits {
		metric, ok := recorder.MetricOf(l.Metric)
		if !ok {
			return nil, fmt.Errorf("limit on unknown metric %q", l.Metric)
		}
		limits = append(limits, recorder.Limit{Metric: metric, Ns: l.LimitNs})
	}
	return limits, nil
}

func (p *Plan) windowEndNs() int64 { return p.Schedule.WarmupNs + p.Schedule.DurationNs }
