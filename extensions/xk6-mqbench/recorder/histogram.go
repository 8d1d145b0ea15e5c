package recorder

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/bits"
)

// The geometry of every histogram, HdrHistogram's: 1 ns to an hour, 3 digits. All histograms of a run can be merged.
const (
	lowestNs  = 1
	HighestNs = 3_600_000_000_000
	digits    = 3
	// The histogramBits leading bits of a value determine its bucket; 42 is the number of bits of HighestNs.
	histogramBits    = 11
	histogramBuckets = (42 - histogramBits + 2) << (histogramBits - 1)
)

// bucketOf a time from 0 to HighestNs, by its `leading` leading bits: times below 2^leading ns have a bucket each.
func bucketOf(ns int64, leading int) int {
	octave := max(0, bits.Len64(uint64(ns))-leading)
	return octave<<(leading-1) + int(ns>>octave)
}

// bucketStart is the shortest time in a bucket.
func bucketStart(k, leading int) int64 {
	octave := max(0, k>>(leading-1)-1)
	return int64(k-octave<<(leading-1)) << octave
}

// percentile of `all` values: the longest time in its bucket.
func percentile(counts []int64, all int64, p float64) int64 {
	rank := max(1, int64(math.Ceil(float64(all)*p/100)))
	for k, n := range counts {
		if rank -= n; rank <= 0 {
			return bucketStart(k+1, histogramBits) - 1
		}
	}
	return HighestNs
}

// encode makes the text that HdrHistogram's libraries read: V2, compressed less than theirs, which takes 20 times as long and would delay messages.
func (l *Log) encode(counts []int64) []byte {
	end := len(counts)
	for end > 0 && counts[end-1] == 0 {
		end--
	}
	body := l.body[:0]
	for k := 0; k < end; k++ {
		from := k
		for counts[k] == 0 {
			k++
		}
		switch zeros := k - from; zeros {
		case 0:
		case 1:
			body = append(body, 0)
		default:
			body = binary.AppendVarint(body, int64(-zeros))
		}
		body = binary.AppendVarint(body, counts[k])
	}
	l.body = body
	order := binary.BigEndian
	head := order.AppendUint32(nil, 0x1c849303|0x10)
	head = order.AppendUint32(head, uint32(len(body)))
	head = order.AppendUint32(head, 0)
	head = order.AppendUint32(head, digits)
	head = order.AppendUint64(head, lowestNs)
	head = order.AppendUint64(head, HighestNs)
	head = order.AppendUint64(head, math.Float64bits(1))
	var packed bytes.Buffer
	packed.Write(make([]byte, 8))
	l.zlib.Reset(&packed)
	// Writes to memory do not fail.
	_, _ = l.zlib.Write(head)
	_, _ = l.zlib.Write(body)
	_ = l.zlib.Close()
	text := packed.Bytes()
	order.PutUint32(text, 0x1c849304|0x10)
	order.PutUint32(text[4:], uint32(len(text)-8))
	return base64.StdEncoding.AppendEncode(nil, text)
}
