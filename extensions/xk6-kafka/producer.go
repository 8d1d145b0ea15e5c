package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mqbench/mqbench/extensions/xk6-kafka/franz"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

type producer struct {
	*client
	// s is the client's, which transactions replace while others send.
	s *session
	// refreshedNs is when the library was last asked to look up the leaders.
	refreshedNs atomic.Int64
}

// sending is a message inside the library, reused after its acknowledgement: a record is large.
type sending struct {
	producer *producer
	record   kgo.Record
	message  *broker.Message
	done     broker.Done
	sentNs   int64
	// promise is finish, bound once.
	promise func(*kgo.Record, error)
	// err is what the library says of a message within a transaction.
	err error
}

var sendings sync.Pool

// Send blocks only while the library holds bufferedRecords or bufferedBytes.
func (p *producer) Send(m *broker.Message, done broker.Done) {
	s := p.take(m, done)
	p.Produce(context.Background(), &s.record, s.promise)
}

func (p *producer) take(m *broker.Message, done broker.Done) *sending {
	s, ok := sendings.Get().(*sending)
	if !ok {
		s = &sending{}
		s.promise = s.finish
	}
	s.producer, s.message, s.done, s.sentNs = p, m, done, p.s.Now()
	s.record = kgo.Record{Topic: m.Name, Partition: m.Partition, Key: m.Key, Value: m.Payload}
	if p.s.own.Partitioner == sticky {
		s.record.Partition = franz.AnyPartition
	}
	return s
}

func (s *sending) finish(_ *kgo.Record, err error) {
	var ackNs int64
	switch p := s.producer; {
	case p.s.transacts():
		s.err = err // the message ends with its transaction
		return
	case err != nil:
		p.refresh()
		err = p.failure(err, s.sentNs)
	case p.s.own.Acks != "0":
		ackNs = p.s.Now()
	}
	s.settle(ackNs, err)
}

func (s *sending) settle(ackNs int64, err error) {
	m, done := s.message, s.done
	if err == nil { // otherwise a request may still be on its way with this record in it, so do not use it again
		s.producer, s.message, s.done, s.record = nil, nil, nil, kgo.Record{}
		sendings.Put(s)
	}
	done(m, ackNs, err)
}

// Producer makes a client connect and get its producer id. The library looks a topic up for as long as a message may take.
func (s *session) Producer(connection int) (broker.Producer, error) {
	connect := func() (*client, error) {
		client, err := s.connect(fmt.Sprintf("producer-%d", connection), s.producing, func(to *settings) {
			if s.transacts() {
				to.Set("", nil, kgo.TransactionalID(s.transactionalID(connection)))
			}
		})
		if err == nil {
			s.clients.Add(client)
		}
		return client, err
	}
	client, err := connect()
	if err != nil {
		return nil, err
	}
	p := &producer{client: client, s: s}
	limit := max(time.Until(s.until), readyTimeout)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err = deadline.Ask(ctx, setUpPoll, func() (again bool, err error) {
		if s.transacts() { // a client looks topics up only within one
			if err := client.BeginTransaction(); err != nil {
				return false, broker.Wrap("begin a transaction", err)
			}
			defer func() { err = cmp.Or(err, client.EndTransaction(ctx, kgo.TryAbort)) }()
		}
		err = franz.Ready(ctx, client.Client, s.layout.Names()...)
		return errors.Is(err, kgo.ErrRecordTimeout), err
	})
	if err == nil && *s.own.Idempotence {
		_, _, err = client.ProducerID(ctx)
		err = broker.Wrap("get a producer id", err)
	}
	err = broker.Wrap("kafka", err)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("connection %d is not ready within %s: %w", connection+1, limit.Round(time.Second), err)
		// The library asks again by itself and keeps the refusals.
		asked, cancel := context.WithTimeout(context.Background(), goneTimeout)
		defer cancel()
		if refused := s.awaitLeaders(asked); refused != nil {
			err = fmt.Errorf("%w; %w", err, refused)
		}
	}
	client.settled.Store(true)
	if err == nil && s.transacts() {
		t := &transactions{p, connect, make(chan *sending, queueLength)}
		go t.run()
		return t, nil
	}
	return p, err
}

// --- internal ---

// refresh makes the library look up the leaders after a message has failed, like Kafka's own client. The library does so by itself only for
// messages that it tries again. Without this, messages with a single try would go to a former leader until metadataMaxAge is over.
func (p *producer) refresh() {
	if *p.s.own.Idempotence {
		return
	}
	now, last := p.s.Now(), p.refreshedNs.Load()
	if now-last >= int64(metadataMinAge) && p.refreshedNs.CompareAndSwap(last, now) {
		p.ForceMetadataRefresh()
	}
}

var (
	errClosed       = errors.New("kafka: produce: the client is closed")
	errNotConnected = errors.New("kafka: produce: not connected")
	errLost         = fmt.Errorf("kafka: produce: connection lost: %w", broker.ErrUnknown)
	errTimeout      = fmt.Errorf("kafka: produce: not acknowledged within the timeout: %w", broker.ErrUnknown)
)

// failure is the error of a message that the library got at sentNs; equal causes have equal texts, because they are counted. One handed over after the
// last written request never left. For the others it is unknown, unless the broker refused them, because the library does not report what it wrote.
func (p *producer) failure(err error, sentNs int64) error {
	var refusal *kerr.Error
	switch {
	case errors.Is(err, kgo.ErrClientClosed):
		return errClosed
	case errors.Is(err, kerr.RequestTimedOut), errors.Is(err, kerr.NotEnoughReplicasAfterAppend):
		// The leader has it, but a replica may not.
		return fmt.Errorf("kafka: produce: %w: %w", err, broker.ErrUnknown)
	case errors.As(err, &refusal), errors.Is(err, kgo.ErrMaxBuffered):
		return fmt.Errorf("kafka: produce: %w", err)
	case sentNs > p.producedNs.Load():
		return errNotConnected
	case errors.Is(err, kgo.ErrRecordTimeout):
		return errTimeout
	}
	return errLost
}
