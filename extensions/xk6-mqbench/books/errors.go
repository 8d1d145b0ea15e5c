package books

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
)

// Errors counts errors by their wording. Any goroutine may use it.
type Errors struct {
	mu    sync.Mutex
	notes map[string]*Error
}

// Error is one wording and how often it occurred.
type Error struct {
	Message string `json:"message"`
	Count   int64  `json:"count"`
	// FirstNs is the intended time (ns since T0) of the first message with this error; nil if the error belongs to no message.
	FirstNs *int64 `json:"firstNs"`
}

// errorKinds is how many different wordings are kept apart.
const errorKinds = 20

// NewErrors is empty.
func NewErrors() *Errors { return &Errors{notes: map[string]*Error{}} }

// Note counts an error that belongs to no message.
func (t *Errors) Note(err error) { t.count(err, nil) }

// NoteAt counts an error of the message with this intended time.
func (t *Errors) NoteAt(err error, offsetNs int64) { t.count(err, &offsetNs) }

// List is sorted by count, the most frequent first.
func (t *Errors) List() []Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]Error, 0, len(t.notes))
	for _, n := range t.notes {
		list = append(list, *n)
	}
	slices.SortFunc(list, func(x, y Error) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), strings.Compare(x.Message, y.Message))
	})
	return list
}

// --- internal ---

func (t *Errors) count(err error, offsetNs *int64) {
	text := address.Masked(err)
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.notes[text]
	if n == nil {
		if len(t.notes) >= errorKinds-1 {
			text = "other errors"
		}
		if n = t.notes[text]; n == nil {
			n = &Error{Message: text, FirstNs: offsetNs}
			t.notes[text] = n
		}
	}
	n.Count++
}
