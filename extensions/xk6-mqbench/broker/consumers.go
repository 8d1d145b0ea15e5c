package broker

import (
	"slices"
	"sync"
)

// List is what a session has made so far, such as its consumers. Its zero value is empty. Any goroutine may call its methods.
type List[T any] struct {
	mu   sync.Mutex
	made []T
}

// Add adds one.
func (l *List[T]) Add(one T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made = append(l.made, one)
}

// All are those that were added, in that order. The caller may change the slice.
func (l *List[T]) All() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.made)
}

// Readers knows who takes from each queue, of a system that gives each message to one consumer: the members of one group, or one consumer that
// shares with nobody. Its zero value knows of none. Any goroutine may call its methods.
type Readers struct {
	mu sync.Mutex
	// groups by queue; "": a consumer that shares with nobody.
	groups map[string]string
}

// Admit notes a subscription. It returns false if others would take its messages away.
func (r *Readers) Admit(to Subscription) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.groups == nil {
		r.groups = map[string]string{}
	}
	group, taken := r.groups[to.Topic]
	if taken && (group != to.Group || group == "") {
		return false
	}
	r.groups[to.Topic] = to.Group
	return true
}
