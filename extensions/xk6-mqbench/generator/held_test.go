package generator

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// holding is a stub whose client library counts what waits for its handlers.
type holding struct{ *stub }

func (h holding) driver(o broker.Options) (broker.Session, error) {
	_, err := h.stub.driver(o)
	return h, err
}

func (h holding) Held() (n int64, known bool) {
	for _, sub := range h.subscriptions {
		n += int64(len(sub.queue))
	}
	return n, true
}

// held are all samples of a run; nil if one second has none.
func (m *measured) held() (all []int64) {
	m.t.Helper()
	for _, tick := range m.ticks {
		some := samples(m.t, tick.Held)
		if some == nil {
			return nil
		}
		all = append(all, some...)
	}
	return all
}

func samples(t *testing.T, held json.RawMessage) (some []int64) {
	t.Helper()
	if err := json.Unmarshal(held, &some); err != nil {
		t.Fatalf("held is %q: %v", held, err)
	}
	return some
}

func TestWhatWaitsInTheClientLibraryIsCountedTenTimesASecond(t *testing.T) {
	var stopped nap
	// A second that is over is reported: the third one is not.
	m := measure(t, testPlan(1000, 2300), holding{&stub{receive: func(_ string, i int64) {
		if i == 500 {
			stopped.take(500 * time.Millisecond)
		}
	}}}, nil)
	held := m.held()
	// Three is what a machine that is busy with others leaves of them; once a second would be two.
	if len(held) < 3 || len(held) > 25 {
		t.Fatalf("%d samples in 2 s; want ten a second: %v", len(held), held)
	}
	if most := slices.Max(held); most < 100 || most > stopped.ms()+1000 {
		t.Errorf("at most %d messages waited behind a handler that took %d ms at 1000/s", most, stopped.ms())
	}
	if held[len(held)-1] != 0 {
		t.Errorf("held after the stop: %v", held)
	}
}

func TestADriverThatDoesNotCountWhatWaitsSaysSo(t *testing.T) {
	m := measure(t, testPlan(1000, 1200), &stub{}, nil)
	if m.held() != nil {
		t.Errorf("held is %s", m.ticks[0].Held)
	}
	p := testPlan(1000, 1200)
	p.Pattern, p.Acks = publish, true
	if m = measure(t, p, holding{&stub{acks: true}}, nil); m.ticks[0].Held != nil {
		t.Errorf("nobody receives, and held is %s", m.ticks[0].Held)
	}
}
