package deadline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestStepsThatHangAreLeftBehind(t *testing.T) {
	never := make(chan struct{})
	began := time.Now()
	if AtMost(20*time.Millisecond, func() {}, func() { <-never }) {
		t.Error("a step that hangs is said to have ended")
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	var sum atomic.Int64
	if !AtMost(time.Minute, Steps([]int64{1, 10, 100}, func(n int64) { sum.Add(n) })...) || !AtMost(time.Minute) || sum.Load() != 111 {
		t.Errorf("steps that have ended are said to hang, or add up to %d; want 111", sum.Load())
	}
}

func TestTheErrorIsTheStepsOrThatOfTheContext(t *testing.T) {
	own := errors.New("own")
	if err := While(t.Context(), func() error { return own }); !errors.Is(err, own) {
		t.Errorf("%v; want the step's error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := While(ctx, func() error { select {} }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want the context's error", err)
	}
	if err := Until(ctx, time.Millisecond, func() bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want the context's error", err)
	}
	times := 0
	if err := Until(t.Context(), time.Millisecond, func() bool { times++; return times == 3 }); err != nil || times != 3 {
		t.Errorf("%v after %d looks; want 3", err, times)
	}
}

func TestEachStepRunsOnceAndNoMoreThanAllowedAtOnce(t *testing.T) {
	var mu sync.Mutex
	ran := map[int]int{}
	inside, most := 0, 0
	items := make([]int, 3*AtOnce)
	for i := range items {
		items[i] = i
	}
	err := Each(t.Context(), items, func(_ context.Context, i int) error {
		mu.Lock()
		ran[i]++
		inside++
		most = max(most, inside)
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		inside--
		mu.Unlock()
		return nil
	})
	if err != nil || len(ran) != len(items) || most < 2 || most > AtOnce {
		t.Errorf("%v; %d of %d steps, up to %d at once; want 2 to %d", err, len(ran), len(items), most, AtOnce)
	}
	for i, times := range ran {
		if times != 1 {
			t.Errorf("step %d ran %d times", i, times)
		}
	}
	if err := Each[int](t.Context(), nil, nil); err != nil {
		t.Errorf("no steps: %v", err)
	}
}

func TestTheFirstErrorEndsTheOtherSteps(t *testing.T) {
	own := errors.New("own")
	var began atomic.Int64
	err := Each(t.Context(), make([]int, 1000), func(ctx context.Context, _ int) error {
		if began.Add(1) == AtOnce {
			return own
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, own) || began.Load() != AtOnce {
		t.Errorf("%v after %d steps; want the step's error after %d", err, began.Load(), AtOnce)
	}
}

func TestAStepIsRepeatedUntilItSucceedsOrTheContextEnds(t *testing.T) {
	no := errors.New("no")
	times := 0
	began := time.Now()
	err := Retry(t.Context(), 0, 10*time.Millisecond, func() error {
		if times++; times == 3 {
			return nil
		}
		return no
	})
	if took := time.Since(began); err != nil || times != 3 || took < 20*time.Millisecond {
		t.Errorf("%v after %d calls in %s; want 3 calls, with a pause before the second and the third", err, times, took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = Retry(ctx, time.Millisecond, time.Hour, func() error { cancel(); return no })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want the context's error", err)
	}
	if err := Retry(ctx, 0, 0, func() error { t.Error("called though the context has ended"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want the context's error", err)
	}
}

func TestTheEndOfAContextIsTheErrorOfTheStepThatItEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := Each(ctx, make([]int, 4), func(ctx context.Context, _ int) error {
		cancel()
		<-ctx.Done()
		return fmt.Errorf("make topic: %w", ctx.Err())
	})
	if err == nil || err.Error() != "make topic: context canceled" {
		t.Errorf("got %v", err)
	}
}

func TestWhatWasRefusedLastIsInTheErrorWhenTimeIsOver(t *testing.T) {
	busy, never := errors.New("busy"), errors.New("never")
	for _, c := range []struct {
		answers []error // the last one goes on
		want    string
	}{
		{[]error{busy, nil}, "<nil>"},
		{[]error{busy, never}, "never"},
		{[]error{busy}, "context deadline exceeded; the last refusal: busy"},
		{[]error{busy, context.DeadlineExceeded}, "context deadline exceeded; the last refusal: busy"},
		{[]error{context.DeadlineExceeded}, "no answer: context deadline exceeded"},
	} {
		atMost := 20 * time.Millisecond
		if last := c.answers[len(c.answers)-1]; last == nil || last == never {
			atMost = time.Minute
		}
		ctx, cancel := context.WithTimeout(t.Context(), atMost)
		calls := 0
		err := Ask(ctx, time.Millisecond, func() (bool, error) {
			answer := c.answers[min(calls, len(c.answers)-1)]
			calls++
			return answer != never, answer
		})
		cancel()
		if fmt.Sprint(err) != c.want {
			t.Errorf("%v: got %v, want %s", c.answers, err, c.want)
		}
	}
}
