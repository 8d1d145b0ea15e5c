package generator

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// crowd confirms no subscription before several are on their way.
type crowd struct {
	*stub
	mu     sync.Mutex
	inside int
	enough chan struct{}
}

const together = 4

func (c *crowd) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	c.mu.Lock()
	if c.inside++; c.inside == together {
		close(c.enough)
	}
	c.mu.Unlock()
	select {
	case <-c.enough:
	case <-time.After(10 * time.Second):
		return errors.New("the others wait for this one")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stub.Consume(ctx, to, handle)
}

func TestSubscriptionsAreMadeAtOnceWhereTheDriverTakesThat(t *testing.T) {
	p := fanOutPlan(1000, 200, 5)
	p.Bystanders = 100
	c := &crowd{stub: &stub{}, enough: make(chan struct{})}
	m := measureDriver(t, p, func(o broker.Options) (broker.Session, error) {
		_, err := c.driver(o)
		return c, err
	})
	if *m.window.Received != 1000 || len(c.subscriptions) != 110 {
		t.Errorf("received %d by %d subscriptions; want 1000 by 110", *m.window.Received, len(c.subscriptions))
	}
}

func TestTheTimeForSettingUpGrowsWithWhatIsMade(t *testing.T) {
	// runner/model/plan.test.ts has the same figures.
	for name, want := range map[string]time.Duration{
		"quickstart": 30400 * time.Millisecond, "fan-out": 55100 * time.Millisecond, "three-clients": 32400 * time.Millisecond,
	} {
		text, err := os.ReadFile("../../../runner/script/golden/" + name + "/plan.json")
		if err != nil {
			t.Fatal(err)
		}
		p, err := ParsePlan(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.SetUpTimeout(); got != want {
			t.Errorf("%s: %s; want %s", name, got, want)
		}
	}
	p := fanOutPlan(1000, 1000, 5)
	p.Bystanders = 1000
	if got := p.SetUpTimeout(); got < 3*time.Minute || p.leaveTimeout() < 20*time.Second {
		t.Errorf("1000 bystanders: %s to set up, %s to leave; want minutes, and 20 s", got, p.leaveTimeout())
	}
}
