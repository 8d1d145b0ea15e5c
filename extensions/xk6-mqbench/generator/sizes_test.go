package generator

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/sizes"
)

// sized gives the messages of a plan three sizes: 80 %, 15 % and 5 % of a cycle of 101.
func sized(p *Plan) *Plan {
	p.Message.Bytes, p.Message.Seed, p.Message.Checksum = 65536, 5, true
	p.Message.Sizes = &sizes.Cycle{Runs: [][2]int{{256, 81}, {4096, 15}, {65536, 5}}, Shuffled: true, Classes: []int{256, 4096, 65536}, MeanBytes: 4058}
	return p
}

// delayed is a broker that answers within Send, and claims that it took as long as it should for the size of the message: from its intended
// time on, however late it was sent, in a closed load from its send call on.
type delayed struct {
	*session
	g      *Generator
	handle broker.Handler
	tookNs func(bytes int) int64
}

func (d *delayed) Producer(int) (broker.Producer, error) { return d, nil }
func (d *delayed) Consume(_ context.Context, _ broker.Subscription, handle broker.Handler) error {
	d.handle = handle
	return nil
}
func (d *delayed) Send(m *broker.Message, done broker.Done) {
	atNs := max(m.SentNs, m.OffsetNs+d.tookNs(len(m.Payload)))
	d.handle(broker.Delivery{ReceivedNs: d.g.t0 + atNs, Payload: m.Payload})
	done(m, 0, nil)
}

func TestAKnownDelayPerSizeIsMeasuredPerSize(t *testing.T) {
	open := sized(testPlan(2000, 2000))
	open.Schedule.WarmupNs = 500 * ms
	closed := sized(closedPlan(4000, 10))
	for metric, p := range map[string]*Plan{"response": complete(open), "service": closed} {
		measureSizes(t, p, metric, map[int]int64{256: 900 * ms, 4096: 1300 * ms, 65536: 1900 * ms})
	}
}

func measureSizes(t *testing.T, p *Plan, metric string, took map[int]int64) {
	b := &delayed{tookNs: func(bytes int) int64 { return took[bytes] }}
	s := &stub{facts: broker.Description{Inline: true}, wrap: func(s *session) broker.Session { b.session = s; return b }, onNew: func(g *Generator) { b.g = g }}
	m := measure(t, p, s, nil)
	m.has("received %d lost 0 foreign 0 corrupted 0", p.Schedule.Messages-p.Schedule.WarmupMessages)
	if b.o.MessageBytes != 65536 || b.o.MeanBytes != 4058 {
		t.Errorf("the driver is told %d bytes, %d on average", b.o.MessageBytes, b.o.MeanBytes)
	}
	cycle, err := p.sizes()
	if err != nil {
		t.Fatal(err)
	}
	found := classesIn(t, m.text(".hlog"))
	for class, most := range cycle.Classes {
		due := int64(0)
		for i := p.Schedule.WarmupMessages; i < p.Schedule.Messages; i++ {
			if cycle.Class(i) == class {
				due++
			}
		}
		h := found[fmt.Sprintf("%s.%dB", metric, most)]
		if h == nil || h.TotalCount() != due || due == 0 {
			t.Errorf("%d bytes: %v in the log; want %d values", most, h, due)
			continue
		}
		for _, q := range []float64{0, 50, 99, 100} {
			// A machine that stood still for longer decides the response.
			got, least := float64(h.ValueAtQuantile(q)), float64(took[most])
			if longest := max(least, float64(m.metrics["lag"].Max)); got < 0.99*least || got > 1.01*longest {
				t.Errorf("%d bytes: p%v of %s is %v ns; the broker took %v", most, q, metric, got, least)
			}
		}
	}
	if len(found) != 3 {
		t.Errorf("the log has %d classes; want 3", len(found))
	}
}

// classesIn adds up the lines of a log about one size.
func classesIn(t *testing.T, log []byte) map[string]*hdr.Histogram {
	t.Helper()
	found := map[string]*hdr.Histogram{}
	for line := range bytes.Lines(log) {
		tag, rest, is := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(line)), "Tag="), ",")
		if !is || !strings.HasSuffix(tag, "B") || !strings.Contains(tag, ".") {
			continue
		}
		h, err := hdr.Decode([]byte(rest[strings.LastIndexByte(rest, ',')+1:]))
		if err != nil {
			t.Fatal(err)
		}
		if found[tag] == nil {
			found[tag] = h
		} else {
			found[tag].Merge(h)
		}
	}
	return found
}

func TestAnyNumberOfClientsSendsTheSameBytesAlsoInAClosedLoad(t *testing.T) {
	open := func(clients int) *Plan {
		p := sized(testPlan(1000, 400))
		p.Producers, p.Connections, p.Client.Count = 3, 3, clients
		p.Topics = []string{"run.0", "run.1", "run.2"}
		return complete(p)
	}
	closed := sized(closedPlan(400, 7))
	closed.Producers = 3
	want := map[int64]uint32(nil)
	for what, p := range map[string]*Plan{"one client": open(1), "three clients": open(3), "a closed load": closed} {
		var mu sync.Mutex
		sent := map[int64]uint32{}
		s := &stub{onSend: func(m *broker.Message) error {
			mu.Lock()
			defer mu.Unlock()
			if m.Index < 400 {
				body := m.Payload[envelope.Bytes : len(m.Payload)-envelope.ChecksumBytes]
				sent[m.Index] = crc32.ChecksumIEEE(body) ^ uint32(len(body))
			}
			return nil
		}}
		if p.Client.Count == 1 {
			measure(t, p, s, nil).has("lost 0 foreign 0 corrupted 0")
		} else {
			c := openClients(t, p, s)
			c.start(50 * time.Millisecond)
			c.coordinate()
			for _, m := range c.close() {
				m.has("lost 0 foreign 0 corrupted 0")
			}
		}
		if want == nil {
			want = sent
		}
		if len(sent) != 400 || !maps.Equal(sent, want) {
			t.Errorf("%s: %d messages, some with other bytes", what, len(sent))
		}
	}
}

func TestAMessageOfAnotherSizeIsForeignAndWithoutAChecksumToo(t *testing.T) {
	p := sized(testPlan(1000, 300))
	p.Message.Checksum = false
	s := &stub{alter: nil}
	var g *Generator
	s.onNew = func(made *Generator) { g = made }
	measure(t, p, s, nil).has("received 300 foreign 0")
	payload := make([]byte, 4096)
	for i := range int64(300) {
		envelope.Put(payload, envelope.Envelope{Run: p.RunNumber, Sequence: uint64(i), Intended: g.intended(i), Sent: g.intended(i)})
		_, _, what := g.identify(payload)
		if (what == ours) != (g.sizes.Of(i) == 4096) {
			t.Errorf("message %d of %d bytes arrives with 4096: %v", i, g.sizes.Of(i), what)
		}
	}
}

func TestRepliesHaveTheSizeOfTheirRequests(t *testing.T) {
	p := sized(testPlan(1000, 500))
	p.Pattern, p.ReplyTopics, p.Consumers, p.ConsumerConnections = requestReply, []string{"a.reply"}, 2, 2
	measure(t, p, &stub{}, nil).has("received 500 lost 0 foreign 0 corrupted 0 #response 500")
}
