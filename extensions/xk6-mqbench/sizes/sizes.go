// Package sizes gives the size of a message, a function of its number and a seed, the same as in TypeScript (runner/plan/sizes.ts).
package sizes

import (
	"fmt"
	"slices"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/draw"
)

// Cycle is plan.json's message.sizes: the sizes of one cycle, which messages have in turn.
type Cycle struct {
	// Runs are a size and how many of it there are.
	Runs [][2]int `json:"runs"`
	// Shuffled is true if the seed decides the order. Otherwise it is the order of the runs.
	Shuffled bool `json:"shuffled"`
	// Classes are the largest sizes of the classes that results tell apart, ascending.
	Classes   []int `json:"classes"`
	MeanBytes int   `json:"meanBytes"`
}

// Most sizes in a cycle, and MostClasses of them.
const (
	Most        = 1 << 20
	MostClasses = 16
)

// Sizes is a cycle spelled out. Safe for concurrent use.
type Sizes struct {
	// Classes are the largest sizes of the classes, ascending.
	Classes []int
	cycle   []size
}

type size struct {
	bytes uint32
	class uint32
}

// New spells out a cycle, whose sizes are least to most bytes. No cycle means one class and one size, the largest.
func New(c *Cycle, seed uint64, least, most int) (*Sizes, error) {
	if c == nil {
		c = &Cycle{Runs: [][2]int{{most, 1}}, Classes: []int{most}}
	}
	s := &Sizes{Classes: c.Classes}
	for _, run := range c.Runs {
		class, _ := slices.BinarySearch(c.Classes, run[0])
		if run[0] < least || len(s.cycle)+run[1] > Most || class == min(len(c.Classes), MostClasses) {
			return nil, fmt.Errorf("message: %d sizes of %d bytes: a size is at least %d bytes and in a class, a cycle has at most %d", run[1], run[0], least, Most)
		}
		for range run[1] {
			s.cycle = append(s.cycle, size{uint32(run[0]), uint32(class)})
		}
	}
	if len(s.cycle) == 0 || c.Classes[len(c.Classes)-1] != most {
		return nil, fmt.Errorf("message: sizes %v, classes %v: the largest is not %d bytes", c.Runs, c.Classes, most)
	}
	if row := draw.New(seed, draw.Sizes); c.Shuffled {
		for k := len(s.cycle) - 1; k > 0; k-- {
			j := row.Below(int64(k), uint32(k+1))
			s.cycle[k], s.cycle[j] = s.cycle[j], s.cycle[k]
		}
	}
	return s, nil
}

// Of message i.
func (s *Sizes) Of(i int64) int { return int(s.at(i).bytes) }

// Class of message i, a position in Classes.
func (s *Sizes) Class(i int64) int { return int(s.at(i).class) }

// --- internal ---

func (s *Sizes) at(i int64) *size {
	if len(s.cycle) == 1 { // spares most loads the division
		return &s.cycle[0]
	}
	return &s.cycle[i%int64(len(s.cycle))]
}
