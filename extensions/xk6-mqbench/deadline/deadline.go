// Package deadline bounds what a client library does not: calls without a context, and states that only show when one looks.
package deadline

import (
	"context"
	"sync"
	"time"
)

// AtMost runs all steps at once and returns when they have ended, or after the timeout, which it reports by false: what does not
// end then ends in the background.
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

// While runs a step and returns its error, or that of ctx when that ends first.
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

// Until looks again and again until what it looks for holds, or ctx ends, whose error it returns.
func Until(ctx context.Context, every time.Duration, holds func() bool) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
