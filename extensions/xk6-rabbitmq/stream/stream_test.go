package stream

import (
	"bytes"
	"math/rand/v2"
	"net"
	"slices"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// written is a socket that notes each write.
type written struct {
	net.Conn
	frames [][]byte
}

func (c *written) Write(b []byte) (int, error) {
	c.frames = append(c.frames, slices.Clone(b))
	return len(b), nil
}

// unconnected is a wire without a broker.
func unconnected(subEntrySize, frameMax int) (*wire, *written) {
	s := &session{Base: broker.NewBase("rabbitmq", broker.Options{Now: func() int64 { return 7 }}), subEntrySize: subEntrySize}
	conn := &written{}
	w := &wire{Conn: conn, Lifetime: broker.NewLifetime(s.Over), session: s, frameMax: frameMax, asking: map[uint32]chan reader{}}
	w.unconfirmed = map[uint64][]sent{}
	return w, conn
}

// Every message is in one entry of its topic's frames, in order, whatever the sizes; frames keep to the limit unless one message is larger;
// each entry's number completes exactly its messages.
func TestFramesHoldEachMessageOnceAndConfirmationsCompleteThem(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		subEntrySize, frameMax := 1+random.IntN(5), 200+random.IntN(400)
		w, conn := unconnected(subEntrySize, frameMax)
		var want [3][][]byte
		done := map[*broker.Message]int{}
		var batch []sent
		for i := range 40 {
			m := &broker.Message{Topic: random.IntN(3), Payload: bytes.Repeat([]byte{byte(i)}, random.IntN(300))}
			want[m.Topic] = append(want[m.Topic], m.Payload)
			batch = append(batch, sent{m, func(m *broker.Message, atNs int64, err error) {
				if done[m]++; err != nil || atNs != 7 {
					t.Errorf("a confirmed message ends at %d with %v", atNs, err)
				}
			}})
		}
		slices.SortStableFunc(batch, func(a, b sent) int { return a.m.Topic - b.m.Topic })
		for len(batch) > 0 {
			batch = w.publishSome(batch)
		}
		var got [3][][]byte
		confirmed := 0
		for _, frame := range conn.frames {
			r := reader(frame)
			if size := int(r.uint(4)); size != len(r) || r.uint(2) != publish || r.uint(2) != 1 {
				t.Fatalf("a frame of %d bytes says %d", len(frame), size)
			}
			topic, entries, messages := r.uint(1), r.uint(4), 0
			ids := order.AppendUint32([]byte{byte(topic)}, uint32(entries))
			for range entries {
				ids = append(ids, r.bytes(8)...)
				several := 1
				if subEntrySize > 1 {
					if kind := r.uint(1); kind != 0x80 {
						t.Fatalf("kind %x of a sub-entry", kind)
					}
					several = int(r.uint(2))
					if plain, size := r.uint(4), r.uint(4); plain != size || several < 1 || several > subEntrySize {
						t.Fatalf("%d messages of %d bytes, %d on the wire", several, plain, size)
					}
				}
				for range several {
					got[topic] = append(got[topic], payloadOf(r.bytes(int(r.uint(4)))))
					messages++
				}
			}
			if len(r) > 0 || len(frame) > frameMax && messages > 1 {
				t.Fatalf("a frame of %d bytes, at most %d, with %d messages, has %d left", len(frame), frameMax, messages, len(r))
			}
			w.settle(false, ids)
			if confirmed += messages; len(done) != confirmed {
				t.Fatalf("%d messages are complete when %d are confirmed", len(done), confirmed)
			}
		}
		for topic := range want {
			if !slices.EqualFunc(got[topic], want[topic], bytes.Equal) {
				t.Fatalf("topic %d: %d messages of %d, or changed", topic, len(got[topic]), len(want[topic]))
			}
		}
		if len(w.unconfirmed) > 0 {
			t.Fatalf("%d entries are left", len(w.unconfirmed))
		}
	}
}

// A server that sends nonsense ends the connection, not the process.
func TestDamagedFramesDoNotPanic(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		w, _ := unconnected(1, 1000)
		w.tuned = make(chan struct{})
		w.chunks = []chan chunk{make(chan chunk, 1)}
		frame := make(reader, random.IntN(80))
		for i := range frame {
			frame[i] = byte(random.Uint32()) & byte(random.Uint32())
		}
		_ = w.handle(uint16(random.IntN(30)), frame)
	}
}

func TestMessagesOfAWireThatIsOverAreUnknownUnlessTheyNeverLeft(t *testing.T) {
	w, _ := unconnected(2, 1000)
	var ends []error
	one := func(size int) sent {
		return sent{&broker.Message{Payload: make([]byte, size)}, func(_ *broker.Message, _ int64, err error) { ends = append(ends, err) }}
	}
	w.publishSome([]sent{one(10), one(10)})
	w.publishSome([]sent{one(2000)})
	w.giveUp()
	w.publishSome([]sent{one(10)})
	unknown, refused, left := 0, 0, 0
	for _, err := range ends {
		switch err {
		case errUnknown:
			unknown++
		case errPublish:
			left++
		default:
			refused++
		}
	}
	if unknown != 2 || refused != 1 || left != 1 {
		t.Errorf("%d unknown, %d refused, %d not sent: %v; want 2, 1 and 1", unknown, refused, left, ends)
	}
}
