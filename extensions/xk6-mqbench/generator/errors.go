package generator

import (
	"slices"
	"strings"
	"sync"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
)

// errorTally counts errors by their wording. Any goroutine may use it.
type errorTally struct {
	mu    sync.Mutex
	notes map[string]*errorNote
}

type errorNote struct {
	Message string `json:"message"`
	Count   int64  `json:"count"`
	// FirstNs is the intended time of the first message that met the error; nil: it was not of a message.
	FirstNs *int64 `json:"firstNs"`
}

// errorKinds is how many different messages are kept apart.
const errorKinds = 20

func newErrorTally() *errorTally { return &errorTally{notes: map[string]*errorNote{}} }

// note counts an error that belongs to no message.
func (t *errorTally) note(err error) { t.count(err, nil) }

// noteAt counts an error that the message with this intended time met.
func (t *errorTally) noteAt(err error, offsetNs int64) { t.count(err, &offsetNs) }

// list has the commonest first.
func (t *errorTally) list() []errorNote {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]errorNote, 0, len(t.notes))
	for _, n := range t.notes {
		list = append(list, *n)
	}
	slices.SortFunc(list, func(x, y errorNote) int {
		if x.Count != y.Count {
			return int(y.Count - x.Count)
		}
		return strings.Compare(x.Message, y.Message)
	})
	return list
}

// --- internal ---

func (t *errorTally) count(err error, offsetNs *int64) {
	text := address.Masked(err)
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.notes[text]
	if n == nil {
		if len(t.notes) >= errorKinds-1 {
			text = "other errors"
		}
		if n = t.notes[text]; n == nil {
			n = &errorNote{Message: text, FirstNs: offsetNs}
			t.notes[text] = n
		}
	}
	n.Count++
}
