// Package keys draws the key of a message. It depends only on the message's number and a seed.
package keys

import (
	"fmt"
	"math"
	"strconv"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/draw"
)

// Exponent of the zipf distribution, YCSB's ZIPFIAN_CONSTANT: key k, from 0, has a probability in proportion to 1 / (k + 1)^0.99 (Gray et al.,
// "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994). With 1000 keys the first one gets 13 % of the messages.
const Exponent = 0.99

// Most keys that are allowed: all are kept in memory, about 30 bytes each.
const Most = 10_000_000

// Keys is one distribution over numbered keys. Safe for concurrent use; nothing is allocated after New.
type Keys struct {
	number func(i int64) int64
	text   []byte
	// Key n is text[ends[n]:ends[n+1]].
	ends []uint32
}

// New makes the keys 0 .. count-1, "round-robin" (message i has key i mod count), "random" (equally likely) or "zipf".
func New(distribution string, count int, seed uint64) (*Keys, error) {
	if count < 1 || count > Most {
		return nil, fmt.Errorf("keys: count must be 1 to %d, got %d", Most, count)
	}
	k := &Keys{ends: make([]uint32, count+1)}
	row := draw.New(seed, draw.Keys)
	switch distribution {
	case "round-robin":
		k.number = func(i int64) int64 { return i % int64(count) }
	case "random":
		k.number = func(i int64) int64 { return int64(row.Below(i, uint32(count))) }
	case "zipf":
		a := newAlias(zipf(count))
		k.number = func(i int64) int64 { return a.draw(row.Uniform(i)) }
	default:
		return nil, fmt.Errorf("keys: distribution must be round-robin, random or zipf, got %q", distribution)
	}
	for n := range count {
		k.text = strconv.AppendInt(append(k.text, 'k'), int64(n), 10)
		k.ends[n+1] = uint32(len(k.text))
	}
	return k, nil
}

// Number of the key of message i.
func (k *Keys) Number(i int64) int64 { return k.number(i) }

// Bytes of key n, "k<n>". They are shared, so do not change them.
func (k *Keys) Bytes(n int64) []byte {
	end := k.ends[n+1]
	return k.text[k.ends[n]:end:end]
}

// --- internal ---

// zipf is the probability of each key.
func zipf(count int) []float64 {
	likely := make([]float64, count)
	sum := 0.0
	for k := range likely {
		likely[k] = math.Pow(float64(k+1), -Exponent)
		sum += likely[k]
	}
	for k := range likely {
		likely[k] /= sum
	}
	return likely
}

// alias draws from any distribution in one step: column k holds key k up to keep[k], and key other[k] above it (Walker's method, built
// as in Vose, "A Linear Algorithm for Generating Random Numbers with a Given Distribution", 1991).
type alias struct {
	keep  []float64
	other []uint32
}

func newAlias(likely []float64) *alias {
	n := len(likely)
	a := &alias{keep: make([]float64, n), other: make([]uint32, n)}
	var small, large []uint32
	for k, p := range likely {
		a.keep[k], a.other[k] = p*float64(n), uint32(k)
		if a.keep[k] < 1 {
			small = append(small, uint32(k))
		} else {
			large = append(large, uint32(k))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.other[s] = l
		a.keep[l] -= 1 - a.keep[s]
		if a.keep[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	// The rest is 1 except for rounding. It fills its whole column, since other is the key itself.
	return a
}

// draw splits a number in (0, 1], in units of a column: the whole part is the column, the rest decides within it.
func (a *alias) draw(uniform float64) int64 {
	at := uniform * float64(len(a.keep))
	column := min(int(at), len(a.keep)-1)
	if at-float64(column) < a.keep[column] {
		return int64(column)
	}
	return int64(a.other[column])
}
