package generator

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// measured is a client's results.
type measured struct {
	t              *testing.T
	warmup, window books.Counters
	totals         struct {
		Unanswered, LookedNs, SuspendedNs                                    *int64
		CatchUp                                                              *struct{ BeganNs int64 }
		EndNs, FirstClaimNs                                                  int64
		FirstSendNs, LastAckNs, FirstReceiveNs, LastReceiveNs, WindowStartNs *int64
		Errors                                                               []books.Error
	}
	// counts are all numbers of the window, the warm-up ("warmup.lost") and the totals by their names, and the state.
	counts    map[string]string
	offenders map[string]books.Message
	slowest   []slow
	// breakdown is nil where the file has none.
	breakdown []recorder.Bucket
	stoppedNs int64
	metrics   map[string]recorder.Exact
	// over counts messages of the window over limit k, overWithoutLag the ones over it without lag.
	over, overWithoutLag []int64
	took                 time.Duration
	// file is the path of the client's files without their endings, progress the lines that it printed while it ran.
	file     string
	progress []byte
	// warmupSeconds have values of the warm-up.
	warmupSeconds int
	// completions by second of real time; ticks has each second's line.
	completions map[int]int64
	ticks       []tickLine
}

type slow struct{ Sequence, IntendedNs, ResponseNs, QueuedNs, LagNs, ServiceNs int64 }

type tickLine struct {
	At                         float64
	Seconds, Sent              int64
	Backlog, Outstanding, Held []int64
}

// told is a line of progress.
type told struct {
	Mqbench, Metric, State string
	At, Sent, Received     int64
	LagP99, WindowLagP99   *int64
	FirstClaimNs           int64
	Window                 *recorder.Figures
	Crossing               struct{ Sent, Acked, Received int64 }
}

// lines of progress of one kind.
func (m *measured) lines(kind string) (found []told) {
	for text := range bytes.Lines(m.progress) {
		var line told
		if err := json.Unmarshal(text, &line); err != nil {
			m.t.Fatalf("%v: %s", err, text)
		}
		if line.Mqbench == kind {
			found = append(found, line)
		}
	}
	return found
}

// has compares counts by their names: "lost 5 warmup.lost 0 foreign 0", "#response 20" values, "reordered null". Each %d is the next
// number.
func (m *measured) has(all string, numbers ...int64) {
	m.t.Helper()
	words := strings.Fields(all)
	for k := 0; k < len(words); k += 2 {
		name, want := words[k], words[k+1]
		if want == "%d" {
			want, numbers = strconv.FormatInt(numbers[0], 10), numbers[1:]
		}
		got, known := m.counts[name]
		if metric, is := strings.CutPrefix(name, "#"); is {
			got, known = strconv.FormatInt(m.metrics[metric].Count, 10), true
		}
		if got != want || !known {
			m.t.Errorf("%s is %q; want %s", name, got, want)
		}
	}
}

// between fails unless lo <= got <= hi.
func (m *measured) between(what string, got, lo, hi int64) {
	m.t.Helper()
	if got < lo || got > hi {
		m.t.Errorf("%s = %d; want %d .. %d", what, got, lo, hi)
	}
}

// lagMs is how late the generator was at most.
func (m *measured) lagMs() int64 { return m.metrics["lag"].Max / ms }

// completed is how many messages completed in all.
func (m *measured) completed() (n int64) {
	for _, count := range m.completions {
		n += count
	}
	return n
}

// text of one of the client's files.
func (m *measured) text(ending string) []byte {
	m.t.Helper()
	text, err := os.ReadFile(m.file + ending)
	if err != nil {
		m.t.Fatal(err)
	}
	return text
}

