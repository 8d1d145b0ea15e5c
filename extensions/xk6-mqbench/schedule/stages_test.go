package schedule

import "testing"

func second(n int64) int64 { return n * 1_000_000_000 }

func perSecond(n int64) Rate { return Rate{n, 1_000_000_000} }

func stages(t *testing.T, pieces ...Piece) *Stages {
	t.Helper()
	s, err := NewStages(pieces)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAFlatStageIsAConstantSchedule(t *testing.T) {
	for _, rate := range []Rate{perSecond(3000), perSecond(100_001), {7, 3_000_000_000}, {90, 60_000_000_000}} {
		flat := stages(t, Piece{second(3600), rate, rate})
		constant, err := New(rate.Messages, rate.PerNs)
		if err != nil {
			t.Fatal(err)
		}
		for i := int64(0); i < 1_000_000; i = i*3/2 + 1 {
			if got, want := flat.Offset(i), constant.Offset(i); got != want {
				t.Errorf("at %+v message %d is due at %d; constant has %d", rate, i, got, want)
			}
		}
	}
}

func TestPiecesMeetExactly(t *testing.T) {
	s := stages(t,
		Piece{second(5), perSecond(1000), perSecond(1000)},
		Piece{second(10), perSecond(1000), perSecond(5000)},
		Piece{second(20), perSecond(5000), perSecond(5000)},
		Piece{second(10), perSecond(5000), perSecond(1000)},
	)
	// 5 s x 1000, 10 s x 3000 in the mean, 20 s x 5000, 10 s x 3000.
	for i, at := range map[int64]int64{0: 0, 5000: 5, 35_000: 15, 135_000: 35, 165_000: 45} {
		if got := s.Offset(i); got != second(at) {
			t.Errorf("message %d is due at %d ns; want exactly %d s", i, got, at)
		}
		if got := s.Before(second(at)); got != i {
			t.Errorf("%d messages are due before %d s; want %d", got, at, i)
		}
	}
	// After the end the rate stays at 1000/s.
	if got := s.Offset(166_000); got != second(46) {
		t.Errorf("message 166000 is due at %d ns; want 46 s", got)
	}
}

func TestOffsetsFollowTheIntegralOfTheRate(t *testing.T) {
	pieces := []Piece{
		{second(2), perSecond(100), perSecond(3000)},
		{second(1), perSecond(3000), perSecond(3000)},
		{second(0), perSecond(3000), perSecond(7)},
		{second(3), perSecond(5000), perSecond(1)},
		{second(2), Rate{1, 2_000_000_000}, perSecond(20_000)},
	}
	s := stages(t, pieces...)
	// Numeric integration, by rectangles of 10 us with the rate at their middle: exact for straight lines.
	const stepNs = 10_000
	sum, now, i := 0.0, int64(0), int64(0)
	for _, p := range pieces {
		from := float64(p.From.Messages) / float64(p.From.PerNs)
		to := float64(p.To.Messages) / float64(p.To.PerNs)
		for in := int64(0); in < p.DurationNs; in += stepNs {
			sum += (from + (to-from)*(float64(in)+stepNs/2)/float64(p.DurationNs)) * stepNs
			now += stepNs
			for ; float64(i) < sum-1e-6; i++ {
				if at := s.Offset(i); at < now-stepNs-1 || at > now+1 {
					t.Fatalf("message %d is due at %d ns; the integral reaches it between %d and %d", i, at, now-stepNs, now)
				}
			}
		}
	}
	if i < 20_000 {
		t.Errorf("the integral saw %d messages only", i)
	}
}

func TestASteepFallDoesNotLeaveTheNumbers(t *testing.T) {
	s := stages(t, Piece{second(10), perSecond(10_000_000), Rate{1, 3_600_000_000_000}})
	last := int64(0)
	for i := int64(49_999_000); i < 50_001_000; i++ {
		at := s.Offset(i)
		if at < last || i < 50_000_000 && at > second(10) {
			t.Fatalf("message %d is due at %d ns, the one before at %d", i, at, last)
		}
		last = at
	}
}
