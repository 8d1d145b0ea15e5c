// Package script is the common part of brokers' k6/x modules: when a k6 test begins and ends, metrics once a second, calls that wait, bytes.
package script

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/js/modules"
)

// k6's events. Their type is internal to k6; the numbers are part of its API as names are.
const (
	eventInit    = 1
	eventStart   = 2
	eventEnd     = 3
	eventIterEnd = 5
	eventExit    = 6
)

// flushEvery is how often metrics go out.
const flushEvery = time.Second

// Test is the k6 test of this process, as the root module of an extension sees it. The zero value is ready.
type Test struct {
	// Metrics collects the module's measurements.
	Metrics Metrics

	mu sync.Mutex
	// runs: between k6's Init, for which inits looks, and the end of the test.
	runs  bool
	inits func() bool
	// starts and ends are called when the test begins and has ended.
	starts, ends []func()
	// once has the calls of a script's top, each made once; asked are the calls from k6's look at it, in their order.
	once  sync.Map
	asked []asked
	// begins is held while those are made.
	begins sync.Mutex
	// ignored are the warnings about options that were given.
	ignored sync.Map
}

// asked is a call that k6's look at the script has asked for.
type asked struct {
	name string
	once func() error
}

// Join is called for each instance of the module. It reports whether the instance is a VU of a running test: the first only looks at the
// script for k6, as in `k6 inspect` and `k6 archive`, and the last is handleSummary's. They must not connect to anything.
func (t *Test) Join(vu modules.VU) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if global := vu.Events().Global; t.inits == nil && global != nil {
		_, begins := global.Subscribe(eventInit)
		t.inits = func() bool {
			select {
			case e, open := <-begins:
				if open {
					e.Done()
				}
				return open
			default:
				return false
			}
		}
		_, later := global.Subscribe(eventStart, eventEnd, eventExit)
		go func() {
			var flush <-chan time.Time
			for {
				select {
				case <-flush:
					t.Metrics.flush()
				case e, open := <-later:
					if !open {
						return
					}
					switch e.Type {
					case eventStart:
						t.call(&t.starts)
						flush = time.Tick(flushEvery)
					case eventEnd:
						t.call(&t.ends)
						t.Metrics.flush()
						flush = nil
					case eventExit:
						t.call(&t.ends)
					}
					e.Done()
				}
			}
		}()
	}
	t.runs = t.runs || t.inits != nil && t.inits()
	return t.runs
}

// AtStart calls start when the test begins, before setup and iterations.
func (t *Test) AtStart(start func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.starts = append(t.starts, start)
}

// Once makes a call at a script's top, which every VU runs, only for the first of them, setup and teardown included, because it changes something on
// a server. Scripts write `if (__VU == 0)` for the beginning of the test, but there it is k6's look at the script, which must not connect: then runs is
// false, and Begin makes the call. gone is the error of deleting a missing object: a script can catch it in a VU, but not in Begin.
func (t *Test) Once(name, server string, args []sobek.Value, runs bool, gone error, wait Wait) (Wait, error) {
	with, err := JSON(Argument(args, 0))
	if err != nil {
		return nil, err
	}
	call := fmt.Sprintf("%s %s %s", name, server, with)
	return func(context.Context) (Result, error) {
		one := asked{name, sync.OnceValue(func() error {
			_, err := wait(context.Background())
			if !runs && errors.Is(err, gone) {
				return nil
			}
			return err
		})}
		first, before := t.once.LoadOrStore(call, one)
		if runs {
			return nil, first.(asked).once()
		}
		if !before {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.asked = append(t.asked, one)
		}
		return nil, nil
	}, nil
}

// Begin makes the calls that k6's look at the script asked for; each VU calls it, and waits for the first one. The error is worded by fails, and ends
// k6.
func (t *Test) Begin(fails func(name string, err error) error) error {
	t.begins.Lock()
	defer t.begins.Unlock()
	t.mu.Lock()
	all := t.asked
	t.asked = nil
	t.mu.Unlock()
	for _, one := range all {
		if err := one.once(); err != nil {
			return fails(one.name, err)
		}
	}
	return nil
}

// AtEnd calls end when the test has ended, before k6's last samples; later if that was before.
func (t *Test) AtEnd(end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ends = append(t.ends, end)
}

// AfterIterations calls after when an iteration of the VU has ended, and before the next begins.
func AfterIterations(vu modules.VU, after func()) {
	local := vu.Events().Local
	if local == nil {
		return
	}
	_, ends := local.Subscribe(eventIterEnd)
	go func() {
		for e := range ends {
			after()
			e.Done()
		}
	}()
}

// --- internal ---

// call makes the calls of starts, or of ends, with which the test is over; each is made once.
func (t *Test) call(list *[]func()) {
	t.mu.Lock()
	all := *list
	*list, t.runs = nil, t.runs && list != &t.ends
	t.mu.Unlock()
	for _, one := range all {
		one()
	}
}
