package broker

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

func TestEachSendIsAnsweredOnceInItsOrderAndTheEndAnswersTheRest(t *testing.T) {
	for _, c := range []struct{ sends, answered int }{{0, 0}, {1, 1}, {1, 0}, {1000, 1000}, {1000, 500}, {1000, 0}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			var clock atomic.Int64
			b := NewBase("fake", Options{Now: func() int64 { return clock.Add(1) }})
			refused := errors.New("refused")
			answers := make([]chan error, c.sends)
			u := NewUnanswered(b, func(i int) error {
				select {
				case err := <-answers[i]:
					return err
				case <-b.Over.Done():
					return ErrUnknown
				}
			})
			var all sync.WaitGroup
			all.Add(c.sends)
			var answered sync.WaitGroup
			answered.Add(c.answered)
			times, last := make([]int, c.sends), int64(0)
			for i := range answers {
				answers[i] = make(chan error, 1)
				u.Add(&Message{Index: int64(i)}, func(m *Message, ackNs int64, err error) {
					defer all.Done()
					if i < c.answered {
						defer answered.Done()
					}
					times[i]++
					var want error
					switch {
					case i >= c.answered:
						want = ErrUnknown
					case i%7 == 3:
						want = refused
					}
					if m.Index != int64(i) || err != want || (ackNs > last) != (want == nil) {
						t.Errorf("send %d is completed as %d: at %d after %d, %v; want %v", i, m.Index, ackNs, last, err, want)
					}
					last = max(last, ackNs)
				}, i)
			}
			for i := c.answered - 1; i >= 0; i-- {
				answers[i] <- map[bool]error{true: refused}[i%7 == 3]
			}
			answered.Wait()
			b.End()
			all.Wait()
			for i, n := range times {
				if n != 1 {
					t.Errorf("send %d is completed %d times", i, n)
				}
			}
			late := make(chan error, 1)
			answers = append(answers, nil)
			u.Add(&Message{}, func(_ *Message, _ int64, err error) { late <- err }, c.sends)
			if err := <-late; err != ErrUnknown {
				t.Errorf("a send after the end: %v", err)
			}
		})
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
