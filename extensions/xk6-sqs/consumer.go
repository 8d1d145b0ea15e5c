package sqs

import (
	"context"
	"encoding/base64"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// deletes is how many requests that delete what was handled are on their way while the consumer asks for more.
const deletes = 4

// consumer asks for messages, handles them, and deletes them.
type consumer struct {
	session *session
	client  *sqs.Client
	url     string
	group   string
	handle  broker.Handler
	life    *broker.Lifeline
	// over ends with the subscription.
	over context.Context
	end  context.CancelFunc
	held atomic.Int64
	// deleting are the requests that delete what was handled.
	deleting sync.WaitGroup

	// mu guards what the consumer has got and not handled: receipts, to give back.
	mu   sync.Mutex
	mine map[string]bool
}

// stop gives back what was not handled.
func (c *consumer) stop() {
	c.end()
	c.mu.Lock()
	all := c.mine
	c.mine = nil
	c.mu.Unlock()
	deadline.AtMost(closeTimeout, c.deleting.Wait)
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for receipt := range all {
		_, _ = c.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &c.url, ReceiptHandle: &receipt})
	}
}

// --- internal ---

// work is the consumer's life.
func (c *consumer) work() {
	s := c.session
	slots := make(chan struct{}, deletes)
	for c.over.Err() == nil {
		answer, err := c.client.ReceiveMessage(c.over, &sqs.ReceiveMessageInput{
			QueueUrl: &c.url, MaxNumberOfMessages: int32(s.own.Prefetch), WaitTimeSeconds: s.own.seconds(s.own.WaitNs),
			MessageAttributeNames:       []string{payloadName},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameApproximateReceiveCount},
		})
		at := s.Now()
		if c.over.Err() != nil {
			return
		}
		if err != nil {
			c.life.Failed("receive", err)
			_ = deadline.Sleep(c.over, retryWait)
			continue
		}
		c.life.Works()
		if !c.take(answer.Messages) {
			return
		}
		for _, m := range answer.Messages {
			if c.group != "" {
				at = s.Now()
			}
			c.handle(broker.Delivery{ReceivedNs: at, Payload: decoded(m), Redelivered: receives(m) > 1})
			c.held.Add(-1)
			if c.over.Err() != nil {
				return // given back
			}
		}
		if len(answer.Messages) == 0 {
			continue
		}
		slots <- struct{}{}
		c.deleting.Go(func() {
			defer func() { <-slots }()
			c.delete(answer.Messages)
		})
	}
}

// take notes messages as ours; false: the consumer has stopped, and they are given back by their timeout.
func (c *consumer) take(all []types.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over.Err() != nil {
		return false
	}
	if c.mine == nil {
		c.mine = map[string]bool{}
	}
	for _, m := range all {
		c.mine[*m.ReceiptHandle] = true
	}
	c.held.Add(int64(len(all)))
	return true
}

// delete tells the service that messages are handled.
func (c *consumer) delete(all []types.Message) {
	s := c.session
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &c.url}
	c.mu.Lock()
	for i, m := range all {
		if c.mine[*m.ReceiptHandle] {
			id := strconv.Itoa(i)
			in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: &id, ReceiptHandle: m.ReceiptHandle})
			delete(c.mine, *m.ReceiptHandle)
		}
	}
	c.mu.Unlock()
	if len(in.Entries) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(s.Over, s.timeout())
	defer cancel()
	if _, err := c.client.DeleteMessageBatch(ctx, in); err != nil {
		s.Report("delete", address.Cause(err))
	}
}

// decoded is nil for what is none of ours.
func decoded(m types.Message) []byte {
	if value, is := m.MessageAttributes[payloadName]; is {
		return value.BinaryValue
	}
	if m.Body == nil {
		return nil
	}
	payload, err := base64.StdEncoding.DecodeString(*m.Body)
	if err != nil {
		return []byte(*m.Body)
	}
	return payload
}

func receives(m types.Message) int {
	n, err := strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	if err != nil {
		return 1
	}
	return n
}
