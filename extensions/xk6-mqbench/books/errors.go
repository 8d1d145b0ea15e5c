package books

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
)

// Errors counts errors by their wording. Any goroutine may use it. Counting one that has occurred before takes no lock: the pacer's
// own thread may have to.
type Errors struct {
	// raw has a *note for each wording as it came, passwords included; kinds is their number.
	raw   sync.Map
	kinds atomic.Int64
}

type note struct {
	count   atomic.Int64
	firstNs *int64
}

// Error is one wording and how often it occurred.
type Error struct {
	Message string `json:"message"`
	Count   int64  `json:"count"`
	// FirstNs is the intended time (ns since T0) of the first message with this error; nil if the error belongs to no message.
	FirstNs *int64 `json:"firstNs"`
}

const (
	// errorKinds is how many different wordings are listed.
	errorKinds = 20
	// rawKinds is how many are kept apart until then.
	rawKinds = 1000
	others   = "other errors"
)

// NewErrors is empty.
func NewErrors() *Errors { return &Errors{} }

// Note counts an error that belongs to no message.
func (t *Errors) Note(err error) { t.count(err, nil) }

// NoteAt counts an error of the message with this intended time.
func (t *Errors) NoteAt(err error, offsetNs int64) { t.count(err, &offsetNs) }

// List is without passwords and sorted by count, the most frequent first. The rarest of too many are put together.
func (t *Errors) List() []Error {
	notes := map[string]*Error{}
	t.raw.Range(func(text, n any) bool {
		n.(*note).addTo(notes, address.MaskedText(text.(string)))
		return true
	})
	list := make([]Error, 0, len(notes))
	for _, n := range notes {
		list = append(list, *n)
	}
	slices.SortFunc(list, func(x, y Error) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), strings.Compare(x.Message, y.Message))
	})
	if len(list) > errorKinds {
		rest := Error{Message: others}
		for _, n := range list[errorKinds-1:] {
			rest.Count += n.Count
			rest.FirstNs = earlier(rest.FirstNs, n.FirstNs)
		}
		list = append(list[:errorKinds-1], rest)
	}
	return list
}

// --- internal ---

func (t *Errors) count(err error, offsetNs *int64) {
	text := err.Error()
	n, known := t.raw.Load(text)
	if !known {
		if t.kinds.Add(1) > rawKinds {
			text = others
		}
		n, _ = t.raw.LoadOrStore(text, &note{firstNs: offsetNs})
	}
	n.(*note).count.Add(1)
}

// addTo adds what was counted to the wording's entry.
func (n *note) addTo(notes map[string]*Error, text string) {
	e := notes[text]
	if e == nil {
		e = &Error{Message: text}
		notes[text] = e
	}
	e.Count += n.count.Load()
	e.FirstNs = earlier(e.FirstNs, n.firstNs)
}

// earlier of two times; nil is none.
func earlier(a, b *int64) *int64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}
