package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// transactionTimeout is how much longer than intended a transaction may take before the broker aborts it, as in Kafka's own client. One whose
// producer is gone holds up consumers until then.
var transactionTimeout = time.Minute

// queueLength is how many messages wait at most for a transaction to end. Then Send blocks.
const queueLength = 1 << 16

var isolations = map[string]kgo.IsolationLevel{"read committed": kgo.ReadCommitted(), "read uncommitted": kgo.ReadUncommitted()}

func (s *session) transacts() bool { return s.own.TransactionNs > 0 }

func (s *session) isolation() string {
	if s.transacts() {
		return "read committed"
	}
	return "read uncommitted"
}

// transactional makes a client that sends in transactions. Its id is that of earlier runs on these topics: what they have left open is aborted.
func (s *session) transactional(connection int) func(to *settings) {
	return func(to *settings) {
		id := s.Named(".", fmt.Sprintf("%s.producer-%d-%d", s.layout.Topics[0].Name, s.Client, connection))
		to.Set("", nil, kgo.TransactionalID(id))
	}
}

// transactions sends a producer's messages in one transaction after the other. A message is acknowledged when its transaction is committed.
type transactions struct {
	*producer
	// A transaction ends after this time, or with this many messages. The library has the timeout to send them.
	every, timeout time.Duration
	most           int
	// renew makes a new client with the same id, where Kafka has fenced one whose transaction took too long.
	renew func() (*kgo.Client, *watch, error)
	over  context.Context
	queue chan *sending

	// mu guards ended: no message may enter the queue when the last was taken out.
	mu    sync.Mutex
	ended bool
}

var (
	errAborted     = errors.New("kafka: produce: not acknowledged within the timeout, so the transaction was aborted")
	errUncommitted = fmt.Errorf("kafka: commit a transaction: %w", broker.ErrUnknown)
)

// Send queues m: an application, too, would have to wait while its transaction ends.
func (t *transactions) Send(m *broker.Message, done broker.Done) {
	one := t.take(m, done)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		select {
		case t.queue <- one:
			return
		case <-t.over.Done():
		}
	}
	done(m, 0, errClosed)
}

func (s *session) inTransactions(p *producer, connect func() (*kgo.Client, *watch, error)) broker.Producer {
	t := &transactions{
		producer: p, every: time.Duration(s.own.TransactionNs), most: cmp.Or(s.own.TransactionMessages, math.MaxInt), timeout: s.timeout(),
		over: s.Over, queue: make(chan *sending, queueLength), renew: func() (*kgo.Client, *watch, error) {
			client, w, err := connect()
			if err == nil {
				w.settled.Store(true)
			}
			return client, w, err
		},
	}
	go t.run()
	return t
}

func (t *transactions) run() {
	for {
		select {
		case first := <-t.queue:
			t.transact(first)
		case <-t.over.Done():
			t.mu.Lock()
			t.ended = true
			t.mu.Unlock()
			for {
				select {
				case left := <-t.queue:
					left.done(left.message, 0, errClosed)
				default:
					return
				}
			}
		}
	}
}

// transact makes a transaction of the first message and of those that follow it in time.
func (t *transactions) transact(first *sending) {
	err := t.client.BeginTransaction()
	if err != nil && t.over.Err() == nil {
		t.watch.closing.Store(true)
		t.client.Close()
		if t.client, t.watch, err = t.renew(); err == nil {
			err = t.client.BeginTransaction()
		}
	}
	if err != nil {
		first.done(first.message, 0, failed(err))
		return
	}
	all := []*sending{first}
	t.client.Produce(context.Background(), &first.record, first.promise)
	for until := time.After(t.every); until != nil && len(all) < t.most; {
		select {
		case next := <-t.queue:
			all = append(all, next)
			t.client.Produce(context.Background(), &next.record, next.promise)
		case <-until:
			until = nil
		case <-t.over.Done():
			until = nil
		}
	}
	err = t.commit(all)
	var ackNs int64
	if err == nil {
		ackNs = t.now()
	}
	for _, one := range all {
		one.settle(ackNs, err)
	}
	if err != nil {
		// If this fails, the next BeginTransaction has the library get a new id, which ends what is left of this one.
		_ = t.client.EndTransaction(t.over, kgo.TryAbort)
	}
}

// commit returns the error of all messages of a transaction. Nothing of one that is not committed is ever seen by consumers.
func (t *transactions) commit(all []*sending) error {
	ctx, cancel := context.WithTimeout(t.over, t.timeout)
	defer cancel()
	if t.client.Flush(ctx) != nil {
		t.client.UnsafeAbortBufferedRecords()
		_ = t.client.Flush(context.Background()) // returns when the last promise has
	}
	if t.over.Err() != nil {
		return errClosed
	}
	for _, one := range all {
		if one.err != nil {
			return failed(one.err)
		}
	}
	err := t.client.EndTransaction(t.over, kgo.TryCommit)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kerr.OperationNotAttempted), errors.Is(err, kerr.TransactionAbortable):
		return failed(err)
	}
	return errUncommitted
}

// failed is the error of a message whose transaction is not committed; equal causes have equal texts.
func failed(err error) error {
	var refusal *kerr.Error
	switch {
	case errors.Is(err, kgo.ErrClientClosed):
		return errClosed
	case errors.As(err, &refusal):
		return fmt.Errorf("kafka: produce: %w, so the transaction was aborted", refusal)
	}
	return errAborted
}
