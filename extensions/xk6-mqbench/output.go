package mqbench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.k6.io/k6/v2/metrics"
	"go.k6.io/k6/v2/output"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/generator"
)

// Version of the extension, set by the linker.
var Version = "dev"

// openTimeout bounds connecting, making topics and subscribing.
const openTimeout = 30 * time.Second

// ballastBytes are held and never touched, so that they take no memory, but count as live: the garbage collector lets as much garbage
// come together before it works, where k6 and a generator by themselves are 30 MiB. On NATS core (closed load, 1 KiB) that is 12
// instead of 150 collections in 1.6 million messages, and 15 % less CPU for each; it costs up to 150 MiB.
const ballastBytes = 128 << 20

// resultsOutput is `--out mqbench=<path>`: it opens the run before the first VU exists, and closes it however k6 ends. k6's own
// samples do not interest it: no message is one.
type resultsOutput struct {
	params output.Params
	run    *generator.Generator
	// end ends k6's test; nil as its reason is none: k6 exits with 0.
	end func(error)
	// ballast is ballastBytes long.
	ballast []byte
}

var (
	_ output.Output          = (*resultsOutput)(nil)
	_ output.WithTestRunStop = (*resultsOutput)(nil)
)

func newOutput(params output.Params) (output.Output, error) {
	if params.ConfigArgument == "" {
		return nil, errors.New("mqbench: the output needs a path: --out mqbench=runs/client-0")
	}
	return &resultsOutput{params: params}, nil
}

func (o *resultsOutput) Description() string { return "mqbench (" + o.params.ConfigArgument + ".hlog)" }

// Start connects and subscribes, so that the first slot finds everything ready.
func (o *resultsOutput) Start() error {
	plan := theRun.planned()
	if plan == nil {
		return errors.New("mqbench: the script loads no plan: const run = mqbench.load(driver, open('./plan.json'))")
	}
	g, err := generator.New(plan, o.params.Environment[plan.URLEnv])
	if err != nil {
		return err
	}
	files, err := generator.CreateFiles(o.params.ConfigArgument, o.params.StdOut)
	if err != nil {
		return err
	}
	surviveReader()
	o.ballast = make([]byte, ballastBytes)
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	if err := g.Open(ctx, files, generator.Versions{K6: k6Version(), Mqbench: Version}); err != nil {
		files.Discard()
		return fmt.Errorf("open %s: %w", plan.Broker, err)
	}
	o.run = g
	theRun.open(g)
	if finished := g.Finished(); finished != nil {
		go func() {
			<-finished
			// Subtle: where a Ctrl-C came first, k6 asks for the words of our reason, which is none, and that panics.
			defer func() { _ = recover() }()
			o.end(nil)
		}()
	}
	return nil
}

// SetTestRunStopCallback takes what ends k6's test. It is called before Start.
func (o *resultsOutput) SetTestRunStopCallback(end func(error)) { o.end = end }

func (o *resultsOutput) AddMetricSamples([]metrics.SampleContainer) {}

// Stop closes the books and files. Its error is only logged by k6: the missing trailer is what tells.
func (o *resultsOutput) Stop() error {
	if o.run == nil {
		return nil
	}
	return o.run.Close()
}
