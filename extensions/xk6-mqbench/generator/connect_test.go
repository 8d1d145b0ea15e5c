package generator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// porter is a stub whose connections come and go.
type porter struct {
	*session
	// dial is the login of connection n, greet its subscription; nil ones take no time.
	dial, greet func(ctx context.Context, n int64) error
	// silent connections get no message.
	silent func(n int64) bool

	dialling, open flight
	mu             sync.Mutex
	closed         []int64
	// dialNs and greetNs are how long the calls really took.
	dialNs, greetNs atomic.Int64
}

type caller struct {
	*porter
	n    int64
	gone atomic.Bool
}

func (p *porter) Dial(ctx context.Context, n int64) (broker.Connection, error) {
	p.dialling.add(1)
	defer p.dialling.add(-1)
	began := p.o.Now()
	if p.dial != nil {
		if err := p.dial(ctx, n); err != nil {
			return nil, err
		}
	}
	p.dialNs.Add(p.o.Now() - began)
	p.open.add(1)
	return &caller{porter: p, n: n}, nil
}

func (c *caller) Greet(ctx context.Context, m *broker.Message, handle broker.Handler) error {
	if c.n != m.Index || m.Own() != fmt.Sprintf("a.%d", m.Index) {
		return fmt.Errorf("connection %d is to send message %d to %s", c.n, m.Index, m.Own())
	}
	began := c.o.Now()
	if c.greet != nil {
		if err := c.greet(ctx, c.n); err != nil {
			return err
		}
	}
	c.greetNs.Add(c.o.Now() - began)
	if c.silent == nil || !c.silent(c.n) {
		go handle(broker.Delivery{ReceivedNs: c.o.Now(), Payload: m.Payload})
	}
	return nil
}

func (c *caller) Gone() bool { return c.gone.Load() }

func (c *caller) Close() {
	c.open.add(-1)
	c.porter.mu.Lock()
	defer c.porter.mu.Unlock()
	c.closed = append(c.closed, c.n)
}

// door is a stub with a porter that is set up so.
func door(set *porter) (*stub, func() *porter) {
	var made *porter
	s := &stub{wrap: func(one *session) broker.Session {
		made = &porter{session: one, dial: set.dial, greet: set.greet, silent: set.silent}
		return made
	}}
	return s, func() *porter { return made }
}

// failing fails the calls that are hit.
func failing(err error, hit func(n int64) bool) func(context.Context, int64) error {
	return func(_ context.Context, n int64) error { return map[bool]error{true: err}[hit(n)] }
}

func connectPlan(hold int, p *Plan) *Plan {
	p.Pattern, p.Acks, p.Hold = connect, true, hold
	if p.InFlight == 0 {
		p.InFlight = 1000
	}
	return p
}

// connections is the end of the line of totals about them.
func (m *measured) connections(opened, held, closed, gone int64) {
	m.t.Helper()
	want := fmt.Sprintf(`{"closed":%d,"gone":%d,"held":%d,"opened":%d}`, closed, gone, held, opened)
	if got := m.counts["connections"]; got != want {
		m.t.Errorf("connections %s; want %s", got, want)
	}
}

func TestConnectionsThatComeAndGoAddUp(t *testing.T) {
	p := connectPlan(50, testPlan(200, 1000))
	p.Schedule.WarmupNs = 500 * ms
	complete(p)
	s, made := door(&porter{
		dial: failing(errRefused, every(10, 3)), greet: failing(errNever, every(10, 4)), silent: only(295),
	})
	p.TimeoutNs = 300 * ms
	m := measure(t, p, s, nil)
	// 300 are intended, a tenth is refused, another one hangs up at its subscription, one gets nothing; the newest 50 are held.
	m.has("state complete warmup.sent 100 warmup.failed 20 warmup.acked 80 sent 200 failed 40 acked 160 received 159 lost 1 unknown 0 notOffered 0 #ack 160 #response 159")
	m.connections(240, 50, 190, 0)
	d := made()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open.now != 0 || d.open.highest < 50 || len(d.closed) != 270 {
		t.Errorf("%d are open at the end, at most %d were, %d were closed; want 0, 50 or more, 270", d.open.now, d.open.highest, len(d.closed))
	}
	if last := d.closed[len(d.closed)-50:]; slices.Min(last) < 200 {
		t.Errorf("%v were held to the end; want the newest", last)
	}
	if events := strings.Join(s.events, ", "); events != "make 0 topics, remove topics, close" {
		t.Errorf("%s", events)
	}
}

func TestAStormOpensAsManyAtOnceAsInFlightAllows(t *testing.T) {
	s, made := door(&porter{dial: func(context.Context, int64) error { time.Sleep(2 * time.Millisecond); return nil }})
	m := measure(t, connectPlan(3000, closedPlan(3000, 20)), s, nil)
	m.has("state complete sent 3000 acked 3000 received 3000 lost 0 failed 0")
	m.connections(3000, 3000, 0, 0)
	if d := made(); d.open.highest != 3000 || d.dialling.highest > 20 || d.open.now != 0 {
		t.Errorf("%d open at most, %d dialling, %d left; want 3000, 20, 0", d.open.highest, d.dialling.highest, d.open.now)
	}
}

