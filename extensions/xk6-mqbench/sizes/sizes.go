// Package sizes gives the size of a message, a function of its number and a seed, the same as in TypeScript (runner/plan/sizes.ts).
package sizes

import (
	"fmt"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/draw"
)

// Cycle is plan.json's message.sizes: the sizes of one cycle, which messages have in turn.
type Cycle struct {
	// Runs are a size and how many of it there are.
	Runs [][2]int `json:"runs"`
	// Shuffled is true if the seed decides the order. Otherwise it is the order of the runs.
	Shuffled bool `json:"shuffled"`
	// Classes are the largest sizes of the classes that results tell apart, ascending.
	Classes []int `json:"classes"`
}

// Most sizes in a cycle.
const Most = 1 << 20

// Sizes is a cycle spelled out. Safe for concurrent use.
type Sizes struct {
	classes []int
	bytes   []uint32
	class   []uint8
}

// New spells out a cycle, whose sizes are least to most bytes. No cycle means one class and one size, the largest.
func New(c *Cycle, seed uint64, least, most int) (*Sizes, error) {
	if c == nil {
		c = &Cycle{Runs: [][2]int{{most, 1}}, Classes: []int{most}}
	}
	s := &Sizes{classes: c.Classes}
	largest := 0
	for _, run := range c.Runs {
		bytes, count := run[0], run[1]
		class := 0
		for class < len(c.Classes) && bytes > c.Classes[class] {
			class++
		}
		if bytes < least || bytes > most || count < 0 || len(s.bytes)+count > Most || class == len(c.Classes) || class > 255 {
			return nil, fmt.Errorf("message: %d sizes of %d bytes: a size is %d to %d bytes and in a class, a cycle has at most %d", count, bytes, least, most, Most)
		}
		largest = max(largest, bytes)
		for range count {
			s.bytes, s.class = append(s.bytes, uint32(bytes)), append(s.class, uint8(class))
		}
	}
	if largest != most {
		return nil, fmt.Errorf("message: the largest size is %d bytes, the plan says %d", largest, most)
	}
	if row := draw.New(seed, draw.Sizes); c.Shuffled {
		for k := len(s.bytes) - 1; k > 0; k-- {
			j := row.Below(int64(k), uint32(k+1))
			s.bytes[k], s.bytes[j] = s.bytes[j], s.bytes[k]
			s.class[k], s.class[j] = s.class[j], s.class[k]
		}
	}
	return s, nil
}

// Classes are the largest sizes of the classes, ascending.
func (s *Sizes) Classes() []int { return s.classes }

// Of message i.
func (s *Sizes) Of(i int64) int {
	if len(s.bytes) == 1 { // spares all other loads the division
		return int(s.bytes[0])
	}
	return int(s.bytes[i%int64(len(s.bytes))])
}

// Class of message i, a position in Classes.
func (s *Sizes) Class(i int64) int {
	if len(s.classes) == 1 {
		return 0
	}
	return int(s.class[i%int64(len(s.class))])
}
