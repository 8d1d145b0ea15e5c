package nats

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	// publishAtomic batches (nats-server 2.12) are stored whole or not at all, when they are full; consumers see nothing of them before.
	publishAtomic = "atomic"
	// publishFast batches (nats-server 2.14) are stored message by message, and the server acknowledges what it has so far.
	publishFast = "fast"
	// batchHeaderBytes is the size of an atomic batch's headers.
	batchHeaderBytes = 128
)

// errEnded: the server has acknowledged a part of a batch and takes no more of it.
var errEnded = errors.New("the server has ended the batch")

// batches publishes to streams in batches, of which each topic of the connection has one open. nats.go has none, and the publishers of orbit.go
// wait for answers while they send, so the protocol (ADR-50) is spoken here, on nats.go's connection.
type batches struct {
	session    *jetStreamSession
	connection *nats.Conn
	// inbox begins the subjects of answers; a batch's id follows.
	inbox string

	mu sync.Mutex
	// Batches that take messages, by topic, and all that are not answered, by id.
	open, waiting map[string]*batch
}

type batch struct {
	id, topic string
	// last is the number of the last message, from 1. sent are those up to it that are not acknowledged.
	last   uint64
	sent   []sending
	closed bool
	// reason that the server gave before it ended the batch.
	reason error
	// timer closes the batch after the linger time, and ends it if no answer comes. It may fire for a time before due.
	timer *time.Timer
	due   time.Time
}

func newBatches(s *jetStreamSession, connection *nats.Conn) (*batches, error) {
	p := &batches{session: s, connection: connection, inbox: connection.NewInbox(), open: map[string]*batch{}, waiting: map[string]*batch{}}
	answers, err := connection.Subscribe(p.inbox+".>", p.answered)
	if err != nil {
		return nil, err
	}
	return p, answers.SetPendingLimits(-1, -1)
}

// send adds a message to its topic's batch. The server gets it at once.
func (p *batches) send(m *broker.Message, done broker.Done, out *nats.Msg) {
	p.mu.Lock()
	b := p.open[m.Name]
	if b == nil {
		b = &batch{id: rand.Text(), topic: m.Name}
	}
	full := p.session.own.Publish == publishAtomic && b.last+1 == uint64(p.session.own.Batch)
	err := p.publish(b, out, map[bool]string{true: "1"}[full])
	if err == nil {
		b.sent = append(b.sent, sending{m, done})
	}
	p.mu.Unlock()
	if err != nil {
		done(m, 0, published(err))
	}
}

// giveUp completes outstanding sends: the connection is lost, and no answer will come.
func (p *batches) giveUp() {
	p.mu.Lock()
	var lost []sending
	for _, b := range p.waiting {
		lost = append(lost, p.end(b)...)
	}
	p.mu.Unlock()
	settle(lost, 0, errLost)
}

// --- internal ---

// publish sends a batch's next message. commit is the header that closes the batch: "1" with its last message, "eob" with none.
func (p *batches) publish(b *batch, out *nats.Msg, commit string) error {
	own, number := &p.session.own, b.last+1
	if own.Publish == publishFast {
		operation := 1
		switch {
		case commit != "":
			operation = 3
		case number == 1:
			operation = 0
		}
		out.Reply = fmt.Sprintf("%s.%s.%d.fail.%d.%d.$FI", p.inbox, b.id, own.Batch, number, operation)
	} else {
		if out.Header == nil {
			out.Header = nats.Header{}
		}
		out.Header["Nats-Batch-Id"] = []string{b.id}
		out.Header["Nats-Batch-Sequence"] = []string{strconv.FormatUint(number, 10)}
		if commit != "" {
			out.Header["Nats-Batch-Commit"] = []string{commit}
		}
		if number == 1 || commit != "" { // why a batch cannot begin is only said there
			out.Reply = p.inbox + "." + b.id
		}
	}
	if err := p.connection.PublishMsg(out); err != nil {
		return err
	}
	if commit != "eob" {
		b.last = number
	}
	if number == 1 {
		p.open[b.topic], p.waiting[b.id] = b, b
		p.wait(b, time.Duration(own.LingerNs))
	}
	if commit != "" {
		b.closed = true
		delete(p.open, b.topic)
		p.wait(b, p.session.timeout())
	}
	return nil
}

func (p *batches) wait(b *batch, d time.Duration) {
	b.due = time.Now().Add(d)
	if b.timer == nil {
		b.timer = time.AfterFunc(d, func() { p.late(b) })
	} else {
		b.timer.Reset(d)
	}
}

// late closes a batch that has lingered. One that is closed has got no answer in time.
func (p *batches) late(b *batch) {
	p.mu.Lock()
	var unanswered []sending
	switch {
	case p.waiting[b.id] == nil || time.Now().Before(b.due):
	case b.closed || p.publish(b, &nats.Msg{Subject: p.session.streams[b.topic].subject}, "eob") != nil:
		unanswered = p.end(b)
	}
	p.mu.Unlock()
	settle(unanswered, 0, errUnanswered)
}

// answered handles the server's answer to a message. Its subject is the message's reply subject.
func (p *batches) answered(answer *nats.Msg) {
	atNs := p.session.Now()
	at := strings.Split(answer.Subject[len(p.inbox)+1:], ".")
	var said struct {
		Type       string
		Seq, Count uint64
		Error      *jetstream.APIError
	}
	var refusal error
	if answer.Header.Get("Status") != "" {
		refusal = jetstream.ErrNoStreamResponse
	} else if len(answer.Data) > 0 {
		refusal = json.Unmarshal(answer.Data, &said)
	}
	if said.Error != nil {
		refusal = said.Error
	}
	var acked, unknown, failed []sending
	p.mu.Lock()
	b := p.waiting[at[0]]
	switch {
	case b == nil || refusal == nil && len(answer.Data) == 0: // nobody waits for it; or the first message of an atomic batch is taken
	case said.Type == "gap", said.Type == "err":
		b.reason = refusal
	case said.Type == "ack":
		if acked = b.upTo(said.Seq); len(acked) > 0 && !b.closed {
			p.wait(b, time.Duration(p.session.own.LingerNs))
		}
	case refusal != nil:
		if len(at) > 3 { // fast: the messages before this one may be stored
			number, _ := strconv.ParseUint(at[3], 10, 64)
			unknown = b.upTo(number - 1)
		}
		failed = p.end(b)
	default:
		acked, failed = b.upTo(said.Count), p.end(b)
		refusal = cmp.Or(b.reason, errEnded)
	}
	p.mu.Unlock()
	settle(acked, atNs, nil)
	settle(unknown, 0, errUnanswered)
	settle(failed, 0, published(refusal))
}

// upTo takes the unacknowledged messages up to that number.
func (b *batch) upTo(number uint64) []sending {
	taken := max(0, len(b.sent)-int(b.last-min(number, b.last)))
	list := b.sent[:taken]
	b.sent = b.sent[taken:]
	return list
}

// end takes a batch's unacknowledged messages, and forgets it.
func (p *batches) end(b *batch) []sending {
	delete(p.waiting, b.id)
	if p.open[b.topic] == b {
		delete(p.open, b.topic)
	}
	b.timer.Stop()
	return b.sent
}

func settle(list []sending, ackNs int64, err error) {
	for _, one := range list {
		one.done.Settle(one.message, ackNs, err)
	}
}