// read reads the .jsonl. Seconds count from the plan's window; one that opened earlier begins before.
func read(t *testing.T, file string, plan *Plan, progress []byte) *measured {
	t.Helper()
	m := &measured{t: t, file: file, progress: progress, metrics: map[string]recorder.Exact{}, counts: map[string]string{}, completions: map[int]int64{}}
	text := m.text(".jsonl")
	opens := 0
	if _, after, found := bytes.Cut(text, []byte(`"windowStartNs":`)); found && plan.Schedule.Steady != nil {
		startNs, _ := strconv.ParseInt(string(after[:bytes.IndexByte(after, '}')]), 10, 64)
		opens = int((startNs - plan.Schedule.WarmupNs) / 1e9)
	}
	if s := plan.Segments; s != nil && s.ResumeNs > 0 {
		opens = int((s.ResumeNs - plan.Schedule.WarmupNs) / 1e9)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Type, Scope, State string
			Second             int
			Metrics            map[string]recorder.Exact
			Limits             []struct{ Over, OverWithoutLag []int64 }
			Stops              [][2]int64
			Counts             []int64
			First              map[string]books.Message
			Messages           []slow
			Buckets            []recorder.Bucket
		}
		decode := func(into any) {
			t.Helper()
			if err := json.Unmarshal(lines.Bytes(), into); err != nil {
				t.Fatalf("%v: %s", err, lines.Bytes())
			}
		}
		count := func(prefix string) {
			var all map[string]json.RawMessage
			decode(&all)
			for name, value := range all {
				m.counts[prefix+name] = string(value)
			}
		}
		decode(&line)
		switch line.Type {
		case "counters":
			if line.Scope == "warmup" {
				decode(&m.warmup)
				count("warmup.")
			} else {
				decode(&m.window)
				count("")
			}
		case "totals":
			decode(&m.totals)
			count("")
		case "offenders":
			m.offenders = line.First
		case "slowest":
			m.slowest = line.Messages
		case "breakdown":
			m.breakdown = line.Buckets
		case "trailer":
			m.counts["state"] = line.State
		case "tick":
			var tick tickLine
			decode(&tick)
			m.ticks = append(m.ticks, tick)
		case "stops":
			for _, stop := range line.Stops {
				m.stoppedNs += stop[1] - stop[0]
			}
		case "completions":
			for _, n := range line.Counts {
				m.completions[line.Second] += n
			}
		case "second":
			if line.Second < opens {
				m.warmupSeconds++
				continue
			}
			for name, e := range line.Metrics {
				if old := m.metrics[name]; old.Count > 0 {
					e = recorder.Exact{
						Count: old.Count + e.Count, Sum: old.Sum + e.Sum, Min: min(old.Min, e.Min), Max: max(old.Max, e.Max),
						Negative: old.Negative + e.Negative, Lowest: min(old.Lowest, e.Lowest),
					}
				}
				m.metrics[name] = e
			}
			for k, l := range line.Limits {
				for len(m.over) <= k {
					m.over, m.overWithoutLag = append(m.over, 0), append(m.overWithoutLag, 0)
				}
				for i := range l.Over {
					m.over[k] += l.Over[i]
					m.overWithoutLag[k] += l.OverWithoutLag[i]
				}
			}
		}
	}
	return m
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// check verifies the invariants of every run. S subscribers make S receipts of a message; each response, and nothing else, is in the
// histograms of the window, and each is the sum of its parts.
func (m *measured) check(p *Plan) {
	m.t.Helper()
	equal := func(what string, left, right int64) {
		m.t.Helper()
		if left != right {
			m.t.Errorf("%s: %d != %d", what, left, right)
		}
	}
	completions := int64(0)
	for _, c := range []books.Counters{m.warmup, m.window} {
		equal(c.Scope+": intended = sent + notOffered", c.Intended, c.Sent+c.NotOffered)
		promised := c.Sent - c.Failed - c.Unknown
		if p.Acks {
			equal(c.Scope+": sent = acked + failed + unknown", promised, *c.Acked)
			completions += *c.Acked
		} else {
			completions += orZero(c.Received)
		}
		if p.receives() {
			equal(c.Scope+": subscribers * promised = delivered + lost", p.subscribers()*promised, *c.Delivered+*c.Lost)
			equal(c.Scope+": received = delivered + unackedReceived + failedReceived", *c.Received, *c.Delivered+orZero(c.UnackedReceived)+*c.FailedReceived)
		} else if c.Received != nil || c.Delivered != nil || c.Lost != nil || c.UnackedReceived != nil || c.Reordered != nil {
			m.t.Errorf("%s: nothing is consumed, and receipts are counted: %+v", c.Scope, c)
		}
	}
	equal("completions in pieces of 10 ms", m.completed(), completions)
	for _, end := range m.lines("end") { // every sent message is in some second, also in one that had only begun when the run ended
		equal("sent and received in no second", end.Sent+end.Received, 0)
	}
	responses := int64(0)
	switch p.Pattern {
	case publish:
		responses = *m.window.Acked
	case backlog:
	default:
		responses = *m.window.Received
	}
	equal("service times", m.metrics["service"].Count, responses)
	if p.Acks {
		equal("ack times", m.metrics["ack"].Count, *m.window.Acked)
	}
	if responds := !p.closed() && p.Pattern != backlog; responds != (m.breakdown != nil) {
		m.t.Errorf("pattern %s, %s load: breakdown of response times %v", p.Pattern, p.Schedule.Kind, m.breakdown)
	}
	r, s, q, l := m.metrics["response"], m.metrics["service"], m.metrics["queued"], m.metrics["lag"]
	if p.closed() {
		equal("response, lag, queued and last of a closed load", r.Count+l.Count+q.Count+m.metrics["last"].Count+int64(len(m.slowest)), 0)
		return
	}
	equal("response times", r.Count, responses)
	// Every message has one queued and one lag, so its sums match where each message has one response.
	if responses == m.window.Sent && q.Count == responses {
		equal("response = queued + lag + service", r.Sum, q.Sum+l.Sum+s.Sum)
	}
	for _, slow := range m.slowest {
		equal("response of one of the slowest", slow.ResponseNs, slow.QueuedNs+slow.LagNs+slow.ServiceNs)
	}
	var messages, allNs, serviceNs int64
	for _, b := range m.breakdown {
		messages, allNs, serviceNs = messages+b.Messages, allNs+b.QueuedNs+b.LagNs+b.ServiceNs, serviceNs+b.ServiceNs
	}
	equal("responses that are broken down", messages, r.Count)
	if r.Negative == 0 && s.Negative == 0 {
		equal("parts of responses", allNs, r.Sum)
		equal("service in the parts of responses", serviceNs, s.Sum)
	}
}
