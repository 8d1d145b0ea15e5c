package books

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

func TestErrorsAreCountedByTheirWordingWithoutPasswords(t *testing.T) {
	e := &Errors{}
	var wait sync.WaitGroup
	for k := range 8 {
		wait.Go(func() {
			for i := range int64(1000) {
				e.NoteAt(fmt.Errorf("dial nats://user%d:secret@host: refused", k), 5000-i)
			}
		})
	}
	wait.Wait()
	e.Note(errors.New("closed"))
	list := e.List()
	if len(list) != 2 || list[0].Message != "dial nats://***@host: refused" || list[0].Count != 8000 || list[0].FirstNs == nil ||
		list[1].Message != "closed" || list[1].Count != 1 || list[1].FirstNs != nil {
		t.Errorf("%+v", list)
	}
}

// slow is an error whose text is ready only after another error was counted.
type slow struct{ counted <-chan struct{} }

func (s slow) Error() string {
	<-s.counted
	return "dial nats://user:secret@host: refused"
}

// The pacer's own thread counts errors: passwords are looked for when the list is made, so no count waits for another error.
func TestAnErrorIsCountedAsItIsAndWithoutALock(t *testing.T) {
	e, counted, all := &Errors{}, make(chan struct{}), make(chan struct{})
	go func() {
		e.Note(slow{counted})
		close(all)
	}()
	other := make(chan struct{})
	go func() {
		for range 100 { // most of them while the slow one is being counted
			e.Note(errors.New("closed"))
			time.Sleep(100 * time.Microsecond)
		}
		close(other)
	}()
	select {
	case <-other:
	case <-time.After(20 * time.Second):
		t.Error("an error waits for another one to be counted")
	}
	close(counted)
	<-all
	if _, raw := e.raw.Load("dial nats://user:secret@host: refused"); !raw {
		t.Error("its password was looked for when it was counted")
	}
}

func TestTheRarestOfTooManyErrorsArePutTogether(t *testing.T) {
	e := &Errors{}
	for i := range int64(2 * rawKinds) {
		e.NoteAt(fmt.Errorf("error %d", i), i)
	}
	for range 7 {
		e.Note(errors.New("error 3"))
	}
	list, sum := e.List(), int64(0)
	for _, one := range list {
		sum += one.Count
	}
	if len(list) != errorKinds || sum != 2*rawKinds+7 || list[errorKinds-1].Message != others {
		t.Errorf("%d kinds of %d errors, the last one %q; want %d of %d", len(list), sum, list[len(list)-1].Message, errorKinds, 2*rawKinds+7)
	}
}

func BenchmarkNote(b *testing.B) {
	e, err := &Errors{}, errors.New("nats: publish: no responders available for request")
	b.ReportAllocs()
	for i := range int64(b.N) {
		e.NoteAt(err, i)
	}
}
