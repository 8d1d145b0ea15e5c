package sqs

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// link is one connection that sends several requests at once.
type link struct {
	session *session
	number  int
	client  *sqs.Client
	waiting chan outgoing
	// sent counts the messages of FIFO queues, which one request at a time sends.
	sent int64
	life *broker.Lifeline
}

type outgoing struct {
	message *broker.Message
	done    broker.Done
}

var (
	errNotConnected = errors.New("sqs: send: not connected")
	errClosed       = errors.New("sqs: send: closed")
	errLost         = fmt.Errorf("sqs: connection lost: %w", broker.ErrUnknown)
)

// Send hands over. It blocks while all requests are on their way, and their next ones are full.
func (l *link) Send(m *broker.Message, done broker.Done) {
	if l.session.Over.Err() != nil {
		done(m, 0, errClosed)
		return
	}
	select {
	case l.waiting <- outgoing{m, done}:
	case <-l.session.Over.Done():
		done(m, 0, errClosed)
	}
}

// --- internal ---

// work sends waiting messages, as many as a request has room for, and each request to one queue.
func (l *link) work() {
	for {
		var batch []outgoing
		select {
		case first := <-l.waiting:
			batch = append(batch, first)
		case <-l.session.Over.Done():
			for { // messages that wait for a request
				select {
				case o := <-l.waiting:
					o.done(o.message, 0, errClosed)
				default:
					return
				}
			}
		}
		for more := true; more && len(batch) < l.session.own.Batch; {
			select {
			case next := <-l.waiting:
				batch = append(batch, next)
			default:
				more = false
			}
		}
		for len(batch) > 0 {
			n := 1
			for n < len(batch) && batch[n].message.Topic == batch[0].message.Topic {
				n++
			}
			l.request(batch[:n])
			batch = batch[n:]
		}
	}
}

func (l *link) request(batch []outgoing) {
	s := l.session
	ctx, cancel := context.WithTimeout(s.Over, s.timeout())
	defer cancel()
	at := s.urls[batch[0].message.Name]
	var entries []types.SendMessageBatchRequestEntry
	for i, o := range batch {
		entries = append(entries, l.entry(strconv.Itoa(i), o))
	}
	refused := map[string]error{}
	var err error
	if one := entries[0]; len(entries) == 1 {
		_, err = l.client.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl: &at, MessageBody: one.MessageBody, MessageGroupId: one.MessageGroupId, MessageDeduplicationId: one.MessageDeduplicationId,
		})
	} else {
		var out *sqs.SendMessageBatchOutput
		if out, err = l.client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &at, Entries: entries}); err == nil {
			for _, one := range out.Failed {
				refused[*one.Id] = fmt.Errorf("sqs: send: %s", cmp.Or(aws.ToString(one.Message), aws.ToString(one.Code)))
			}
		}
	}
	now := s.Now()
	if err = l.failure(err); err == nil {
		l.life.Works()
	}
	for i, o := range batch {
		o.done.Settle(o.message, now, cmp.Or(err, refused[strconv.Itoa(i)]))
	}
}

// entry is a message in the protocol's form, which is text. In a FIFO queue it has a message group, and a unique id.
func (l *link) entry(id string, o outgoing) types.SendMessageBatchRequestEntry {
	s := l.session
	e := types.SendMessageBatchRequestEntry{Id: &id, MessageBody: aws.String(base64.StdEncoding.EncodeToString(o.message.Payload))}
	if s.own.FIFO {
		l.sent++
		e.MessageGroupId = aws.String(cmp.Or(string(o.message.Key), fmt.Sprintf("%d-%d-%d", s.Client, l.number, l.sent%int64(s.own.Groups))))
		e.MessageDeduplicationId = aws.String(rand.Text())
	}
	return e
}

// failure rewords an error of a request: refused, never sent, or unknown.
func (l *link) failure(err error) error {
	var dial *net.OpError
	var answer smithy.APIError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer) && answer.ErrorFault() != smithy.FaultServer:
		return fmt.Errorf("sqs: send: %s", cmp.Or(answer.ErrorMessage(), answer.ErrorCode()))
	}
	l.life.Failed("connection lost", err)
	if errors.As(err, &dial) && dial.Op == "dial" {
		return errNotConnected
	}
	return errLost
}
