package mqbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/sirupsen/logrus"
	"go.k6.io/k6/v2/errext"
	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/lib"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/generator"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/runner"
)

// load is a plan and its run. An output opens it, or k6's events do; the first of them calls Close.
type load struct {
	// name is its name for VUs.
	name string
	plan *generator.Plan
	text string
	// words plans and judges; nil if nothing does.
	words *runner.Runner
	// staged is nil until there is a folder for the run.
	staged *runner.Staged
	// folder of the run's files, where an output has opened it.
	folder  string
	env     map[string]string
	logger  logrus.FieldLogger
	meter   meter
	ballast []byte
	// close ends the run in any state, and writes its results; both are nil until it is open.
	close     func() error
	generator *generator.Generator

	// mu guards the fields below.
	mu sync.Mutex
	// failed is why it is not open, or not judged.
	failed error
	judged *runner.Judged
}

// open makes and opens the generator: for a plan, which may be one client's part of the load's plan, with results at base and a line of
// progress a second. After an error or when ctx ends nothing is left on the broker and in the folder.
func (l *load) open(ctx context.Context, plan *generator.Plan, url, base string, progress io.Writer) error {
	g, err := generator.New(plan, url)
	if err != nil {
		return err
	}
	l.ballast = make([]byte, ballastBytes)
	ctx, cancel := context.WithTimeout(ctx, plan.SetUpTimeout())
	defer cancel()
	versions := map[string]string{"k6": broker.LibraryVersion("go.k6.io/k6/v2"), "mqbench": Version}
	if err := g.Open(ctx, base, io.MultiWriter(progress, &l.meter), versions); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("not ready within %s: %w", plan.SetUpTimeout(), err)
		}
		return fmt.Errorf("open %s: %w", plan.Broker, err)
	}
	l.generator, l.close = g, sync.OnceValue(g.Close)
	return nil
}

// slot is an iteration of a VU. Where the load could not be opened it ends k6's test.
func (l *load) slot(vu modules.VU) error {
	state := vu.State()
	if state == nil {
		return errors.New("mqbench: slot() is an iteration: call it in the function that k6 runs, not at the top of the script")
	}
	l.mu.Lock()
	if _, clients, err := clientOf(state.Options); l.staged != nil && (clients != 1 || err != nil) {
		l.failed = errors.New("mqbench: this k6 is one of several (--execution-segment), and each of them would make the whole load; several clients are for mqbench on the command line")
	}
	failed := l.failed
	l.mu.Unlock()
	if failed == nil && l.generator == nil {
		failed = errors.New("the run is not open: start k6 with --out mqbench=<path of the results>, or use the k6 that `npx mqbench build` makes")
	}
	if failed != nil {
		vu.Runtime().Interrupt(&errext.InterruptError{Reason: failed.Error()})
		return nil
	}
	l.meter.meet(state)
	return l.generator.Slot(vu.Context())
}

// start opens the load when k6's test begins, before it has VUs.
func (l *load) start() {
	signalled, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	err := l.stage(signalled)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
}

// end closes the load when k6's test has ended, and has it judged. Without a judgement it is not valid; state is any VU's, for the metric
// that shows it.
func (l *load) end(state *lib.State) {
	if l.generator == nil {
		return
	}
	if err := l.close(); err != nil {
		l.logger.WithError(err).Error("mqbench: the results are not complete")
	}
	if l.words == nil || l.plan.Client.Count > 1 {
		return
	}
	if l.staged == nil {
		judged, err := l.words.Run(l.folder)
		if err != nil {
			l.logger.WithError(err).Error("mqbench: no verdict for k6's outputs")
		}
		l.meter.judge(judged)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	judged, err := l.judge()
	l.judged = judged
	if l.failed == nil && err != nil {
		l.failed = fmt.Errorf("mqbench: %w", err)
	}
	l.meter.meet(state)
	l.meter.judge(judged)
	says := l.logger.WithField("results", l.staged.Folder)
	switch {
	case err != nil:
		says.WithError(err).Error("mqbench: " + l.title() + ": no result")
	case judged.Verdict == "pass":
		says.Info("mqbench: " + l.title() + ": PASS")
	default:
		says.Error("mqbench: " + l.title() + ": " + strings.ToUpper(judged.Verdict) + ": " + judged.Reason)
	}
}

// result is the outcome of the run, once k6's test has ended.
func (l *load) result() (*runner.Judged, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.judged != nil:
		return l.judged, nil
	case l.failed != nil:
		return nil, l.failed
	}
	return nil, errors.New("mqbench: there is a result when the test has ended, for handleSummary")
}

// --- internal ---

// stage makes the folder of the run, and opens it there.
func (l *load) stage(signalled context.Context) (err error) {
	if l.words == nil {
		return nil
	}
	if l.staged == nil {
		if l.staged, err = l.words.Load(l.text); err != nil {
			return err
		}
	}
	url := l.env[l.plan.URLEnv]
	if l.staged.URL != nil {
		url = *l.staged.URL
	} else if url == "" {
		return fmt.Errorf("mqbench: where is the broker? Set %s to its URL", l.plan.URLEnv)
	}
	plan, err := l.plan.Take(0, 1)
	if err != nil {
		return err
	}
	run := filepath.Join(l.staged.Folder, l.staged.Run)
	if err = os.MkdirAll(run, 0o755); err == nil { //nolint:gosec // a report is for others too
		err = l.write(l.staged.Files)
	}
	if err == nil {
		err = l.open(signalled, plan, url, filepath.Join(run, "client-0"), io.Discard)
	}
	if err != nil {
		_ = os.RemoveAll(l.staged.Folder)
		return fmt.Errorf("mqbench: %w", err)
	}
	return nil
}

func (l *load) judge() (*runner.Judged, error) {
	select {
	case <-l.generator.Started():
	default:
		_ = os.RemoveAll(l.staged.Folder)
		if l.failed != nil {
			return nil, l.failed
		}
		return nil, errors.New("it never began: no scenario of the script has called its slot()")
	}
	judged, err := l.words.Result(l.staged.Folder)
	if err != nil {
		return nil, err
	}
	if err := l.write(judged.Files); err != nil {
		return judged, err
	}
	return judged, l.write(map[string]string{"result.json": judged.JSON})
}

// write puts files into the existing folders of results.
func (l *load) write(files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(l.staged.Folder, name), []byte(text), 0o644); err != nil { //nolint:gosec // a report is for others too
			return err
		}
	}
	return nil
}

// title is the load's name for people.
func (l *load) title() string {
	if l.meter.tags["system"] == "" {
		return l.plan.Broker
	}
	return l.meter.tags["system"] + ", " + l.meter.tags["case"]
}
