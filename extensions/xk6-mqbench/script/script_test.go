package script

import (
	"slices"
	"strings"
	"testing"

	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/metrics"
)

func TestBytesAreTakenInEveryFormThatScriptsHave(t *testing.T) {
	rt := sobek.New()
	if err := rt.Set("made", Uint8Array(rt, []byte{1, 2, 3})); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]byte{
		`"aä"`: {97, 0xc3, 0xa4},
		`""`:   {},
		`[]`:   {}, `[1, 2, 255]`: {1, 2, 255},
		`new Uint8Array([1, 2])`:                {1, 2},
		`new Uint8Array([1, 2, 3]).subarray(1)`: {2, 3},
		`new Uint8Array([1, 2]).buffer`:         {1, 2},
		`made instanceof Uint8Array && made`:    {1, 2, 3},
		`null`:                                  nil,
		`undefined`:                             nil,
	} {
		value, err := rt.RunString(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Bytes(rt, "it", value); err != nil || !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{`({ a: 1 })`, `7`, `["a"]`, `[256]`, `[0.5]`, `() => 1`} {
		value, err := rt.RunString(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Bytes(rt, "it", value); err == nil || !strings.HasPrefix(err.Error(), "it must be ") {
			t.Errorf("%s: %v, %v; want a sentence", text, got, err)
		}
	}
}

func TestCountersAreSumsOfASecondAndTrendsAreWhatCame(t *testing.T) {
	registry := metrics.NewRegistry()
	tags := registry.RootTagSet().With("scenario", "one")
	count, err := registry.NewMetric("count", metrics.Counter)
	if err != nil {
		t.Fatal(err)
	}
	trend, err := registry.NewMetric("took_seconds", metrics.Trend, metrics.Time)
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan metrics.SampleContainer, 10)
	m := Metrics{known: map[string]*metrics.Metric{"count": count, "took_seconds": trend}, sums: map[metrics.TimeSeries]float64{}, out: out}
	for i := range 100 {
		m.Add("count", tags, 2)
		m.Add("count", registry.RootTagSet(), 1)
		if i < 3 {
			m.Add("took_seconds", tags, float64(i))
		}
	}
	m.flush()
	m.Add("count", tags, 5)
	m.flush()
	m.flush()
	close(out)
	sums := map[metrics.TimeSeries]float64{}
	var took []float64
	containers := 0
	for container := range out {
		containers++
		for _, sample := range container.GetSamples() {
			if sample.Metric == trend {
				took = append(took, sample.Value)
			} else {
				sums[sample.TimeSeries] += sample.Value
			}
		}
	}
	if containers != 2 || sums[metrics.TimeSeries{Metric: count, Tags: tags}] != 205 ||
		sums[metrics.TimeSeries{Metric: count, Tags: registry.RootTagSet()}] != 100 || !slices.Equal(took, []float64{0, 1, 2}) {
		t.Errorf("%d containers, sums %v, trend %v", containers, sums, took)
	}
}
