// Package js is k6/x/nats, for people who write k6 scripts: the public module's class Nats, on k6's event loop.
package js

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/metrics"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// Names of the metrics: counters, and trends in milliseconds.
const (
	published      = "nats_publish_count"
	publishedBytes = "nats_publish_bytes"
	received       = "nats_message_count"
	receivedBytes  = "nats_message_bytes"
	dropped        = "nats_dropped_count"
	failed         = "nats_error_count"
	asked          = "nats_request_seconds"
	acknowledged   = "nats_ack_seconds"
)

// Module is k6/x/nats: what all VUs of a process share.
type Module struct {
	test script.Test
	mu   sync.Mutex
	// shared has a connection for each configuration.
	shared map[string]*connection
	// Warnings that a test gives once.
	warned, full sync.Once
}

var (
	_ modules.Module   = (*Module)(nil)
	_ modules.Instance = (*instance)(nil)
)

// New makes the module of this process.
func New() *Module { return &Module{shared: map[string]*connection{}} }

// NewModuleInstance makes the module of one VU: class Nats, and sleep, during which handlers run.
func (m *Module) NewModuleInstance(vu modules.VU) modules.Instance {
	i := &instance{module: m, vu: vu, runs: m.test.Join(vu), inbox: newInbox(vu)}
	counters := m.test.Metrics.Declare(vu, metrics.Counter, published, publishedBytes, received, receivedBytes, dropped, failed)
	trends := m.test.Metrics.Declare(vu, metrics.Trend, asked, acknowledged)
	err := errors.Join(counters, trends)
	if err == nil && i.runs {
		err = m.test.Begin(failedBy)
	}
	if err != nil {
		common.Throw(vu.Runtime(), err)
	}
	named := map[string]any{"Nats": i.newNats, "sleep": i.sleep}
	i.exports = modules.Exports{Default: named, Named: named}
	return i
}

type instance struct {
	module *Module
	vu     modules.VU
	// runs: this is a VU, not k6's look at the script.
	runs    bool
	inbox   *inbox
	exports modules.Exports
	// listens: it has subscriptions.
	listens bool
}

// Exports is asked for at each use of an imported name.
func (i *instance) Exports() modules.Exports { return i.exports }

// --- internal ---

// sleep returns a promise: k6's own sleep stops the event loop, on which handlers run.
func (i *instance) sleep(seconds float64) (sobek.Value, error) {
	if i.vu.State() == nil {
		return nil, errors.New("nats: sleep cannot be called in the init context")
	}
	i.inbox.enter()
	promise, resolve, _ := i.vu.Runtime().NewPromise()
	script.Await(i.vu, i.inbox, func(ctx context.Context) func() error {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(seconds * float64(time.Second))):
		}
		return func() error { return resolve(sobek.Undefined()) }
	})
	return i.vu.Runtime().ToValue(promise), nil
}

// newNats is `new Nats({ servers: [...] })`.
func (i *instance) newNats(c sobek.ConstructorCall) *sobek.Object {
	rt := i.vu.Runtime()
	made, err := i.open(c.Argument(0))
	if err != nil {
		common.Throw(rt, fmt.Errorf("nats: %w", err))
	}
	made.methods(c.This)
	return nil
}

func (i *instance) open(configuration sobek.Value) (*client, error) {
	own, err := i.configuration(configuration)
	made := &client{instance: i, configuration: own}
	if err == nil && i.runs {
		made.connection, err = i.module.connect(own)
	}
	return made, err
}
