package mqbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"go.k6.io/k6/v2/errext"
	"go.k6.io/k6/v2/errext/exitcodes"
	"go.k6.io/k6/v2/metrics"
	"go.k6.io/k6/v2/output"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/generator"
)

// Version of the extension, set by the linker.
var Version = "dev"

// payloadEnv names the payload file if it is not at the plan's path: all clients have the same plan, but not the same disk.
const payloadEnv = "MQBENCH_PAYLOAD_FILE"

// listenEnv is this machine's address for the other clients of a system without a server; ownAddress is a container's only one besides loopback.
const (
	listenEnv  = "MQBENCH_LISTEN"
	ownAddress = "own"
)

// ballastBytes are allocated and never touched. They take no memory but count as live, so the garbage collector lets as much garbage
// collect before it works; without them k6 and a generator are 30 MiB. On NATS core (closed load, 1 KiB) that is 12 instead of 150
// collections in 1.6 million messages, and 15 % less CPU for each message. It costs up to 150 MiB.
const ballastBytes = 128 << 20

// resultsOutput is `--out mqbench=<path>`: it opens the run before the first VU exists and closes it however k6 ends. It ignores k6's own samples.
type resultsOutput struct {
	root   *rootModule
	params output.Params
	// input is where control lines come from: k6's standard input, which k6 itself does not read.
	input io.Reader
	load  *load
	// end ends k6's test. With nil as the reason, k6 exits with 0.
	end func(error)
}

var _ output.WithTestRunStop = (*resultsOutput)(nil)

func (r *rootModule) newOutput(params output.Params) (output.Output, error) {
	if params.ConfigArgument == "" {
		return nil, errors.New("mqbench: the output needs a path: --out mqbench=runs/client-0")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.output = &resultsOutput{root: r, params: params, input: os.Stdin}
	return r.output, nil
}

func (o *resultsOutput) Description() string { return "mqbench (" + o.params.ConfigArgument + ".hlog)" }

// Start connects and subscribes, to be ready for the first slot. If a coordinator sets T0, Start waits for it.
//
// Subtle: k6 catches signals only when its outputs have started. A signal before that would end it at once and leave our topics on the
// broker, so we catch signals until the first slot.
func (o *resultsOutput) Start() error {
	signalled, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if err := o.start(signalled); err != nil {
		release()
		return err
	}
	g := o.load.generator
	go func() {
		defer release()
		select {
		case <-signalled.Done():
			o.end(stopped())
		case <-g.Started():
		}
	}()
	finished := g.Finished()
	if o.asked(controlEnv) {
		// The script is the runner's: nothing else in it needs the 2 s by which the heartbeat outlasts the schedule.
		finished = g.Concluded()
	}
	if finished != nil {
		go func() {
			<-finished
			// Subtle: after a Ctrl-C k6 asks our reason for its text, and a nil reason would panic.
			defer func() { _ = recover() }()
			o.end(nil)
		}()
	}
	return nil
}

// SetTestRunStopCallback takes the function that ends k6's test. k6 calls it before Start.
func (o *resultsOutput) SetTestRunStopCallback(end func(error)) { o.end = end }

func (o *resultsOutput) AddMetricSamples([]metrics.SampleContainer) {}

// Stop closes the books and files. k6 only logs its error; the missing trailer shows it.
func (o *resultsOutput) Stop() error {
	if o.load == nil {
		return nil
	}
	return o.load.close()
}

// --- internal ---

// start makes and opens the generator of this client. After an error or a signal nothing is left on the broker and in the folder.
func (o *resultsOutput) start(signalled context.Context) error {
	load, err := o.root.only()
	if err != nil {
		return err
	}
	plan, err := o.part(load.plan)
	if err != nil {
		return err
	}
	// Go would end this process at the next line of progress when its reader is gone, with the books still open.
	signal.Ignore(syscall.SIGPIPE)
	if err := load.open(signalled, plan, o.params.Environment[plan.URLEnv], o.params.ConfigArgument, o.params.StdOut); err != nil {
		if signalled.Err() != nil {
			return stopped()
		}
		return err
	}
	load.folder = filepath.Dir(o.params.ConfigArgument)
	o.load = load
	if err := o.listen(signalled, load.generator); err != nil {
		_ = load.close()
		return err
	}
	return nil
}

// only is the load of a script that has one.
func (r *rootModule) only() (*load, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch len(r.loads) {
	case 0:
		return nil, errors.New("mqbench: the script loads no plan: const run = mqbench.load(driver, open('./plan.json'))")
	case 1:
		return r.loads[0], nil
	}
	return nil, fmt.Errorf("mqbench: the script has %d loads, and --out mqbench= is for one", len(r.loads))
}

// part is this client's part of the plan.
func (o *resultsOutput) part(plan *generator.Plan) (*generator.Plan, error) {
	index, count, err := clientOf(o.params.ScriptOptions)
	if err != nil {
		return nil, err
	}
	if count > 1 && !o.asked(coordinatedEnv) {
		return nil, fmt.Errorf("mqbench: %d clients need one T0: set %s=1 and hand it out on standard input", count, coordinatedEnv)
	}
	taken, err := plan.Take(index, count)
	if err != nil {
		return nil, err
	}
	if file := o.params.Environment[payloadEnv]; file != "" {
		taken.Message.File = file
	}
	taken.Listen = o.params.Environment[listenEnv]
	if taken.Listen == ownAddress {
		if taken.Listen, err = findOwnAddress(); err != nil {
			return nil, fmt.Errorf("mqbench: an address for the other clients: %w", err)
		}
	}
	return taken, nil
}

// findOwnAddress is the first address of this machine that is not loopback.
func findOwnAddress() (string, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	for _, one := range all {
		if at, is := one.(*net.IPNet); is && at.IP.IsGlobalUnicast() {
			return at.IP.String(), nil
		}
	}
	return "", errors.New("there is none besides loopback")
}

// listen reads standard input if it is asked to, and waits for T0 if a coordinator sets it.
func (o *resultsOutput) listen(signalled context.Context, g *generator.Generator) error {
	coordinated := o.asked(coordinatedEnv)
	if !coordinated && !o.asked(controlEnv) {
		return nil
	}
	handedOut := listen(o.input, g, func(words string) { o.params.Logger.Warn(words) })
	if !coordinated {
		return nil
	}
	g.Ready()
	select {
	case t0, isOne := <-handedOut:
		if !isOne {
			return aborted(errors.New("mqbench: standard input ended before T0 was handed out"))
		}
		g.StartAt(t0)
		return nil
	case <-signalled.Done():
		return stopped()
	}
}

func (o *resultsOutput) asked(name string) bool { return o.params.Environment[name] == "1" }

// stopped is the error for a start that was interrupted.
func stopped() error {
	return aborted(errors.New("mqbench: stopped by a signal before the first slot"))
}

func aborted(reason error) error {
	return errext.WithExitCodeIfNone(errext.WithAbortReasonIfNone(reason, errext.AbortedByUser), exitcodes.ExternalAbort)
}
