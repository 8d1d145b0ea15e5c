package recorder

import "sync"

// Shard takes measurements under its own lock. Records of one message may go to different shards.
type Shard struct {
	recorder *Recorder
	mu       sync.Mutex
	seconds  map[int]*second
	// newest is the latest second so far; seconds older than the one before it are sparse.
	newest int
	// last is the second of the previous record, which is nearly always the one needed.
	last     *second
	lastHere int
	free     [][]uint32
	closed   bool
	totals   Totals
	slow     slowest
	// breakdown of the window's messages; nil if none of them has completed here.
	breakdown *[buckets]Bucket
	// over counts the messages of the window above each limit.
	over []int64
	// completed has the seconds that were not taken yet.
	completed []*completions
	_         [64]byte // shards do not share a cache line
}

// Enter locks the shard for one message's records and the caller's books about it, until Leave. After Close it returns false and locks nothing.
func (s *Shard) Enter() bool {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	return true
}

// Leave unlocks the shard.
func (s *Shard) Leave() { s.mu.Unlock() }

// Settled records that a message has left flight: completed or failed, whichever came first. Call it between Enter and Leave.
func (s *Shard) Settled() { s.totals.Settled++ }

// Sent records message i after its send call, between Enter and Leave. All times are ns since T0 or durations. offsetNs is the time under
// which the message is filed: the intended one, or in closed loads the send call's.
func (s *Shard) Sent(i, offsetNs, callNs, lagNs, queuedNs int64) {
	s.tally(&s.totals.Sent, i, callNs)
	if !s.keeps(Lag, i) {
		return
	}
	sec := s.at(offsetNs)
	s.record(sec, Lag, i, offsetNs, lagNs, lagNs)
	s.record(sec, Queued, i, offsetNs, queuedNs, 0)
}

// Received counts a distinct receipt of message i, between Enter and Leave.
func (s *Shard) Received(i, receivedNs int64) {
	s.tally(&s.totals.Received, i, receivedNs)
	if !s.recorder.acks {
		s.complete(receivedNs)
	}
}

// Completed records that the response of message i ended, between Enter and Leave.
func (s *Shard) Completed(i, offsetNs, completedNs, sentNs, lagNs int64) {
	if !s.keeps(Service, i) {
		return
	}
	responseNs, queuedNs, serviceNs := completedNs-offsetNs, sentNs-offsetNs-lagNs, completedNs-sentNs
	sec := s.at(offsetNs)
	s.record(sec, Service, i, offsetNs, serviceNs, 0)
	if !s.recorder.kept[Response] {
		return
	}
	s.record(sec, Response, i, offsetNs, responseNs, lagNs)
	if i >= s.recorder.first.Load() {
		s.breakDown(responseNs, queuedNs, lagNs, serviceNs)
		s.slow.offer(Slow{
			Index: i, OffsetNs: offsetNs, ResponseNs: responseNs, QueuedNs: queuedNs, LagNs: lagNs, ServiceNs: serviceNs,
		})
	}
}

// Last records that the last subscriber has its copy of message i, between Enter and Leave.
func (s *Shard) Last(i, offsetNs, receivedNs, lagNs int64) {
	s.single(Last, i, offsetNs, receivedNs-offsetNs, lagNs)
}

// Acked records the acknowledgement of message i, between Enter and Leave.
func (s *Shard) Acked(i, offsetNs, ackedNs, lagNs int64) {
	s.tally(&s.totals.Acked, i, ackedNs)
	if s.recorder.acks {
		s.complete(ackedNs)
	}
	s.single(Ack, i, offsetNs, ackedNs-offsetNs, lagNs)
}

// --- internal ---

func (s *Shard) keeps(m Metric, i int64) bool {
	r := s.recorder
	return r.kept[m] && (i >= r.first.Load() || r.warmUp)
}

// single records a value of a metric that comes without others.
func (s *Shard) single(m Metric, i, offsetNs, ns, lagNs int64) {
	if s.keeps(m, i) {
		s.record(s.at(offsetNs), m, i, offsetNs, ns, lagNs)
	}
}

func (s *Shard) at(offsetNs int64) *second {
	n := s.recorder.SecondOf(offsetNs)
	if s.last != nil && s.lastHere == n {
		return s.last
	}
	sec := s.seconds[n]
	if sec == nil {
		sec = &second{limits: make([]limitCounts, len(s.recorder.limits))}
		s.newest = max(s.newest, n)
		sec.sparse = n < s.newest-int(s.recorder.interval)
		s.seconds[n] = sec
	}
	s.last, s.lastHere = sec, n
	return sec
}

// record adds one value of message i to its cell. lagNs is the part of it that the generator caused.
func (s *Shard) record(sec *second, m Metric, i, offsetNs, ns, lagNs int64) {
	s.cell(sec, m).record(ns)
	if r := s.recorder; r.class != nil && m == r.byClass && i >= r.first.Load() {
		s.cell(sec, metrics+Metric(r.class(i))).record(ns)
	}
	for k, limit := range s.recorder.limits {
		if limit.Metric != m {
			continue
		}
		startNs := s.recorder.windowStartNs.Load()
		sinceNs := offsetNs - startNs
		piece := int((sinceNs - floorDiv(sinceNs, secondNs)*secondNs) / pieceNs)
		if n := s.recorder.interval; n > 1 && sinceNs >= 0 {
			piece = int(sinceNs % (n * secondNs) / (n * pieceNs))
		}
		counts := &sec.limits[k]
		counts.Count[piece]++
		if ns > limit.Ns {
			counts.Over[piece]++
			if sinceNs >= 0 {
				s.over[k]++
			}
		}
		if ns-lagNs > limit.Ns {
			counts.OverWithoutLag[piece]++
		}
	}
}

// cell of a second, which is made for its first value.
func (s *Shard) cell(sec *second, row Metric) *cell {
	c := sec.cells[row]
	if c == nil {
		c = &cell{}
		if sec.sparse {
			c.sparse = map[int]uint32{}
		} else {
			c.dense = s.counts()
		}
		sec.cells[row] = c
	}
	return c
}

func (s *Shard) counts() []uint32 {
	if n := len(s.free); n > 0 {
		h := s.free[n-1]
		s.free = s.free[:n-1]
		return h
	}
	return make([]uint32, histogramBuckets)
}
