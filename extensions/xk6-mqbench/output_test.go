//go:build unix

package mqbench

import (
	"bytes"
	"context"
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
	"go.k6.io/k6/v2/output"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/generator"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// mirror is a system that delivers what it is sent, at once.
type mirror struct {
	mu     sync.Mutex
	events []string
	handle broker.Handler
	o      broker.Options
	// opening blocks Open until its context ends.
	opening bool
}

func (m *mirror) note(event string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, event)
}

func (m *mirror) Open(ctx context.Context) error {
	m.note("open")
	if m.opening {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}
func (m *mirror) Prepare(context.Context, broker.Layout) error { m.note("prepare"); return nil }
func (m *mirror) Remove(context.Context) error                 { m.note("remove"); return nil }
func (m *mirror) Close() error                                 { m.note("close"); return nil }
func (m *mirror) Producer(int) (broker.Producer, error)        { return m, nil }
func (m *mirror) Describe() broker.Description {
	return broker.Description{Order: "none", Inline: true, Library: "mirror", Server: "mirror", Settings: map[string]string{}}
}
func (m *mirror) Consume(_ context.Context, _ broker.Subscription, handle broker.Handler) error {
	m.handle = handle
	return nil
}
func (m *mirror) Send(message *broker.Message, done broker.Done) {
	m.handle(broker.Delivery{ReceivedNs: m.o.Now(), Payload: message.Payload})
	done(message, 0, nil)
}

var mirrors int

// k6Side is the output as k6 has it, with a plan that the script has loaded.
type k6Side struct {
	t      *testing.T
	out    *resultsOutput
	load   *load
	system *mirror
	folder string
	say    io.WriteCloser
	told   *lines
	ended  chan error
}

type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// loaded makes the plan of so many clients and the output of a k6 with these segments and this environment.
func loaded(t *testing.T, clients int, segment, sequence string, environment ...string) *k6Side {
	t.Helper()
	mirrors++
	k := &k6Side{t: t, system: &mirror{}, folder: t.TempDir(), told: &lines{}, ended: make(chan error, 4)}
	name := fmt.Sprintf("mirror-%d", mirrors)
	broker.Register(name, func(o broker.Options) (broker.Session, error) { k.system.o = o; return k.system, nil })
	text := fmt.Sprintf(`{"schema":1,"runNumber":1,"broker":%q,"urlEnv":"U","driverOptions":{},"pattern":"round-trip",
		"schedule":{"kind":"constant","rate":{"messages":1000,"perNs":1000000000},"warmupNs":0,"durationNs":200000000,"warmupMessages":0,"messages":200},
		"drainNs":1000000000,"timeoutNs":1,"inFlight":null,"connections":2,"producers":2,"topics":["a","b"],
		"message":{"bytes":64,"payload":"random","seed":1,"checksum":false},"limits":[],
		"heartbeat":{"slotsPerSecond":%d},"client":{"index":0,"count":%d}}`, name, 100*clients, clients)
	plan, err := generator.ParsePlan([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	k.load = &load{plan: plan, meter: meter{out: &script.Metrics{}}}
	in, say := io.Pipe()
	k.say = say
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	params := output.Params{
		ConfigArgument: filepath.Join(k.folder, "client-0"), Environment: map[string]string{}, StdOut: k.told, Logger: logger,
		ScriptOptions: segments(t, segment, sequence),
	}
	for _, name := range environment {
		params.Environment[name] = "1"
	}
	root := &rootModule{loads: []*load{k.load}}
	out, err := root.newOutput(params)
	if err != nil {
		t.Fatal(err)
	}
	k.out = out.(*resultsOutput)
	k.out.input = in
	k.out.SetTestRunStopCallback(func(err error) { k.ended <- err })
	return k
}

// starting calls Start, which may block.
func (k *k6Side) starting() chan error {
	started := make(chan error, 1)
	go func() { started <- k.out.Start() }()
	return started
}

func (k *k6Side) line(line string) {
	k.t.Helper()
	if _, err := io.WriteString(k.say, line+"\n"); err != nil {
		k.t.Fatal(err)
	}
}

func (k *k6Side) await(words string) {
	k.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(k.told.String(), words); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			k.t.Fatalf("it does not say %q: %s", words, k.told.String())
		}
	}
}

// gone fails unless nothing is left on the broker and in the folder.
func (k *k6Side) gone() {
	k.t.Helper()
	if files, err := os.ReadDir(k.folder); err != nil || len(files) != 0 {
		k.t.Errorf("%v (%v) is left", files, err)
	}
	k.system.mu.Lock()
	defer k.system.mu.Unlock()
	if events := strings.Join(k.system.events, " "); events != "open prepare remove close" && events != "open close" {
		k.t.Errorf("on the broker: %s", events)
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

const half, halves = "0:1/2", "0,1/2,1"

func TestACoordinatedRunBeginsAtTheT0ThatItIsTold(t *testing.T) {
	k := loaded(t, 2, half, halves, coordinatedEnv)
	started := k.starting()
	k.await(`"ready"`)
	select {
	case err := <-started:
		t.Fatalf("it started before T0 was known: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	t0 := time.Now().Add(300 * time.Millisecond)
	k.line(fmt.Sprintf(`{"t0UnixNs":"%d"}`, t0.UnixNano()))
	if err := within(t, started); err != nil {
		t.Fatal(err)
	}
	go func() {
		for isRunning := true; isRunning; isRunning = !strings.Contains(k.told.String(), `"end"`) {
			go func() { _ = k.load.generator.Slot(context.Background()) }()
			time.Sleep(10 * time.Millisecond)
		}
	}()
	k.await(fmt.Sprintf(`"t0UnixNs":"%d"`, t0.UnixNano()))
	k.await(`"settled"`)
	k.line(`{"close":true}`) // it has by itself
	k.line(`{"finish":true}`)
	if err := within(t, k.ended); err != nil {
		t.Errorf("k6's test ends with %v; want no reason", err)
	}
	if err := k.out.Stop(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(k.folder, "client-0.jsonl"))
	if err != nil || !strings.Contains(string(text), `"intended":100,`) || !strings.Contains(string(text), `"state":"complete"`) {
		t.Errorf("%v: %s; want a complete run of half the messages", err, text)
	}
	k.await(`"mqbench":"end"`)
}

func TestTheEndOfTheInputBeforeT0EndsTheRunInOrder(t *testing.T) {
	k := loaded(t, 2, half, halves, coordinatedEnv)
	started := k.starting()
	k.await(`"ready"`)
	_ = k.say.Close()
	if err := within(t, started); err == nil || !strings.Contains(err.Error(), "standard input ended before T0") {
		t.Errorf("%v; want words on the input's end", err)
	}
	k.gone()
}

func TestASignalBeforeT0EndsTheRunInOrder(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		k := loaded(t, 2, half, halves, coordinatedEnv)
		started := k.starting()
		k.await(`"ready"`)
		_ = syscall.Kill(os.Getpid(), s)
		k.wasStopped(within(t, started))
		k.gone()
	}
}

func TestASignalWhileItConnectsEndsTheRunInOrder(t *testing.T) {
	k := loaded(t, 1, "", "")
	k.system.opening = true
	started := k.starting()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		k.system.mu.Lock()
		opening := len(k.system.events) > 0
		k.system.mu.Unlock()
		if opening {
			break
		}
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	k.wasStopped(within(t, started))
	k.gone()
}

// k6 itself catches signals only some time after its outputs have started.
func TestASignalBetweenStartAndTheFirstSlotStopsK6(t *testing.T) {
	k := loaded(t, 1, "", "")
	if err := within(t, k.starting()); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	k.wasStopped(within(t, k.ended))
	if err := k.out.Stop(); err != nil {
		t.Error(err)
	}
	k.gone()
}

func TestALocalClientAnswersQuestionsAndWaitsForNothing(t *testing.T) {
	k := loaded(t, 1, "", "", controlEnv)
	if err := within(t, k.starting()); err != nil {
		t.Fatal(err)
	}
	k.line(`{"ask":"leader","id":12}`)
	k.await(`{"id":12,"mqbench":"leader","node":null}`)
	_ = k.say.Close()
	if err := k.out.Stop(); err != nil {
		t.Error(err)
	}
	k.gone()
}

func TestAScriptByHandNeedsNoInput(t *testing.T) {
	k := loaded(t, 1, "", "")
	if err := within(t, k.starting()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(k.told.String(), "ready") {
		t.Errorf("it says %s", k.told.String())
	}
	_ = k.out.Stop()
	k.gone()
}

func TestSeveralClientsWithoutACoordinatorAreRefused(t *testing.T) {
	for _, c := range []struct {
		words             string
		clients           int
		segment, sequence string
		environment       []string
		want              string
	}{
		{"nobody hands out T0", 2, half, halves, nil, "2 clients need one T0: set MQBENCH_COORDINATED=1"},
		{"no segments", 2, "", "", []string{coordinatedEnv}, "for 2 clients, k6's execution segment makes this one of 1"},
		{"segments of a plan for one", 1, half, halves, []string{coordinatedEnv}, "for 1 client, k6's execution segment makes this one of 2"},
		{"unequal segments", 2, "0:1/3", "0,1/3,1", []string{coordinatedEnv}, "not equal parts"},
	} {
		k := loaded(t, c.clients, c.segment, c.sequence, c.environment...)
		if err := within(t, k.starting()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want words with %q", c.words, err, c.want)
		}
		if len(k.system.events) != 0 {
			t.Errorf("%s: the broker was asked for %q", c.words, k.system.events)
		}
	}
}

// wasStopped: k6 takes the error for an abort from outside.
func (k *k6Side) wasStopped(err error) {
	k.t.Helper()
	var code errext.HasExitCode
	if err == nil || !strings.Contains(err.Error(), "stopped by a signal") || !errors.As(err, &code) || code.ExitCode() != exitcodes.ExternalAbort {
		k.t.Errorf("%v; want an abort from outside", err)
	}
}
