package sizes

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

func TestTheSizesAreTheOnesOfTypeScript(t *testing.T) {
	text, err := os.ReadFile("../../../runner/plan/offset.table.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Sizes []struct {
			Cycle
			Seed uint64
			At   [][2]int64
		}
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Sizes) < 5 {
		t.Fatalf("the table has %d rows, that is no table", len(table.Sizes))
	}
	for _, r := range table.Sizes {
		largest := 0
		for _, run := range r.Runs {
			largest = max(largest, run[0])
		}
		r.Classes = []int{100, largest}
		if largest <= 100 {
			r.Classes = r.Classes[:1]
		}
		s, err := New(&r.Cycle, r.Seed, 48, largest)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range r.At {
			if got := s.Of(at[0]); int64(got) != at[1] {
				t.Errorf("seed %d: message %d has %d bytes; want %d", r.Seed, at[0], got, at[1])
			}
			if got, want := s.Class(at[0]), slices.IndexFunc(r.Classes, func(most int) bool { return at[1] <= int64(most) }); got != want {
				t.Errorf("seed %d: message %d is in class %d; want %d", r.Seed, at[0], got, want)
			}
		}
	}
}

func TestWithoutACycleAllHaveOneSizeAndOneClass(t *testing.T) {
	s, err := New(nil, 1, 48, 300)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int64{0, 1, 1 << 40} {
		if s.Of(i) != 300 || s.Class(i) != 0 || len(s.Classes) != 1 {
			t.Errorf("message %d has %d bytes, class %d of %v", i, s.Of(i), s.Class(i), s.Classes)
		}
	}
}

func TestACycleThatCannotBeSentIsRefused(t *testing.T) {
	for what, c := range map[string]*Cycle{
		"a size below the least":  {Runs: [][2]int{{47, 1}, {300, 1}}, Classes: []int{300}},
		"a size above the most":   {Runs: [][2]int{{301, 1}, {300, 1}}, Classes: []int{301}},
		"a size without a class":  {Runs: [][2]int{{300, 1}}, Classes: []int{299}},
		"another largest size":    {Runs: [][2]int{{299, 1}}, Classes: []int{299}},
		"nothing":                 {Classes: []int{300}},
		"more than fit in memory": {Runs: [][2]int{{300, Most + 1}}, Classes: []int{300}},
		"more classes than kept":  {Runs: [][2]int{{300, 1}}, Classes: append(make([]int, MostClasses), 300)},
	} {
		if _, err := New(c, 1, 48, 300); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}
