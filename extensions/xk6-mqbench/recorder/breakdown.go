package recorder

import "math/bits"

// Response times are broken down in buckets of a sixteenth of an octave. Each is a number of whole buckets of the histogram of response
// times, so that a percentile from there lies in exactly one bucket here.
const (
	// A value's leading bits, so many, tell its bucket: below 2^bucketBits ns each ns has its own.
	bucketBits = 5
	perOctave  = 1 << (bucketBits - 1)
	// 42 is the number of bits of HighestNs.
	buckets = (42 - bucketBits + 2) * perOctave
)

// Bucket adds up the messages whose response time lies from FromNs to ToNs, both included. QueuedNs + LagNs + ServiceNs is the sum of
// their response times, as measured: those below 0 are in the bucket of 0, those above HighestNs in its bucket.
type Bucket struct {
	FromNs    int64 `json:"fromNs"`
	ToNs      int64 `json:"toNs"`
	Messages  int64 `json:"messages"`
	QueuedNs  int64 `json:"queuedNs"`
	LagNs     int64 `json:"lagNs"`
	ServiceNs int64 `json:"serviceNs"`
}

// Breakdown lists the buckets that hold messages of the window, in order.
func (r *Recorder) Breakdown() []Bucket {
	var all breakdown
	for _, s := range r.shards {
		s.mu.Lock()
		if s.breakdown != nil {
			for k, o := range s.breakdown {
				all[k].add(o.messages, o.queuedNs, o.lagNs, o.serviceNs)
			}
		}
		s.mu.Unlock()
	}
	list := []Bucket{}
	for k, sums := range all {
		if sums.messages > 0 {
			list = append(list, Bucket{bucketStart(k), bucketStart(k+1) - 1, sums.messages, sums.queuedNs, sums.lagNs, sums.serviceNs})
		}
	}
	return list
}

// --- internal ---

type breakdown [buckets]sums

type sums struct{ messages, queuedNs, lagNs, serviceNs int64 }

func (s *sums) add(messages, queuedNs, lagNs, serviceNs int64) {
	s.messages += messages
	s.queuedNs += queuedNs
	s.lagNs += lagNs
	s.serviceNs += serviceNs
}

// breakDown adds a message. Every message passes here: one index and four additions.
func (s *Shard) breakDown(responseNs, queuedNs, lagNs, serviceNs int64) {
	if s.breakdown == nil {
		s.breakdown = new(breakdown)
	}
	s.breakdown[bucketOf(min(max(0, responseNs), HighestNs))].add(1, queuedNs, lagNs, serviceNs)
}

// bucketOf a response time from 0 to HighestNs.
func bucketOf(ns int64) int {
	octave := max(0, bits.Len64(uint64(ns))-bucketBits)
	return octave*perOctave + int(ns>>octave)
}

// bucketStart is the shortest response time in a bucket.
func bucketStart(k int) int64 {
	octave := max(0, k/perOctave-1)
	return int64(k-octave*perOctave) << octave
}
