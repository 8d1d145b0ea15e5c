// Package js is k6/x/kafka, for authors of k6 scripts: the classes, constants and metrics of the public module, on franz-go.
package js

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/grafana/sobek"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/metrics"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// Module is k6/x/kafka: the state that all VUs of a process share.
type Module struct {
	test script.Test
	mu   sync.Mutex
	// shared has a client for each configuration of writers and connections, which batches the messages of all VUs together.
	shared map[string]*kgo.Client
}

// New makes the module of this process.
func New() *Module { return &Module{shared: map[string]*kgo.Client{}} }

// NewModuleInstance makes the module of one VU.
func (m *Module) NewModuleInstance(vu modules.VU) modules.Instance {
	i := &instance{Module: m, vu: vu, runs: m.test.Join(vu)}
	err := errors.Join(
		m.test.Metrics.Declare(vu, metrics.Counter, counters...),
		m.test.Metrics.Declare(vu, metrics.Trend, trends...),
		m.test.Metrics.Declare(vu, metrics.Gauge, gauges...),
	)
	if err == nil && i.runs {
		err = m.test.Begin(failed)
	}
	if err != nil {
		common.Throw(vu.Runtime(), err)
	}
	named := map[string]any{}
	for name, make := range classes {
		named[name] = func(c sobek.ConstructorCall) *sobek.Object {
			if err := make(i, "new "+name, c.Argument(0), c.This); err != nil {
				common.Throw(vu.Runtime(), fmt.Errorf("kafka: %w", err))
			}
			return nil
		}
	}
	for name, value := range constants {
		named[name] = value
	}
	i.exports = modules.Exports{Default: named, Named: named}
	return i
}

type instance struct {
	*Module
	vu modules.VU
	// runs: this is a VU, not k6's look at the script.
	runs    bool
	exports modules.Exports
}

// Exports is asked for at each use of an imported name.
func (i *instance) Exports() modules.Exports { return i.exports }

// --- internal ---

// class makes objects: it reads the configuration, and adds methods. name is the class's in the script.
type class func(i *instance, name string, configuration sobek.Value, on *sobek.Object) error

var classes = map[string]class{
	"Writer": newWriter, "Producer": newWriter, "Reader": newReader, "Consumer": newReader,
	"Connection": newConnection, "AdminClient": newConnection, "SchemaRegistry": newRegistry,
}

// configured is the example in the error of a class that is given nothing.
const configured = "a configuration: { brokers: ['localhost:9092'], topic: 'orders' }"

// client is the one of a configuration, which ends with the test.
func (m *Module) client(of interface{ options() ([]kgo.Opt, error) }) (*kgo.Client, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := fmt.Sprintf("%T %s", of, text)
	if one := m.shared[key]; one != nil {
		return one, nil
	}
	options, err := of.options()
	if err != nil {
		return nil, err
	}
	one, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	m.shared[key] = one
	m.test.AtEnd(func() {
		_ = flush(context.Background(), one)
		one.Close()
	})
	return one, nil
}

func flush(ctx context.Context, client *kgo.Client) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	return client.Flush(ctx)
}

// waits adds a method and its form that returns a promise. errors is the counter of its failures.
func (i *instance) waits(on *sobek.Object, name, errors string, call script.Call) {
	fails := func(name string, err error) error {
		if errors != "" {
			i.count(errors, 1)
		}
		return failed(name, err)
	}
	script.Waits(i.vu, on, name, nil, fails, func(args []sobek.Value) (script.Wait, error) {
		if state := i.vu.State(); state != nil {
			i.test.Metrics.Meet(state, nil)
		}
		return call(args)
	})
}

func failed(name string, err error) error { return fmt.Errorf("kafka: %s: %w", name, worded(err)) }

func (i *instance) count(name string, n float64) {
	if state := i.vu.State(); state != nil {
		i.test.Metrics.Add(name, script.Tags(state), n)
	}
}

// worded is an error without secrets, and with a sentence where the library has only a word.
func worded(err error) error {
	switch {
	case errors.Is(err, kgo.ErrRecordTimeout), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer in time; does the broker run, and is it reachable at the address that it tells its clients? (%w)", address.Cause(err))
	case errors.Is(err, kgo.ErrClientClosed):
		return errClosed
	}
	return address.Cause(err)
}

var (
	errClosed = errors.New("it is closed")
	errInit   = errors.New("it cannot be called in the init context")
)

// options reads the object that a call is given; example is the error's text if there is none.
func (i *instance) options(call string, given sobek.Value, into any, example string) error {
	object, is := given.(*sobek.Object)
	if !is {
		return fmt.Errorf("it needs %s", example)
	}
	return i.test.Options(i.vu, "kafka: "+call, object, into)
}

// word is what one of the module's constants means; wrong is the error for another text.
func word[T any](known map[string]T, text, wrong string) (T, error) {
	means, is := known[text]
	if !is {
		return means, fmt.Errorf(wrong, text)
	}
	return means, nil
}

// duration is nanoseconds, like the module's SECOND, or a string like "5s".
type duration time.Duration

func (d *duration) UnmarshalJSON(text []byte) error {
	var ns float64
	if json.Unmarshal(text, &ns) == nil {
		*d = duration(ns)
		return nil
	}
	var words string
	if err := json.Unmarshal(text, &words); err != nil {
		return fmt.Errorf("a duration is nanoseconds or a text like \"5s\", got %s", text)
	}
	parsed, err := time.ParseDuration(words)
	*d = duration(parsed)
	return err
}

func (d duration) or(otherwise time.Duration) time.Duration {
	return cmp.Or(time.Duration(d), otherwise)
}
