package schedule

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"
)

// The table is TypeScript's too: both sides of plan.json must agree to the nanosecond.
func TestOffsetAgreesWithTheTableSharedWithTypeScript(t *testing.T) {
	text, err := os.ReadFile("../../../runner/plan/offset.table.json")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Messages, PerNs, I, Ns, Count int64
	}
	var table struct{ Offset, Before []row }
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Offset) < 20 || len(table.Before) < 5 {
		t.Fatalf("the table has %d + %d rows, that is no table", len(table.Offset), len(table.Before))
	}
	for _, r := range table.Offset {
		s, err := New(r.Messages, r.PerNs)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Offset(r.I); got != r.Ns {
			t.Errorf("Offset(%d) at %d per %d ns = %d; want %d", r.I, r.Messages, r.PerNs, got, r.Ns)
		}
	}
	for _, r := range table.Before {
		s, err := New(r.Messages, r.PerNs)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Before(r.Ns); got != r.Count {
			t.Errorf("Before(%d) at %d per %d ns = %d; want %d", r.Ns, r.Messages, r.PerNs, got, r.Count)
		}
	}
}

func TestBeforeCountsExactlyTheMessagesWithASmallerOffset(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		s := Constant{Messages: 1 + random.Uint64N(1_000_003), PerNs: 1 + random.Uint64N(60_000_000_000)}
		ns := random.Int64N(10_000_000_000)
		n := s.Before(ns)
		if n > 0 && s.Offset(n-1) >= ns {
			t.Fatalf("%+v: message %d of Before(%d) = %d has offset %d", s, n-1, ns, n, s.Offset(n-1))
		}
		if s.Offset(n) < ns {
			t.Fatalf("%+v: Before(%d) = %d leaves out message %d with offset %d", s, ns, n, n, s.Offset(n))
		}
	}
}

func TestNothingDriftsInAnHour(t *testing.T) {
	for _, rate := range []uint64{3, 7, 3000, 100_001, 400_000} {
		s := Constant{Messages: rate, PerNs: 1_000_000_000}
		if got := s.Offset(int64(rate) * 3600); got != 3600*1_000_000_000 {
			t.Errorf("message %d at %d/s is due at %d ns; want exactly an hour", rate*3600, rate, got)
		}
	}
}

func TestARateOfNothingIsRefused(t *testing.T) {
	for _, r := range [][2]int64{{0, 1}, {-1, 1}, {1, 0}} {
		if _, err := New(r[0], r[1]); err == nil {
			t.Errorf("New(%d, %d) is accepted", r[0], r[1])
		}
	}
}
