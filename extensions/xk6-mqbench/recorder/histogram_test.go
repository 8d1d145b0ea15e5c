package recorder

import (
	"crypto/sha256"
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func TestBucketsAreThoseOfTheHistogramAndOfABreakdownWholeOnes(t *testing.T) {
	h := hdr.New(lowestNs, HighestNs, digits)
	for _, leading := range []int{bucketBits, histogramBits} {
		for k := range bucketOf(HighestNs, leading) {
			from, next := bucketStart(k, leading), bucketStart(k+1, leading)
			if first, last := bucketOf(from, leading), bucketOf(next-1, leading); first != k || last != k {
				t.Fatalf("bucket %d is from %d to %d, and these are in %d and %d", k, from, next-1, first, last)
			}
			if h.ValuesAreEquivalent(next-1, next) || leading == histogramBits && !h.ValuesAreEquivalent(from, next-1) {
				t.Fatalf("bucket %d, from %d to %d, is not what the histogram's are", k, from, next-1)
			}
			// From 16 ns on it is at most a sixteenth of its values wide.
			if from >= 16 && (next-from)*16 > from {
				t.Errorf("bucket %d, from %d to %d, is wider than a sixteenth", k, from, next-1)
			}
		}
	}
	if last := bucketOf(HighestNs, bucketBits); last >= buckets {
		t.Errorf("the last value is in bucket %d of %d", last, buckets)
	}
}

// The library of HdrHistogram is the simple, slow implementation.
func TestAHistogramIsWhatTheLibraryMakesOfTheSameValues(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	l := NewLog(&File{buf: newBuffer(io.Discard), hash: sha256.New()}, time.Now())
	for _, n := range []int{1, 2, 10, 1000, 200_000} {
		theirs, ours := hdr.New(lowestNs, HighestNs, digits), make([]int64, histogramBuckets)
		record := func(ns int64) {
			_ = theirs.RecordValue(ns)
			ours[bucketOf(ns, histogramBits)]++
		}
		if n > 2 {
			record(0)
			record(HighestNs)
		}
		for range n {
			record(int64(math.Exp(random.Float64() * math.Log(float64(HighestNs)))))
		}
		if read, err := hdr.Decode(l.encode(ours)); err != nil || !read.Equals(theirs) {
			t.Errorf("%d values: the library reads another histogram (%v)", n, err)
		}
		for _, p := range []float64{1, 50, 90, 99, 99.9, 99.999, 100} {
			if got, want := percentile(ours, theirs.TotalCount(), p), theirs.ValueAtPercentile(p); got != want {
				t.Errorf("%d values: p%g is %d; want %d", n, p, got, want)
			}
		}
	}
}

// BenchmarkEncode measures the cost of a second's end for each metric.
func BenchmarkEncode(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	l, counts := NewLog(&File{buf: newBuffer(io.Discard), hash: sha256.New()}, time.Now()), make([]int64, histogramBuckets)
	for range 1_000_000 {
		counts[bucketOf(int64(math.Exp(random.NormFloat64()*1.5+11)), histogramBits)]++
	}
	b.ReportAllocs()
	for b.Loop() {
		l.encode(counts)
	}
}
