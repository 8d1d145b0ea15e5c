package deadline

import (
	"context"
	"errors"
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
	if !AtMost(time.Minute, func() {}, func() {}) || !AtMost(time.Minute) {
		t.Error("steps that have ended are said to hang")
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
