package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
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

// transactionalID is that of earlier runs on these topics: what they have left open is aborted.
func (s *session) transactionalID(connection int) string {
	return s.Named(".", fmt.Sprintf("%s.producer-%d-%d", s.layout.Topics[0].Name, s.Client, connection))
}

// transactions sends a producer's messages in one transaction after the other. A message is acknowledged when its transaction is committed.
type transactions struct {
	*producer
	// connect makes a new client with the same id, where Kafka has fenced one whose transaction took too long.
	connect func() (*client, error)
	queue   chan *sending
}

var (
	errAborted     = errors.New("kafka: produce: not acknowledged within the timeout, so the transaction was aborted")
	errUncommitted = fmt.Errorf("kafka: commit a transaction: %w", broker.ErrUnknown)
)

// Send queues m: an application, too, would have to wait while its transaction ends.
func (t *transactions) Send(m *broker.Message, done broker.Done) {
	if t.s.Over.Err() == nil {
		select {
		case t.queue <- t.take(m, done):
			return
		case <-t.s.Over.Done():
		}
	}
	done(m, 0, errClosed)
}

func (t *transactions) run() {
	for over, ended := t.s.Over.Done(), (<-chan time.Time)(nil); ; {
		select {
		case first := <-t.queue:
			t.transact(first)
		case <-over:
			over, ended = nil, time.After(closeTimeout) // a Send may not have noticed it
		case <-ended:
			return
		}
	}
}

// transact makes a transaction of the first message and of those that follow it in time.
func (t *transactions) transact(first *sending) {
	err := t.BeginTransaction()
	if err != nil && t.s.Over.Err() == nil {
		t.closing.Store(true)
		t.Close()
		var again *client
		if again, err = t.connect(); err == nil {
			t.client = again
			t.settled.Store(true)
			err = t.BeginTransaction()
		}
	}
	if err != nil {
		first.settle(0, t.aborted(err))
		return
	}
	all := []*sending{first}
	t.Produce(context.Background(), &first.record, first.promise)
	most := cmp.Or(t.s.own.TransactionMessages, math.MaxInt)
	for until, open := time.After(time.Duration(t.s.own.TransactionNs)), true; open && len(all) < most; {
		select {
		case next := <-t.queue:
			all = append(all, next)
			t.Produce(context.Background(), &next.record, next.promise)
		case <-until:
			open = false
		case <-t.s.Over.Done():
			open = false
		}
	}
	err = t.commit(all)
	var ackNs int64
	if err == nil {
		ackNs = t.s.Now()
	}
	for _, one := range all {
		one.settle(ackNs, err)
	}
	if err != nil {
		// If this fails, the next BeginTransaction has the library get a new id, which ends what is left of this one.
		_ = t.EndTransaction(t.s.Over, kgo.TryAbort)
	}
}

// commit returns the error of all messages of a transaction. Nothing of one that is not committed is ever seen by consumers.
func (t *transactions) commit(all []*sending) error {
	ctx, cancel := context.WithTimeout(t.s.Over, t.s.timeout())
	defer cancel()
	if t.Flush(ctx) != nil {
		t.UnsafeAbortBufferedRecords()
		_ = t.Flush(context.Background()) // returns when the last promise has
	}
	for _, one := range all {
		if one.err != nil {
			return t.aborted(one.err)
		}
	}
	err := t.EndTransaction(t.s.Over, kgo.TryCommit)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kerr.OperationNotAttempted), errors.Is(err, kerr.TransactionAbortable):
		return t.aborted(err)
	}
	return errUncommitted
}

// aborted is the error of a message whose transaction is not committed; equal causes have equal texts.
func (t *transactions) aborted(err error) error {
	var refusal *kerr.Error
	switch {
	case t.s.Over.Err() != nil:
		return errClosed
	case errors.As(err, &refusal):
		return fmt.Errorf("kafka: produce: %w, so the transaction was aborted", refusal)
	}
	return errAborted
}
