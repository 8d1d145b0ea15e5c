package script

import (
	"context"
	"fmt"

	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"
)

// Call is a method that waits. It reads its arguments on the VU's goroutine, and returns the waiting part.
type Call func(args []sobek.Value) (Wait, error)

// Wait runs on any goroutine, and returns the maker of the value that the script gets; nil means undefined.
type Wait func(ctx context.Context) (Result, error)

// Result runs on the VU's goroutine.
type Result func() sobek.Value

// Awaited gets the promises that the script may await; both are called on the VU's goroutine.
type Awaited interface {
	Begin()
	End()
}

// Waits adds a method that holds the VU until it is done, and throws, and another one, with Async at the end of its name, that returns a
// promise. awaited may be nil; fails words an error for the script, on the VU's goroutine.
func Waits(vu modules.VU, on *sobek.Object, name string, awaited Awaited, fails func(name string, err error) error, call Call) {
	rt := vu.Runtime()
	Method(vu, on, name, func(args []sobek.Value) (sobek.Value, error) {
		wait, err := call(args)
		var result Result
		if err == nil {
			result, err = wait(vu.Context())
		}
		if err != nil {
			return nil, fails(name, err)
		}
		if result == nil {
			return nil, nil
		}
		return result(), nil
	})
	Method(vu, on, name+"Async", func(args []sobek.Value) (sobek.Value, error) {
		if vu.State() == nil {
			return nil, fmt.Errorf("%sAsync cannot be called in the init context", name)
		}
		promise, resolve, reject := rt.NewPromise()
		settle := func(result Result, err error) error {
			switch {
			case err != nil:
				return reject(rt.NewGoError(fails(name, err)))
			case result == nil:
				return resolve(sobek.Undefined())
			}
			return resolve(result())
		}
		wait, err := call(args)
		if err != nil {
			return rt.ToValue(promise), settle(nil, err)
		}
		Await(vu, awaited, func(ctx context.Context) func() error {
			result, err := wait(ctx)
			return func() error { return settle(result, err) }
		})
		return rt.ToValue(promise), nil
	})
}

// Await runs work on a new goroutine, and what it returns on the VU's, unless the iteration, which lasts at least as long, is interrupted.
func Await(vu modules.VU, awaited Awaited, work func(ctx context.Context) (then func() error)) {
	if awaited != nil {
		awaited.Begin()
	}
	callback := vu.RegisterCallback()
	ctx := vu.Context()
	go func() {
		then := work(ctx)
		callback(func() error {
			if awaited != nil {
				awaited.End()
			}
			if ctx.Err() != nil {
				return nil
			}
			return then()
		})
	}()
}

// Method adds a method whose error the script gets as an exception.
func Method(vu modules.VU, on *sobek.Object, name string, call func(args []sobek.Value) (sobek.Value, error)) {
	rt := vu.Runtime()
	// A plain object takes any property.
	_ = on.Set(name, func(c sobek.FunctionCall) sobek.Value {
		value, err := call(c.Arguments)
		if err != nil {
			common.Throw(rt, err)
		}
		if value == nil {
			return sobek.Undefined()
		}
		return value
	})
}

// Argument is the argument at an index, nil where there is none or it is undefined or null.
func Argument(args []sobek.Value, at int) sobek.Value {
	if at >= len(args) || common.IsNullish(args[at]) {
		return nil
	}
	return args[at]
}
