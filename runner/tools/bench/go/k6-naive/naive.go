//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/lib"
	"go.k6.io/k6/v2/metrics"
	"go.k6.io/k6/v2/output"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
)

// plan is what the script passes to naive.load: rate in messages/s, size in bytes, seconds of warm-up and window.
type plan struct {
	Broker          string
	Rate            int64
	Bytes           int
	WarmupSeconds   int64
	DurationSeconds int64
}

// load is the state of the process's one run.
type load struct {
	plan    plan
	clock   *clock.Clock
	session broker.Session
	out     broker.Producer

	// next is the index of the next iteration: k6 gives indexes to iterations as they start.
	next           atomic.Int64
	startOnce      sync.Once
	startNs        int64
	cpuNs          int64
	sent, received atomic.Int64
	mu             sync.Mutex
	lag, response  *hdr.Histogram
}

var theLoad *load

type module struct{}

type instance struct{ vu modules.VU }

func (*module) NewModuleInstance(vu modules.VU) modules.Instance { return &instance{vu} }

func (i *instance) Exports() modules.Exports {
	api := i.vu.Runtime().NewObject()
	_ = api.Set("load", func(v sobek.Value) error {
		if theLoad != nil {
			return nil
		}
		var p plan
		if err := i.vu.Runtime().ExportTo(v, &p); err != nil {
			return err
		}
		theLoad = &load{plan: p, clock: clock.New(), lag: hdr.New(1, 3_600_000_000_000, 3), response: hdr.New(1, 3_600_000_000_000, 3)}
		return nil
	})
	_ = api.Set("message", func() error { return theLoad.message(lib.GetScenarioState(i.vu.Context()).StartTime) })
	return modules.Exports{Default: api}
}

// message is one iteration: the intended time comes from its index, as a script would compute it.
func (l *load) message(start time.Time) error {
	l.startOnce.Do(func() {
		l.startNs = l.clock.Now() - int64(time.Since(start))
		l.cpuNs = cpu()
	})
	i := l.next.Add(1) - 1
	offset := i * (int64(time.Second) / l.plan.Rate)
	now := l.clock.Now() - l.startNs
	payload := make([]byte, l.plan.Bytes)
	envelope.Put(payload, envelope.Envelope{Sequence: uint64(i), Intended: offset, Sent: now})
	l.record(l.lag, offset, max(0, now-offset))
	l.sent.Add(1)
	var failed error
	l.out.Send(&broker.Message{Name: "naive", Payload: payload}, func(_ *broker.Message, _ int64, err error) { failed = err })
	return failed
}

func (l *load) receive(d broker.Delivery) {
	if e, ok := envelope.Get(d.Payload); ok {
		l.received.Add(1)
		l.record(l.response, e.Intended, max(0, d.ReceivedNs-l.startNs-e.Intended))
	}
}

func (l *load) record(h *hdr.Histogram, offset, ns int64) {
	warm := l.plan.WarmupSeconds * int64(time.Second)
	if offset < warm || offset >= warm+l.plan.DurationSeconds*int64(time.Second) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = h.RecordValue(ns)
}

// results is `--out naive=<file>`.
type results struct {
	params  output.Params
	dropped int64
}

func newOutput(p output.Params) (output.Output, error) { return &results{params: p}, nil }

func (r *results) Description() string { return "naive" }

func (r *results) Start() error {
	l := theLoad
	if l == nil {
		return errors.New("naive: the script loads nothing")
	}
	driver, err := broker.Lookup(l.plan.Broker)
	if err != nil {
		return err
	}
	l.session, err = driver(broker.Options{
		URL: r.params.Environment["MQBENCH_URL"], Connections: 1, MessageBytes: l.plan.Bytes, TimeoutNs: int64(10 * time.Second),
		Now: l.clock.Now, OnError: func(error) {},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := l.session.Open(ctx); err != nil {
		return err
	}
	if err := l.session.Prepare(ctx, []broker.Topic{{Name: "naive", Partitions: 1}}); err != nil {
		return err
	}
	if err := l.session.Consume(ctx, broker.Subscription{Topic: "naive", Members: 1}, l.receive); err != nil {
		return err
	}
	l.out, err = l.session.Producer(0)
	return err
}

func (r *results) AddMetricSamples(containers []metrics.SampleContainer) {
	for _, c := range containers {
		for _, s := range c.GetSamples() {
			if s.Metric.Name == metrics.DroppedIterationsName {
				r.dropped += int64(s.Value)
			}
		}
	}
}

func (r *results) Stop() error {
	l := theLoad
	used := cpu() - l.cpuNs
	time.Sleep(200 * time.Millisecond) // the last messages
	l.mu.Lock()
	defer l.mu.Unlock()
	quantiles := func(h *hdr.Histogram) map[string]int64 {
		return map[string]int64{"p50": h.ValueAtPercentile(50), "p90": h.ValueAtPercentile(90), "p99": h.ValueAtPercentile(99), "count": h.TotalCount()}
	}
	text, err := json.Marshal(map[string]any{
		"lag": quantiles(l.lag), "response": quantiles(l.response), "sent": l.sent.Load(), "received": l.received.Load(),
		"dropped": r.dropped, "cpuNs": used,
	})
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(r.params.ConfigArgument, text, 0o600), l.session.Close())
}

func cpu() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}
