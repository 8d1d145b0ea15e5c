package schedule

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"
)

type table struct {
	Offset, Before []struct{ Messages, PerNs, I, Ns, Count int64 }
	Shapes         []struct {
		About          string
		Shape          Shape
		Offset, Before [][2]int64
	}
}

func sharedTable(t *testing.T) (rows table) {
	text, err := os.ReadFile("../../../runner/plan/offset.table.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows.Offset) < 20 || len(rows.Before) < 5 || len(rows.Shapes) < 10 {
		t.Fatalf("the table has %d + %d rows and %d shapes, that is no table", len(rows.Offset), len(rows.Before), len(rows.Shapes))
	}
	return rows
}

// The table is TypeScript's too: both sides of plan.json must agree to the nanosecond.
func TestOffsetAgreesWithTheTableSharedWithTypeScript(t *testing.T) {
	rows := sharedTable(t)
	constant := func(messages, perNs int64) Schedule {
		s, err := Of(Shape{Kind: "constant", Rate: &Rate{messages, perNs}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, r := range rows.Offset {
		if got := constant(r.Messages, r.PerNs).Offset(r.I); got != r.Ns {
			t.Errorf("Offset(%d) at %d per %d ns = %d; want %d", r.I, r.Messages, r.PerNs, got, r.Ns)
		}
	}
	for _, r := range rows.Before {
		if got := constant(r.Messages, r.PerNs).Before(r.Ns); got != r.Count {
			t.Errorf("Before(%d) at %d per %d ns = %d; want %d", r.Ns, r.Messages, r.PerNs, got, r.Count)
		}
	}
	for _, r := range rows.Shapes {
		s, err := Of(r.Shape)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range r.Offset {
			if got := s.Offset(pair[0]); got != pair[1] {
				t.Errorf("%s: Offset(%d) = %d; want %d", r.About, pair[0], got, pair[1])
			}
		}
		for _, pair := range r.Before {
			if got := s.Before(pair[0]); got != pair[1] {
				t.Errorf("%s: Before(%d) = %d; want %d", r.About, pair[0], got, pair[1])
			}
		}
	}
}

func TestOfEveryShapeBeforeIsTheInverseOfOffset(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, r := range sharedTable(t).Shapes {
		s, err := Of(r.Shape)
		if err != nil {
			t.Fatal(err)
		}
		horizonNs := s.Offset(100_000)
		for range 2000 {
			ns := random.Int64N(horizonNs)
			n := s.Before(ns)
			if n > 0 && s.Offset(n-1) >= ns || s.Offset(n) < ns {
				t.Fatalf("%s: Before(%d) = %d, but messages around it are due at %d and %d", r.About, ns, n, s.Offset(max(0, n-1)), s.Offset(n))
			}
			// Also where a message is due exactly then.
			if at := s.Offset(n); at < neverNs && (s.Before(at) > n || s.Before(at+1) <= n) {
				t.Fatalf("%s: message %d is due at %d, Before has %d until then and %d after it", r.About, n, at, s.Before(at), s.Before(at+1))
			}
		}
		if s.Before(0) != 0 || s.Before(-5) != 0 {
			t.Errorf("%s: messages are due before T0", r.About)
		}
	}
}

func TestOffsetsNeverGoBack(t *testing.T) {
	for _, r := range sharedTable(t).Shapes {
		s, err := Of(r.Shape)
		if err != nil {
			t.Fatal(err)
		}
		last := s.Offset(0)
		for i := int64(1); i < 400_000; i++ {
			now := s.Offset(i)
			if now < last {
				t.Fatalf("%s: message %d is due at %d, the one before at %d", r.About, i, now, last)
			}
			last = now
		}
	}
}

func TestAShapeThatIsNoneIsRefusedInWords(t *testing.T) {
	one := Rate{1, 1}
	for what, shape := range map[string]Shape{
		"a closed load":            {Kind: "closed"},
		"an unknown kind":          {Kind: "bursty", Rate: &one},
		"constant at a rate of 0":  {Kind: "constant", Rate: &Rate{0, 1}},
		"constant at -1/ns":        {Kind: "constant", Rate: &Rate{-1, 1}},
		"constant per 0 ns":        {Kind: "constant", Rate: &Rate{1, 0}},
		"poisson without a rate":   {Kind: "poisson"},
		"poisson at a rate of 0":   {Kind: "poisson", Rate: &Rate{0, 1}},
		"stages without pieces":    {Kind: "stages"},
		"stages without messages":  {Kind: "stages", Pieces: []Piece{{1000, Rate{0, 1}, Rate{0, 1}}}},
		"a stage of -1/s":          {Kind: "stages", Pieces: []Piece{{1000, Rate{-1, 1}, one}}},
		"a stage that lasts -1 ns": {Kind: "stages", Pieces: []Piece{{-1, one, one}}},
	} {
		if s, err := Of(shape); err == nil {
			t.Errorf("%s is accepted as %+v", what, s)
		}
	}
}
