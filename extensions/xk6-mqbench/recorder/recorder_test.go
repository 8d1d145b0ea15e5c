package recorder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// frame keeps everything; all messages are of the window by their number.
func frame(startNs, endNs int64) Frame {
	return Frame{StartNs: startNs, EndNs: endNs, Metrics: Metrics(), WarmUp: true}
}

func complete(s *Shard, offset, response, lag int64) {
	if s.Enter() {
		s.Received(0, offset+response)
		s.Completed(0, offset, offset+response, offset, lag)
		s.Leave()
	}
}

func TestPercentilesAreThoseOfTheSortedSamplesToThreeDigits(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	r := New(4, frame(0, secondNs), nil)
	var samples []int64
	var sum int64
	for i := range 50_000 {
		ns := int64(math.Exp(random.Float64()*18 + 4)) // 55 ns .. 3.5 s
		samples = append(samples, ns)
		sum += ns
		complete(r.Shard(i), random.Int64N(secondNs), ns, 0)
	}
	slices.Sort(samples)
	s := r.Take(0)
	exact := s.Exact(Response)
	if exact.Count != 50_000 || exact.Sum != sum || exact.Min != samples[0] || exact.Max != samples[len(samples)-1] {
		t.Errorf("exact = %+v; want 50000 samples, sum %d, %d..%d", exact, sum, samples[0], samples[len(samples)-1])
	}
	for _, p := range []float64{50, 90, 99, 99.9, 99.99} {
		want := samples[int(math.Ceil(float64(len(samples))*p/100))-1]
		if got, _ := s.Percentile(Response, p); math.Abs(float64(got-want)) > float64(want)*0.001+1 {
			t.Errorf("p%g = %d; want %d within 0.1 %%", p, got, want)
		}
	}
}

func TestASampleBelongsToTheSecondOfItsIntendedTimeCountedFromTheWindow(t *testing.T) {
	const warmup = 1_500_000_000
	r := New(1, frame(warmup, warmup+2*secondNs), nil)
	s := r.Shard(0)
	for _, c := range []struct {
		offset int64
		want   int
		words  string
	}{
		{0, -2, "first message, in the half second of the warm-up"},
		{499_999_999, -2, "last of it"},
		{500_000_000, -1, "first full second of the warm-up"},
		{warmup - 1, -1, "last message of the warm-up"},
		{warmup, 0, "first of the window"},
		{warmup + secondNs, 1, "second second"},
	} {
		if got := r.SecondOf(c.offset); got != c.want {
			t.Errorf("%s: SecondOf(%d) = %d; want %d", c.words, c.offset, got, c.want)
		}
		complete(s, c.offset, 1000, 0)
	}
	if n := r.Take(-2).Exact(Response).Count; n != 2 {
		t.Errorf("the first stretch of the warm-up has %d samples; want 2", n)
	}
}

func TestLimitsAreCountedExactlyPerHundredMilliseconds(t *testing.T) {
	r := New(2, frame(0, secondNs), []Limit{{Response, 5000}, {Lag, 100}})
	complete(r.Shard(0), 0, 5000, 0)              // at the limit: not over
	complete(r.Shard(1), 99_999_999, 5001, 0)     // over by one nanosecond
	complete(r.Shard(0), 100_000_000, 9000, 0)    // next 100 ms
	complete(r.Shard(1), 950_000_000, 9000, 4000) // over because of the generator only
	if over := r.Over(); !slices.Equal(over, []int64{3, 0}) {
		t.Errorf("over = %v; want 3 and 0", over)
	}
	got := r.Take(0).Limits[0]
	want := limitCounts{
		Count:          [Pieces]int64{2, 1, 0, 0, 0, 0, 0, 0, 0, 1},
		Over:           [Pieces]int64{1, 1, 0, 0, 0, 0, 0, 0, 0, 1},
		OverWithoutLag: [Pieces]int64{1, 1},
	}
	if got != want {
		t.Errorf("limits = %+v; want %+v", got, want)
	}
}

func TestNoValueDisappears(t *testing.T) {
	r := New(2, frame(0, secondNs), nil)
	complete(r.Shard(0), 5, -3, 0)
	complete(r.Shard(1), 5, -9, 0)
	complete(r.Shard(0), 5, -1, 0)
	complete(r.Shard(0), 5, HighestNs+1, 0)
	complete(r.Shard(1), 5, 7, 0)
	got := r.Take(0).Exact(Response)
	want := Exact{Count: 5, Sum: HighestNs + 7, Min: 0, Max: HighestNs, Clamped: 1, Negative: 3, Lowest: -9}
	if got != want {
		t.Errorf("exact = %+v; want %+v", got, want)
	}
}

