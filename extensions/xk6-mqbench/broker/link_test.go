package broker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// wire is a connection of no network.
type wire struct {
	number int
	gone   chan struct{}
}

func (w *wire) Done() <-chan struct{} { return w.gone }
func (w *wire) Err() error            { return errors.New("gone") }

// server takes connections, but refuses the first ones (refuses).
type server struct {
	mu      sync.Mutex
	refuses int
	dials   []*wire
	asked   int
}

func (s *server) dial(context.Context) (*wire, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.refuses > 0 {
		s.refuses--
		return nil, errors.New("refused")
	}
	made := &wire{len(s.dials), make(chan struct{})}
	s.dials = append(s.dials, made)
	return made, nil
}

func (s *server) count() (asked, made int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, len(s.dials)
}

// base collects the reports.
func base() (*Base, func() []string) {
	var mu sync.Mutex
	var said []string
	b := NewBase("fake", Options{OnError: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, err.Error())
	}})
	return b, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), said...)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

func TestALostConnectionIsReportedReplacedAndCountedOnce(t *testing.T) {
	b, said := base()
	defer b.End()
	s, l := &server{}, Link[*wire]{Wait: time.Millisecond}
	if err := l.Open(t.Context(), b, s.dial); err != nil {
		t.Fatal(err)
	}
	for lost := range 3 {
		before, is := l.Now()
		if !is || before.number != lost {
			t.Fatalf("connection %d is there: %v; want number %d", before.number, is, lost)
		}
		s.mu.Lock()
		s.refuses = 4
		s.mu.Unlock()
		close(before.gone)
		eventually(t, "the replacement is counted", func() bool { return b.Reconnects() == int64(lost+1) })
		if got := said(); len(got) != lost+1 || got[lost] != "fake: connection lost: gone" {
			t.Errorf("reports: %q; want one for each loss, and none for an attempt", got)
		}
	}
	if asked, made := s.count(); asked != 4+3*4 || made != 4 {
		t.Errorf("%d attempts made %d connections; want 16 and 4", asked, made)
	}
}

func TestThereIsNoConnectionWhileItIsReplaced(t *testing.T) {
	b, _ := base()
	defer b.End()
	s, l := &server{}, Link[*wire]{First: time.Hour, Wait: time.Hour}
	if _, is := l.Now(); is {
		t.Error("a connection is there before Open")
	}
	if err := l.Open(t.Context(), b, s.dial); err != nil {
		t.Fatal(err)
	}
	at, _ := l.Now()
	close(at.gone)
	eventually(t, "the lost connection is no longer used", func() bool { _, is := l.Now(); return !is })
	if asked, _ := s.count(); asked != 1 {
		t.Errorf("%d attempts; want none before the first wait is over", asked)
	}
}

func TestTheFirstConnectionIsNotTriedAgain(t *testing.T) {
	b, said := base()
	defer b.End()
	s, l := &server{refuses: 1}, Link[*wire]{}
	if err := l.Open(t.Context(), b, s.dial); err == nil || err.Error() != "refused" {
		t.Errorf("%v; want the refusal", err)
	}
	if asked, _ := s.count(); asked != 1 || len(said()) != 0 {
		t.Errorf("%d attempts, reports %q; want one attempt, and its error as the result alone", asked, said())
	}
}

func TestALinkEndsWithItsSessionAndWithALossThatIsOurDoing(t *testing.T) {
	for name, end := range map[string]func(*Base){"closed": func(b *Base) { b.End() }, "quiet": (*Base).Quiet} {
		b, said := base()
		s, l := &server{}, Link[*wire]{}
		if err := l.Open(t.Context(), b, s.dial); err != nil {
			t.Fatal(err)
		}
		at, _ := l.Now()
		end(b)
		close(at.gone)
		time.Sleep(20 * time.Millisecond)
		if asked, _ := s.count(); asked != 1 || b.Reconnects() != 0 || len(said()) != 0 {
			t.Errorf("%s: %d attempts, %d counted, reports %q; want none after Open", name, asked, b.Reconnects(), said())
		}
	}
}

func TestALifelineReportsTheFirstOfManyFailuresAndCountsTheFirstSuccessHoweverManySeeThem(t *testing.T) {
	b, said := base()
	l := b.Lifeline()
	l.Works()
	for range 3 {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { l.Failed("send", errors.New("no")) })
		}
		all.Wait()
		for range 8 {
			all.Go(l.Works)
		}
		all.Wait()
	}
	if b.Reconnects() != 3 || strings.Join(said(), "; ") != "fake: send: no; fake: send: no; fake: send: no" {
		t.Errorf("%d counted, reports %q; want 3, one of each failure", b.Reconnects(), said())
	}
}
