package sqs

import (
	"cmp"
	"context"
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

// payloadName is the attribute that has a binary payload; attributes with it is a body, which the service wants.
const (
	payloadName = "p"
	noBody      = "-"
	// unsaid is the reason of a refusal that has none.
	unsaid = "refused"
)

// link is one connection that sends: so many requests at once.
type link struct {
	session *session
	number  int
	client  *sqs.Client
	waiting chan outgoing
	sent    int64
	life    *broker.Lifeline
}

// outgoing is a message that waits for a request.
type outgoing struct {
	message *broker.Message
	done    broker.Done
	number  int64
}

var (
	errNotConnected = errors.New("sqs: send: not connected")
	errClosed       = errors.New("sqs: send: closed")
	errLost         = fmt.Errorf("sqs: connection lost: %w", broker.ErrUnknown)
)

func (s *session) newLink(number int) *link {
	l := &link{
		session: s, number: number, client: s.client(s.own.Requests), life: s.Lifeline(),
		waiting: make(chan outgoing, (s.own.Batch-1)*s.own.Requests),
	}
	for range s.own.Requests {
		go l.work()
	}
	return l
}

// Send hands over. It blocks while all requests are on their way, and their next ones are full.
func (l *link) Send(m *broker.Message, done broker.Done) {
	if l.session.Over.Err() != nil {
		done(m, 0, errClosed)
		return
	}
	l.sent++
	select {
	case l.waiting <- outgoing{m, done, l.sent}:
	case <-l.session.Over.Done():
		done(m, 0, errClosed)
	}
}

// --- internal ---

func (l *link) work() {
	for {
		select {
		case first := <-l.waiting:
			l.request(l.more(first))
		case <-l.session.Over.Done():
			return
		}
	}
}

// more takes what waits already to the same queue, as many as a request has room for. One to another queue goes by itself.
func (l *link) more(first outgoing) (batch, other []outgoing) {
	batch = []outgoing{first}
	for len(batch) < l.session.own.Batch {
		select {
		case next := <-l.waiting:
			if next.message.Topic != first.message.Topic {
				return batch, []outgoing{next}
			}
			batch = append(batch, next)
		default:
			return batch, nil
		}
	}
	return batch, nil
}

func (l *link) request(batch, other []outgoing) {
	if len(batch) == 1 {
		l.one(batch[0])
	} else {
		l.several(batch)
	}
	if len(other) > 0 {
		l.one(other[0])
	}
}

func (l *link) one(o outgoing) {
	s := l.session
	ctx, cancel := context.WithTimeout(s.Over, s.timeout())
	defer cancel()
	body, attributes := s.encoded(o.message.Payload)
	group, id := l.order(o)
	at := s.urls[o.message.Name]
	_, err := l.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &at, MessageBody: &body, MessageAttributes: attributes, MessageGroupId: group, MessageDeduplicationId: id,
	})
	l.settle([]outgoing{o}, err)
}

func (l *link) several(batch []outgoing) {
	s := l.session
	ctx, cancel := context.WithTimeout(s.Over, s.timeout())
	defer cancel()
	at := s.urls[batch[0].message.Name]
	in := &sqs.SendMessageBatchInput{QueueUrl: &at}
	for i, o := range batch {
		body, attributes := s.encoded(o.message.Payload)
		group, id := l.order(o)
		in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), MessageBody: &body, MessageAttributes: attributes, MessageGroupId: group, MessageDeduplicationId: id,
		})
	}
	out, err := l.client.SendMessageBatch(ctx, in)
	if err != nil {
		l.settle(batch, err)
		return
	}
	now := s.Now()
	l.life.Works()
	refused := map[string]error{}
	for _, one := range out.Failed {
		refused[*one.Id] = fmt.Errorf("sqs: send: %s", cmp.Or(aws.ToString(one.Message), aws.ToString(one.Code), unsaid))
	}
	for i, o := range batch {
		o.done.Settle(o.message, now, refused[strconv.Itoa(i)])
	}
}

// settle completes messages of a request.
func (l *link) settle(batch []outgoing, err error) {
	now := l.session.Now()
	if err = l.failure(err); err == nil {
		l.life.Works()
	}
	for _, o := range batch {
		o.done.Settle(o.message, now, err)
	}
}

// order is the message group of a FIFO queue, and an id that no other message has.
func (l *link) order(o outgoing) (group, id *string) {
	s := l.session
	if !s.own.FIFO {
		return nil, nil
	}
	key := string(o.message.Key)
	if key == "" {
		key = fmt.Sprintf("%d-%d-%d", s.Client, l.number, o.number%int64(s.own.Groups))
	}
	unique := fmt.Sprintf("%s-%d-%d-%d", s.name, s.Client, l.number, o.number)
	return &key, &unique
}

// failure rewords an error of a request: refused, never sent, or nobody knows.
func (l *link) failure(err error) error {
	var dial *net.OpError
	var answer smithy.APIError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer) && answer.ErrorFault() != smithy.FaultServer:
		return fmt.Errorf("sqs: send: %s", cmp.Or(answer.ErrorMessage(), answer.ErrorCode(), unsaid))
	case errors.As(err, &dial) && dial.Op == "dial":
		l.life.Failed("connection lost", err)
		return errNotConnected
	default:
		l.life.Failed("connection lost", err)
		return errLost
	}
}

// close fails what waits for a request.
func (l *link) close() {
	for {
		select {
		case o := <-l.waiting:
			o.done(o.message, 0, errClosed)
		default:
			return
		}
	}
}

// encoded is a payload as the protocol takes it: text, or an attribute beside it.
func (s *session) encoded(payload []byte) (body string, attributes map[string]types.MessageAttributeValue) {
	if s.own.Encoding == "base64" {
		return base64.StdEncoding.EncodeToString(payload), nil
	}
	binary := "Binary"
	return noBody, map[string]types.MessageAttributeValue{payloadName: {DataType: &binary, BinaryValue: payload}}
}