func TestStragglersOpenTheirSecondAgainAndNothingIsCountedTwice(t *testing.T) {
	for _, interval := range []int64{1, 10} {
		f := frame(0, 60*secondNs)
		f.IntervalSeconds = interval
		r := New(1, f, nil)
		complete(r.Shard(0), interval*secondNs-1, 100, 0)
		if n := r.Take(0).Exact(Response).Count; n != 1 {
			t.Fatalf("by %d s: %d samples; want 1", interval, n)
		}
		complete(r.Shard(0), (interval-1)*secondNs/3, 6*secondNs, 0)
		if s := r.Take(0); s.Number != 0 || s.Exact(Response).Count != 1 || s.Exact(Response).Max != 6*secondNs || len(r.Numbers()) != 0 {
			t.Errorf("by %d s: second %d with %+v, %v left; want second 0 with the straggler", interval, s.Number, s.Exact(Response), r.Numbers())
		}
	}
}

func TestAWindowThatOpensLaterHasItsSecondsFromThereAndNoneOfTheWarmUp(t *testing.T) {
	const first, opens = 100, 3_300_000_000
	r := New(3, Frame{StartNs: Unopened, EndNs: Endless, First: first, Metrics: []Metric{Service}}, nil)
	record := func(i, atNs int64) {
		s := r.Shard(int(i))
		s.Enter()
		s.Sent(i, atNs, atNs, 0, 0)
		s.Received(i, atNs+50)
		s.Completed(i, atNs, atNs+50, atNs, 0)
		s.Leave()
	}
	record(99, 1_000_000_000)
	if _, open := r.StartNs(); open || len(r.Numbers()) != 0 {
		t.Errorf("seconds %v are there before the window opens", r.Numbers())
	}
	r.Open(opens)
	record(99, opens+1) // a straggler of the warm-up
	record(100, opens+100)
	record(101, opens+1_200_000_000)
	r.End(opens + 1_500_000_000)
	if n := r.Take(0).Exact(Service).Count; n != 1 {
		t.Errorf("the first second has %d values; want 1", n)
	}
	if last := r.Take(1); last.StartNs != opens+secondNs || last.LengthNs != 500_000_000 {
		t.Errorf("the last second is from %d, %d ns long; want half a second", last.StartNs, last.LengthNs)
	}
	totals := r.Totals()
	if totals.Sent.All != 4 || *totals.Sent.First() != opens+100 || *totals.Received.Last() != opens+1_200_000_050 || totals.Acked.Last() != nil {
		t.Errorf("totals %+v; want the window's messages of all shards in the spans, and no acknowledgement", totals)
	}
}

func TestTheLogIsReadByTheLibraryAndClosedByATrailer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "client-0.hlog")
	file, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const warmup = secondNs
	r := New(1, frame(warmup, warmup+1_500_000_000), nil)
	for i := range int64(1000) {
		complete(r.Shard(0), i*2_500_000, i*1000, 0)
	}
	t0 := time.UnixMilli(1_700_000_000_123)
	l := NewLog(file, t0)
	for n := -1; n <= 1; n++ {
		l.Second(r.Take(n))
	}
	l.Trailer("complete")
	if _, err := os.Stat(path); err == nil {
		t.Error("the log has its name before it is finished")
	}
	if err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := bytes.LastIndex(text[:len(text)-1], []byte("\n")) + 1
	sum := sha256.Sum256(text[:end])
	lines := bytes.Count(text[:end], []byte("\n"))
	if want := fmt.Sprintf("#[Trailer: lines=%d,sha256=%s,state=complete]\n", lines, hex.EncodeToString(sum[:])); string(text[end:]) != want {
		t.Errorf("trailer = %q; want %q", text[end:], want)
	}
	if !strings.Contains(string(text), "Tag=response,2.000,0.500,") {
		t.Error("the last interval of a window of 1.5 s is not half a second long")
	}
	var counts []int64
	reader := hdr.NewHistogramLogReader(bytes.NewReader(text))
	for {
		h, err := reader.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		if h.Tag() == "response" {
			counts = append(counts, h.TotalCount())
		}
	}
	if !slices.Equal(counts, []int64{400, 200}) {
		t.Errorf("counts of the window's intervals = %v; want 400 and 200", counts)
	}
}

func TestAFullDiskIsNotAFinishedFile(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full on this system")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	file, err := Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	file.file, file.buf = full, nil
	file.buf = newBuffer(full)
	file.Line([]byte("one"))
	if err := file.Finish(); err == nil {
		t.Error("a file that could not be written is finished")
	}
}

// The hot path: one send and one receipt, with two limits.
func BenchmarkRecord(b *testing.B) {
	r := New(2, frame(0, 3600*secondNs), []Limit{{Response, 5000}, {Response, 20_000_000}})
	sends, receipts := r.Shard(0), r.Shard(1)
	b.ReportAllocs()
	for i := range int64(b.N) {
		offset := i * 10_000 % secondNs
		sends.Enter()
		sends.Sent(i, offset, offset, 10, 0)
		sends.Leave()
		receipts.Enter()
		receipts.Received(i, offset+60_000)
		receipts.Completed(i, offset, offset+60_000+i%1000, offset+10, 10)
		receipts.Leave()
	}
}
