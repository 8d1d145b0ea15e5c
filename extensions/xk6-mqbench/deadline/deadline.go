// Package deadline adds the time limits that a client library lacks: for calls without a context, and for states that have to be polled.
package deadline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// AtMost runs all steps at once and returns when they have ended, or false after the timeout, while the rest goes on in the background.
func AtMost(timeout time.Duration, steps ...func()) bool {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return While(ctx, func() error {
		var all sync.WaitGroup
		for _, step := range steps {
			all.Go(step)
		}
		all.Wait()
		return nil
	}) == nil
}

// Steps are for AtMost: a step for each item.
func Steps[T any](items []T, step func(T)) []func() {
	var all []func()
	for _, one := range items {
		all = append(all, func() { step(one) })
	}
	return all
}

// While runs a step and returns its error, or the error of ctx if that ends first.
func While(ctx context.Context, step func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- step() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// AtOnce is how many requests wait for a server at the same time.
const AtOnce = 64

// Each calls step for each item, at most AtOnce of them at the same time, and returns when they have ended. The first error ends ctx for
// the others, and is returned, also at the end of ctx, because a step's error names its operation.
func Each[T any](ctx context.Context, items []T, step func(ctx context.Context, item T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var next atomic.Int64
	var all sync.WaitGroup
	var once sync.Once
	var first error
	for range min(AtOnce, len(items)) {
		all.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(items) {
					return
				}
				if err := step(ctx, items[i]); err != nil {
					once.Do(func() { first = err })
					cancel()
				}
			}
		})
	}
	all.Wait()
	return cmp.Or(first, ctx.Err())
}

// Sleep returns after a while, or with the error of ctx if that ends first.
func Sleep(ctx context.Context, while time.Duration) error {
	timer := time.NewTimer(while)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err()
}

// Retry calls step until it returns nil, or ctx ends; then it returns the error of ctx. It sleeps before each call: `first`, then `wait`.
func Retry(ctx context.Context, first, wait time.Duration, step func() error) error {
	if err := Sleep(ctx, first); err != nil {
		return err
	}
	return Until(ctx, wait, func() bool { return step() == nil })
}

// Ask calls ask until it succeeds, refuses another try, or ctx ends. When ctx ends, the error contains the last refusal.
func Ask(ctx context.Context, wait time.Duration, ask func() (again bool, err error)) error {
	var last error
	for {
		again, err := ask()
		if err == nil || !again && ctx.Err() == nil {
			return err
		}
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
			last = err
		}
		switch ended := Sleep(ctx, wait); {
		case ended != nil && last == nil:
			return fmt.Errorf("no answer: %w", ended)
		case ended != nil:
			return fmt.Errorf("%w; the last refusal: %w", ended, last)
		}
	}
}

// Until polls until the condition holds, or ctx ends; then it returns the error of ctx.
func Until(ctx context.Context, every time.Duration, holds func() bool) error {
	for !holds() {
		if err := Sleep(ctx, every); err != nil {
			return err
		}
	}
	return nil
}
