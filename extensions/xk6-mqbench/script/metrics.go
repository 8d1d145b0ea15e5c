package script

import (
	"strings"
	"sync"
	"time"

	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/lib"
	"go.k6.io/k6/v2/metrics"
)

// Metrics are a module's, and go to k6 once a second, counters as their sum: so a call costs an addition, not a sample on k6's channel.
type Metrics struct {
	mu    sync.Mutex
	known map[string]*metrics.Metric
	sums  map[metrics.TimeSeries]float64
	rest  []metrics.Sample
	// out is nil until Meet.
	out chan<- metrics.SampleContainer
}

// contains is the value type of a metric, by the end of its name.
var contains = map[string]metrics.ValueType{
	"seconds": metrics.Time, "p50": metrics.Time, "p99": metrics.Time, "p999": metrics.Time, "max": metrics.Time, "bytes": metrics.Data,
}

// Declare registers metrics with k6, in the init context, where thresholds can use them.
func (m *Metrics) Declare(vu modules.VU, kind metrics.MetricType, names ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known, m.sums = map[string]*metrics.Metric{}, map[metrics.TimeSeries]float64{}
	}
	for _, name := range names {
		metric, err := vu.InitEnv().Registry.NewMetric(name, kind, contains[name[strings.LastIndex(name, "_")+1:]])
		if err != nil {
			return err
		}
		m.known[name] = metric
	}
	return nil
}

// Tags of the VU at the moment, for Add.
func Tags(state *lib.State) *metrics.TagSet { return state.Tags.GetCurrentValues().Tags }

// Meet notes where samples go; all counters begin there with 0, with the VU's tags and these, because a threshold must find them. Only the
// first call counts.
func (m *Metrics) Meet(state *lib.State, with map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.out != nil {
		return
	}
	m.out = state.Samples
	tags := Tags(state).WithTagsFromMap(with)
	for _, metric := range m.known {
		if metric.Type == metrics.Counter {
			m.sums[metrics.TimeSeries{Metric: metric, Tags: tags}] += 0
		}
	}
}

// Add counts a value, with tags of Tags; of a trend in k6's unit, milliseconds for times.
func (m *Metrics) Add(name string, tags *metrics.TagSet, value float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	series := metrics.TimeSeries{Metric: m.known[name], Tags: tags}
	if series.Metric.Type == metrics.Counter {
		m.sums[series] += value
		return
	}
	m.rest = append(m.rest, metrics.Sample{TimeSeries: series, Time: time.Now(), Value: value})
}

// --- internal ---

// flush sends the samples since the last time. One goroutine calls it, and not when the test is over: k6 closes its channel.
func (m *Metrics) flush() {
	m.mu.Lock()
	out, samples, now := m.out, metrics.Samples(m.rest), time.Now()
	for series, sum := range m.sums {
		samples = append(samples, metrics.Sample{TimeSeries: series, Time: now, Value: sum})
	}
	m.rest = nil
	clear(m.sums)
	m.mu.Unlock()
	if out != nil && len(samples) > 0 {
		out <- samples
	}
}
