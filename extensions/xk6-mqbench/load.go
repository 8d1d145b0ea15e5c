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

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/generator"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/runner"
)

// columns are the width of a result for people: k6's own summary has no more.
const columns = 100

// load is a plan and its run. An output opens it, or k6's events do; Close comes from whoever is first.
type load struct {
	// name is what VUs know it by.
	name string
	plan *generator.Plan
	text string
	// words plans and judges; nil: nothing does.
	words *runner.Runner
	// staged is nil until there is a folder for the run.
	staged *runner.Staged
	// folder of the run's files, where an output has opened it.
	folder string
	lookup func(string) (string, bool)
	logger logrus.FieldLogger
	meter  meter
	// watched: k6's events open and close it.
	watched bool
	ballast []byte

	mu        sync.Mutex
	generator *generator.Generator
	// why it is not open, and why it is not judged.
	failed, unjudged error
	judged           *runner.Judged

	closing  sync.Once
	closed   error
	segments sync.Once
}

// open makes and opens the generator: for a plan, which may be a client's part of the load's own, with results at base and a line of progress a
// second. After an error or when ctx ends nothing is left on the broker and in the folder.
func (l *load) open(ctx context.Context, plan *generator.Plan, url, base string, progress io.Writer) (*generator.Generator, error) {
	g, err := generator.New(plan, url)
	if err != nil {
		return nil, err
	}
	files, err := generator.CreateFiles(plan, base, io.MultiWriter(progress, &l.meter))
	if err != nil {
		return nil, err
	}
	l.ballast = make([]byte, ballastBytes)
	ctx, cancel := context.WithTimeout(ctx, plan.SetUpTimeout())
	defer cancel()
	if err := g.Open(ctx, files, generator.Versions{K6: k6Version(), Mqbench: Version}); err != nil {
		files.Discard()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("not ready within %s: %w", plan.SetUpTimeout(), err)
		}
		return nil, fmt.Errorf("open %s: %w", plan.Broker, err)
	}
	return g, nil
}

// opened makes the generator known to the VUs.
func (l *load) opened(g *generator.Generator) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generator = g
}

// slot is an iteration of a VU. Where the load could not be opened it ends k6's test.
func (l *load) slot(vu modules.VU) error {
	l.mu.Lock()
	g, failed := l.generator, l.failed
	l.mu.Unlock()
	if failed == nil && g == nil {
		failed = errors.New("the run is not open: start k6 with --out mqbench=<path of the results>, or use the k6 that `mqbench build` makes")
	}
	state := vu.State()
	if state == nil {
		return errors.New("mqbench: slot() is an iteration: call it in the function that k6 runs, not at the top of the script")
	}
	if l.staged != nil {
		l.segments.Do(func() {
			if !whole(state.Options) {
				l.mu.Lock()
				l.failed = errors.New("mqbench: this k6 is one of several (--execution-segment), and each of them would make the whole load; several clients are for mqbench on the command line")
				failed = l.failed
				l.mu.Unlock()
			}
		})
	}
	if failed != nil {
		vu.Runtime().Interrupt(&errext.InterruptError{Reason: failed.Error()})
		return nil
	}
	l.meter.meet(state)
	return g.Slot(vu.Context())
}

// start opens the load when k6's test begins.
func (l *load) start() {
	signalled, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	g, err := l.stage(signalled)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generator, l.failed = g, err
}

// end closes the load when k6's test has ended, and has it judged. What nobody can judge is not valid; state is that of any VU, for the metric that
// says so.
func (l *load) end(state *lib.State) {
	l.mu.Lock()
	g := l.generator
	l.mu.Unlock()
	if g == nil {
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
	judged, err := l.judge(g)
	l.mu.Lock()
	l.judged, l.unjudged = judged, err
	l.mu.Unlock()
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

// close ends the run in any state, and writes its results.
func (l *load) close() error {
	l.closing.Do(func() {
		l.mu.Lock()
		g := l.generator
		l.mu.Unlock()
		if g != nil {
			l.closed = g.Close()
		}
	})
	return l.closed
}

// result is what the run came to, once k6's test has ended.
func (l *load) result() (*runner.Judged, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.judged != nil:
		return l.judged, nil
	case l.failed != nil:
		return nil, l.failed
	case l.unjudged != nil:
		return nil, fmt.Errorf("mqbench: %w", l.unjudged)
	}
	return nil, errors.New("mqbench: there is a result when the test has ended, for handleSummary")
}

// --- internal ---

// stage makes the folder of the run, and opens it there.
func (l *load) stage(signalled context.Context) (*generator.Generator, error) {
	if l.words == nil {
		return nil, nil
	}
	if l.staged == nil {
		staged, err := l.words.Load(l.text)
		if err != nil {
			return nil, err
		}
		l.staged = staged
	}
	url := ""
	if l.staged.URL != nil {
		url = *l.staged.URL
	} else if url, _ = l.lookup(l.plan.URLEnv); url == "" {
		return nil, fmt.Errorf("mqbench: where is the broker? Set %s to its URL", l.plan.URLEnv)
	}
	plan, err := l.plan.Take(0, 1)
	if err != nil {
		return nil, err
	}
	run := filepath.Join(l.staged.Folder, l.staged.Run)
	if err := os.MkdirAll(run, 0o755); err != nil { //nolint:gosec // a report is for others too
		return nil, fmt.Errorf("mqbench: %w", err)
	}
	if err := l.write(l.staged.Files); err != nil {
		return nil, fmt.Errorf("mqbench: %w", err)
	}
	g, err := l.open(signalled, plan, url, filepath.Join(run, "client-0"), io.Discard)
	if err != nil {
		_ = os.RemoveAll(l.staged.Folder)
		return nil, fmt.Errorf("mqbench: %w", err)
	}
	return g, nil
}

func (l *load) judge(g *generator.Generator) (*runner.Judged, error) {
	select {
	case <-g.Started():
	default:
		_ = os.RemoveAll(l.staged.Folder)
		if l.failed != nil {
			return nil, l.failed
		}
		return nil, errors.New("it never began: no scenario of the script has called its slot()")
	}
	judged, err := l.words.Result(l.staged.Folder, columns)
	if err != nil {
		return nil, err
	}
	if err := l.write(judged.Files); err != nil {
		return judged, err
	}
	return judged, l.write(map[string]string{"result.json": judged.JSON})
}

// write puts files into the folder of results, whose folders are there.
func (l *load) write(files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(l.staged.Folder, name), []byte(text), 0o644); err != nil { //nolint:gosec // a report is for others too
			return err
		}
	}
	return nil
}

// title is what people know the load by.
func (l *load) title() string {
	if l.meter.tags["system"] == "" {
		return l.plan.Broker
	}
	return l.meter.tags["system"] + ", " + l.meter.tags["case"]
}

// whole reports whether k6 runs all of its test.
func whole(o lib.Options) bool {
	return o.ExecutionSegment == nil || o.ExecutionSegment.FloatLength() == 1
}
