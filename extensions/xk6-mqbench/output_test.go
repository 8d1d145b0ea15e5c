//go:build unix

package mqbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"go.k6.io/k6/v2/errext"
	"go.k6.io/k6/v2/errext/exitcodes"
	"go.k6.io/k6/v2/lib"
	"go.k6.io/k6/v2/output"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/generator"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// asked is a system that writes its calls among the client's own lines.
type asked struct{ k *k6Side }

func (a asked) Open(ctx context.Context) error {
	_ = a.note("open")
	if a.k.opening {
		<-ctx.Done()
	}
	return ctx.Err()
}
func (a asked) Prepare(context.Context, broker.Layout) error                       { return a.note("prepare") }
func (a asked) Remove(context.Context) error                                       { return a.note("remove") }
func (a asked) Close() error                                                       { return a.note("close") }
func (a asked) Producer(int) (broker.Producer, error)                              { return nil, nil }
func (a asked) Consume(context.Context, broker.Subscription, broker.Handler) error { return nil }
func (a asked) Describe() broker.Description {
	return broker.Description{Order: "none", Settings: map[string]string{}}
}

func (a asked) note(event string) error {
	_, err := fmt.Fprintln(a.k, event)
	return err
}

// k6Side is the output as k6 has it, with a plan that the script has loaded.
type k6Side struct {
	*resultsOutput
	t      *testing.T
	plan   *generator.Plan
	folder string
	say    io.Closer
	// opening is true if the system does not answer.
	opening bool
	// ended has the error that ended k6's test.
	ended chan error

	mu   sync.Mutex
	told bytes.Buffer
}

func (k *k6Side) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.told.Write(p)
}

func (k *k6Side) text() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.told.String()
}

// loaded makes the plan of this number of clients and the output of a k6 with these options and this environment.
func loaded(t *testing.T, clients int, segments string, environment ...string) *k6Side {
	t.Helper()
	k := &k6Side{t: t, folder: t.TempDir(), ended: make(chan error, 4)}
	name := "asked" + k.folder
	broker.Register(name, func(broker.Options) (broker.Session, error) { return asked{k}, nil })
	plan, err := generator.ParsePlan(fmt.Appendf(nil, `{"schema":1,"runNumber":1,"broker":%q,"urlEnv":"U","driverOptions":{},"pattern":"round-trip",
		"schedule":{"kind":"constant","rate":{"messages":1000,"perNs":1000000000},"warmupNs":0,"durationNs":200000000,"warmupMessages":0,"messages":200},
		"drainNs":1000000000,"timeoutNs":1,"inFlight":null,"connections":2,"producers":2,"topics":["a","b"],
		"message":{"bytes":64,"payload":"random","seed":1,"checksum":false},"limits":[],
		"heartbeat":{"slotsPerSecond":%d},"client":{"index":0,"count":%d}}`, name, 100*clients, clients))
	if err != nil {
		t.Fatal(err)
	}
	k.plan = plan
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	params := output.Params{
		ConfigArgument: filepath.Join(k.folder, "client-0"), Environment: map[string]string{}, StdOut: k, Logger: logger, ScriptOptions: options(t, segments),
	}
	for _, name := range environment {
		params.Environment[name] = "1"
	}
	root := &rootModule{loads: []*load{{plan: plan, meter: meter{out: &script.Metrics{}}}}}
	if _, err := root.newOutput(params); err != nil {
		t.Fatal(err)
	}
	k.resultsOutput = root.output
	k.input, k.say = io.Pipe()
	k.SetTestRunStopCallback(func(err error) { k.ended <- err })
	return k
}

// options of a k6.
func options(t *testing.T, text string) (o lib.Options) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// gone fails unless nothing is left on the broker and in the folder.
func (k *k6Side) gone() {
	k.t.Helper()
	if files, err := os.ReadDir(k.folder); err != nil || len(files) != 0 {
		k.t.Errorf("%v (%v) is left", files, err)
	}
	asked := ""
	for line := range strings.Lines(k.text()) {
		if line[0] != '{' {
			asked += line
		}
	}
	if asked != "open\nprepare\nremove\nclose\n" && asked != "open\nclose\n" {
		k.t.Errorf("the broker was asked to %s", asked)
	}
}

func within(t *testing.T, c chan error) error {
	t.Helper()
	select {
	case err := <-c:
		return err
	case <-time.After(15 * time.Second):
		t.Fatal("nothing comes")
		return nil
	}
}

const half = `{"executionSegment":"0:1/2","executionSegmentSequence":"0,1/2,1"}`

