package broker

import (
	"errors"
	"sync"
	"testing"
)

func TestEachSendIsAnsweredOnceInItsOrderAndTheEndAnswersTheRest(t *testing.T) {
	const n, answered = 1000, 500
	var clock int64 // only the goroutine that waits uses it
	b := NewBase("fake", Options{Now: func() int64 { clock++; return clock }})
	refused := errors.New("refused")
	answers := make([]chan error, n)
	u := NewUnanswered(b, func(i int) error {
		select {
		case err := <-answers[i]:
			return err
		case <-b.Over.Done():
			return ErrUnknown
		}
	})
	var all, first sync.WaitGroup
	all.Add(n)
	first.Add(answered)
	times, last := make([]int, n), int64(0)
	for i := range n {
		answers[i] = make(chan error, 1)
		var want error
		switch {
		case i >= answered:
			want = ErrUnknown
		case i%7 == 3:
			want = refused
		}
		u.Add(&Message{Index: int64(i)}, func(m *Message, ackNs int64, err error) {
			times[i]++
			if m.Index != int64(i) || err != want || (ackNs > last) != (want == nil) {
				t.Errorf("send %d is completed as %d: at %d after %d, %v; want %v", i, m.Index, ackNs, last, err, want)
			}
			last = max(last, ackNs)
			all.Done()
			if i < answered {
				first.Done()
			}
		}, i)
	}
	for i := answered - 1; i >= 0; i-- {
		answers[i] <- map[bool]error{true: refused}[i%7 == 3]
	}
	first.Wait()
	b.End()
	all.Wait()
	for i, k := range times {
		if k != 1 {
			t.Errorf("send %d is completed %d times", i, k)
		}
	}
	late := make(chan error, 1)
	u.Add(&Message{}, func(_ *Message, _ int64, err error) { late <- err }, n-1)
	if err := <-late; err != ErrUnknown {
		t.Errorf("a send after the end: %v", err)
	}
}

func TestAnUnansweredSendCostsNoMemory(t *testing.T) {
	b := NewBase("fake", Options{Now: func() int64 { return 1 }})
	defer b.End()
	u := NewUnanswered(b, func(int) error { return nil })
	m, answered := &Message{}, make(chan struct{}, 1)
	done := func(*Message, int64, error) { answered <- struct{}{} }
	if n := testing.AllocsPerRun(1000, func() { u.Add(m, done, 1); <-answered }); n > 0 {
		t.Errorf("%.1f allocations for each send; want none", n)
	}
}
