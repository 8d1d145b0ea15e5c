package mqbench

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/lib"
	"go.k6.io/k6/v2/metrics"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/runner"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// meter gives k6 metrics of a load: it reads the generator's line of progress, one a second. The last sample of each is the window's figure.
type meter struct {
	out *script.Metrics
	// tags of all samples: system, case, pattern.
	tags map[string]string
	// latency is the name of the load's latencies: response, service or ack.
	latency string

	mu   sync.Mutex
	base *metrics.TagSet
	// failed and duplicated are the counts of the line before.
	failed, duplicated float64
}

// declare registers the metrics with k6, in the init context.
func (m *meter) declare(vu modules.VU) error {
	kinds := map[metrics.MetricType][]string{
		metrics.Counter: {"mqbench_sent", "mqbench_received", "mqbench_failed", "mqbench_lost", "mqbench_duplicated"},
		metrics.Gauge:   {"mqbench_in_flight", m.of("p50"), m.of("p99"), m.of("p999"), m.of("max"), "mqbench_lag_p99"},
		metrics.Rate:    {"mqbench_valid", "mqbench_sla"},
	}
	for kind, names := range kinds {
		if err := m.out.Declare(vu, kind, names...); err != nil {
			return err
		}
	}
	return nil
}

// meet notes the tags of the VU that claims the first slot: the scenario's tags are then on all samples.
func (m *meter) meet(state *lib.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.base == nil && state != nil {
		m.out.Meet(state, m.tags)
		m.base = script.Tags(state).WithTagsFromMap(m.tags)
	}
}

// Write takes a line of progress.
func (m *meter) Write(line []byte) (int, error) {
	var said struct {
		Mqbench                                      string
		Sent, Received, InFlight, Failed, Duplicated float64
		P50, P99, LagP99, WindowLagP99               *float64
		// Window has the figures of the window so far, ns.
		Window map[string]float64
	}
	if err := json.Unmarshal(bytes.TrimSpace(line), &said); err != nil {
		return len(line), nil //nolint:nilerr // a line that is not progress has no figures
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if said.Mqbench != "tick" && said.Mqbench != "end" {
		return len(line), nil
	}
	m.add("mqbench_sent", said.Sent)
	m.add("mqbench_received", said.Received)
	m.add("mqbench_failed", said.Failed-m.failed)
	m.add("mqbench_duplicated", said.Duplicated-m.duplicated)
	m.failed, m.duplicated = said.Failed, said.Duplicated
	m.add("mqbench_in_flight", said.InFlight)
	delete(said.Window, "count")
	lag := said.WindowLagP99
	if said.Mqbench == "tick" { // these are of the second
		lag = said.LagP99
		delete(said.Window, "p50")
		delete(said.Window, "p99")
		m.took(m.of("p50"), said.P50)
		m.took(m.of("p99"), said.P99)
	}
	m.took("mqbench_lag_p99", lag)
	m.window(said.Window)
	return len(line), nil
}

// judge adds the verdict of the run; nil means unknown.
func (m *meter) judge(judged *runner.Judged) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if judged == nil {
		m.add("mqbench_valid", 0)
		return
	}
	m.window(judged.Figures)
	if judged.Lost != nil {
		m.add("mqbench_lost", *judged.Lost)
	}
	m.add("mqbench_valid", met(slices.Contains([]string{"pass", "fail", "inconclusive"}, judged.Verdict)))
	for _, line := range judged.SLA {
		if m.base != nil {
			m.out.Add("mqbench_sla", m.base.With("sla", line.Line), met(line.Met))
		}
	}
}

// --- internal ---

func (m *meter) of(figure string) string { return "mqbench_" + m.latency + "_" + figure }

func (m *meter) window(ns map[string]float64) {
	for figure, value := range ns {
		m.took(m.of(figure), &value)
	}
}

func (m *meter) took(name string, ns *float64) {
	if ns != nil {
		m.add(name, metrics.D(time.Duration(*ns)))
	}
}

// add drops samples before the first slot: nothing has been sent.
func (m *meter) add(name string, value float64) {
	if m.base != nil {
		m.out.Add(name, m.base, value)
	}
}

func met(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// tagsOf a plan.
func tagsOf(plan []byte) map[string]string {
	var named struct{ System, Case, Pattern string }
	_ = json.Unmarshal(plan, &named) // it was read before
	tags := map[string]string{"pattern": named.Pattern}
	if named.System != "" {
		tags["system"], tags["case"] = named.System, named.Case
	}
	return tags
}