func TestTheTimeToConnectAndToTheFirstMessageAreTheServersOwn(t *testing.T) {
	wait := func(d time.Duration) func(context.Context, int64) error {
		return func(context.Context, int64) error { time.Sleep(d); return nil }
	}
	var said string
	for range 5 { // a busy machine gets several tries
		s, made := door(&porter{dial: wait(40 * time.Millisecond), greet: wait(60 * time.Millisecond)})
		m := measure(t, connectPlan(0, testPlan(200, 500)), s, nil)
		m.has("received 100 failed 0")
		ack, service, response := m.metrics["ack"].Sum, m.metrics["service"].Sum, m.metrics["response"].Sum
		lag, queued := m.metrics["lag"].Sum, m.metrics["queued"].Sum
		dial, both := made().dialNs.Load(), made().dialNs.Load()+made().greetNs.Load()
		if ack < dial || service < both || response != service+lag+queued {
			t.Fatalf("connected after %d ns, served in %d; the server took %d and %d", ack, service, dial, both)
		}
		if said = fmt.Sprintf("ack %d, of the server %d; service %d, of the server %d", ack-lag-queued, dial, service, both); ack-lag-queued <= dial*101/100 && service <= both*101/100 {
			return
		}
	}
	t.Errorf("not within 1 %%: %s", said)
}

func TestAnAttemptIsGivenUpAtItsTimeoutAndAtTheEndOfTheRun(t *testing.T) {
	hang := func(ctx context.Context, n int64) error {
		if n%2 == 1 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
	p := connectPlan(10, gated(5, testPlan(100, 500)))
	p.TimeoutNs = 100 * ms
	s, made := door(&porter{dial: hang})
	m := measure(t, p, s, nil)
	m.has("state complete sent 50 failed 25 acked 25 received 25 unknown 0")
	m.connections(25, 10, 15, 0)
	if e := m.totals.Errors; len(e) != 1 || e[0].Message != "no connection within 100ms" || e[0].Count != 25 {
		t.Errorf("errors %+v", e)
	}
	if made().dialling.highest > 7 { // a slot is free a little before its attempt has ended
		t.Errorf("%d attempts at once; want about 5", made().dialling.highest)
	}

	ctx, cancel := context.WithCancel(t.Context())
	s, made = door(&porter{dial: func(attempt context.Context, n int64) error {
		if n == 30 {
			cancel()
		}
		return hang(attempt, n)
	}})
	s.ctx = ctx
	m = measure(t, connectPlan(10, testPlan(100, 1000)), s, nil)
	m.has("state interrupted failed 0 lost 0")
	if m.window.Unknown == 0 || made().open.now != 0 || made().dialling.now != 0 {
		t.Errorf("%d unknown, %d open, %d dialling; want some, none, none", m.window.Unknown, made().open.now, made().dialling.now)
	}
}

func TestConnectionsThatTheServerEndsAreGoneAndThatThisMachineCannotOpenAreNotTheServersFault(t *testing.T) {
	s, made := door(&porter{dial: func(_ context.Context, n int64) error {
		return broker.Wrap("stub", map[int64]error{1: syscall.EADDRNOTAVAIL, 2: syscall.EMFILE}[n%10])
	}})
	p := connectPlan(1000, testPlan(100, 1000))
	c := openClients(t, p, s)
	g := c.generators[0]
	c.beat()
	<-g.paced
	g.opener.mu.Lock()
	for _, one := range g.opener.held[:20] {
		one.(*caller).gone.Store(true)
	}
	g.opener.mu.Unlock()
	m := c.close()[0]
	m.check(c.plan)
	m.has("sent 100 failed 20 acked 80 clientDropped 20")
	m.connections(80, 60, 0, 20)
	if e := m.totals.Errors; len(e) != 2 || !strings.Contains(e[0].Message+e[1].Message, "this machine has no free port for another connection") {
		t.Errorf("errors %+v", e)
	}
	if made().open.now != 0 {
		t.Errorf("%d are open at the end", made().open.now)
	}
}

func TestEachClientOpensAndHoldsItsPart(t *testing.T) {
	p := connectPlan(7, testPlan(200, 1000))
	p.Connections, p.Producers, p.Topics = 2, 2, []string{"a"}
	var mu sync.Mutex
	dialled := map[int64]int{}
	s, _ := door(&porter{dial: func(_ context.Context, n int64) error {
		mu.Lock()
		defer mu.Unlock()
		dialled[n]++
		return nil
	}})
	c := openClients(t, of(2, p), s)
	c.start(200 * time.Millisecond)
	c.coordinate()
	all := c.close()
	for i, held := range []int64{4, 3} {
		all[i].has("sent 100 acked 100 received 100")
		all[i].connections(100, held, 100-held, 0)
	}
	if len(dialled) != 200 {
		t.Errorf("%d different connections; want 200, each once", len(dialled))
	}
}

func TestMoreConnectionsThanThisMachineCanHoldAreRefusedBeforeTheFirst(t *testing.T) {
	files, ports := fileLimit, portRange
	defer func() { fileLimit, portRange = files, ports }()
	s, _ := door(&porter{})
	for _, c := range []struct {
		files, ports int64
		plan         *Plan
		stub         *stub
		want         string
	}{
		{1024, 30000, connectPlan(5000, gated(100, testPlan(1000, 9000))), s, "5101 connections need at least 5133 open files, and this machine allows 1024 (ulimit -H -n); raise that limit, or use a smaller hold or inFlight"},
		{9e5, 5000, connectPlan(5000, gated(100, testPlan(1000, 9000))), s, "5100 connections need as many ports, and this machine has 5000 for this server"},
		{2000, 2000, connectPlan(5000, gated(100, testPlan(1000, 500))), s, ""}, // there are 500 of them
		{9e5, 30000, connectPlan(10, testPlan(100, 100)), &stub{}, "cannot open connections during a run"},
	} {
		fileLimit, portRange = func() int64 { return c.files }, func() int64 { return c.ports }
		g := generate(t, c.plan, c.stub)
		err := g.Open(t.Context(), t.TempDir()+"/x", nil, nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open says %v; want %q", err, c.want)
		}
		if err == nil {
			if err := errors.Join(g.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	if n := portRange(); n < 1 {
		t.Errorf("%d ports", n)
	}
}