// k6 itself catches signals only some time after its outputs have started.
func TestWhatEndsARunBeforeItsFirstSlotLeavesNothing(t *testing.T) {
	signal := func(s syscall.Signal) func(*k6Side) { return func(*k6Side) { _ = syscall.Kill(os.Getpid(), s) } }
	for _, c := range []struct {
		words, until string
		stop         func(*k6Side)
		want         string
	}{
		{"the end of the input before T0", `"ready"`, func(k *k6Side) { _ = k.say.Close() }, "standard input ended before T0"},
		{"SIGINT before T0", `"ready"`, signal(syscall.SIGINT), "stopped by a signal"},
		{"SIGTERM before T0", `"ready"`, signal(syscall.SIGTERM), "stopped by a signal"},
		{"SIGINT while it connects", "open", signal(syscall.SIGINT), "stopped by a signal"},
		{"SIGINT when it has started", "", signal(syscall.SIGINT), "stopped by a signal"},
	} {
		k := loaded(t, 1, "{}", controlEnv)
		if c.until == `"ready"` {
			k = loaded(t, 2, half, coordinatedEnv)
		}
		k.opening = c.until == "open"
		ends := make(chan error, 1)
		go func() { ends <- k.Start() }()
		if c.until != "" {
			brokertest.Eventually(t, "it says "+c.until, func() bool { return strings.Contains(k.text(), c.until) })
		} else if err := within(t, ends); err != nil {
			t.Fatal(err)
		} else {
			ends = k.ended
		}
		c.stop(k)
		var code errext.HasExitCode
		if err := within(t, ends); err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &code) || code.ExitCode() != exitcodes.ExternalAbort {
			t.Errorf("%s: %v; want an abort from outside with %q", c.words, err, c.want)
		}
		if err := k.Stop(); err != nil {
			t.Errorf("%s: %v", c.words, err)
		}
		k.gone()
	}
}

func TestSeveralClientsWithoutACoordinatorAreRefused(t *testing.T) {
	for _, c := range []struct {
		words       string
		clients     int
		segments    string
		environment []string
		want        string
	}{
		{"nobody hands out T0", 2, half, nil, "2 clients need one T0: set MQBENCH_COORDINATED=1"},
		{"no segments", 2, "{}", []string{coordinatedEnv}, "for 2 clients, k6's execution segment makes this one of 1"},
		{"segments of a plan for one", 1, half, []string{coordinatedEnv}, "for 1 client, k6's execution segment makes this one of 2"},
	} {
		k := loaded(t, c.clients, c.segments, c.environment...)
		if err := k.Start(); err == nil || !strings.Contains(err.Error(), c.want) || k.text() != "" {
			t.Errorf("%s: %v, %q; want words with %q", c.words, err, k.text(), c.want)
		}
	}
}

func TestAClientIsAnEqualPartOfK6sSegments(t *testing.T) {
	for _, c := range []struct {
		segments     string
		index, count int
		wrong        string
	}{
		{`{}`, 0, 1, ""},
		{`{"executionSegment":"0:1"}`, 0, 1, ""},
		{`{"executionSegment":"1/2:1"}`, 1, 2, ""},
		{half, 0, 2, ""},
		{`{"executionSegment":"1/3:2/3","executionSegmentSequence":"0,1/3,2/3,1"}`, 1, 3, ""},
		{`{"executionSegment":"6/7:1","executionSegmentSequence":"0,1/7,2/7,3/7,4/7,5/7,6/7,1"}`, 6, 7, ""},
		{`{"executionSegment":"0:1/4","executionSegmentSequence":"0,1/4,1"}`, 0, 0, "not equal parts"},
		{`{"executionSegment":"0:1/4"}`, 0, 0, "not equal parts"},
		{`{"executionSegment":"0:1/3","executionSegmentSequence":"0,1/2,1"}`, 0, 0, "not in its sequence"},
	} {
		index, count, err := clientOf(options(t, c.segments))
		if index != c.index || count != c.count || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: client %d of %d (%v); want %d of %d %s", c.segments, index, count, err, c.index, c.count, c.wrong)
		}
	}
}

func TestThePayloadFileOfAClientElsewhereIsWhereTheEnvironmentSays(t *testing.T) {
	k := loaded(t, 1, "{}")
	k.plan.Message.Kind, k.plan.Message.File = "file", "/nowhere/payload.bin"
	if err := k.Start(); err == nil || !strings.Contains(err.Error(), "/nowhere/payload.bin") {
		t.Fatalf("%v; want that there is no /nowhere/payload.bin", err)
	}
	k.params.Environment[payloadEnv] = "output_test.go"
	if err := errors.Join(k.Start(), k.Stop()); err != nil {
		t.Fatal(err)
	}
	k.gone()
}
