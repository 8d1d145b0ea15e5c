package sqs

import (
	"context"
	"encoding/base64"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

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
	over    chan struct{}
	once    sync.Once
	held    atomic.Int64
	// deleting are the requests that delete what was handled.
	deleting sync.WaitGroup

	// mu guards what the consumer has got and not handled: receipts, to give back.
	mu   sync.Mutex
	mine map[string]bool
}

// stop gives back what was not handled.
func (c *consumer) stop() {
	c.once.Do(func() { close(c.over) })
	c.mu.Lock()
	var all []string
	for receipt := range c.mine {
		all = append(all, receipt)
	}
	c.mine = nil
	c.mu.Unlock()
	deadline.AtMost(closeTimeout, c.deleting.Wait)
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for _, receipt := range all {
		_, _ = c.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &c.url, ReceiptHandle: &receipt})
	}
}

// --- internal ---

// work is the consumer's life.
func (c *consumer) work() {
	s := c.session
	ctx, cancel := context.WithCancel(s.Over)
	defer cancel()
	go func() {
		select {
		case <-c.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	slots, lost := make(chan struct{}, deletes), false
	for ctx.Err() == nil {
		answer, err := c.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: &c.url, MaxNumberOfMessages: int32(s.own.Prefetch), WaitTimeSeconds: s.own.seconds(s.own.WaitNs),
			MessageAttributeNames:       []string{payloadName},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameApproximateReceiveCount},
		})
		at := s.Now()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if !lost {
				s.Report("receive", address.Cause(err))
			}
			lost = true
			select {
			case <-ctx.Done():
			case <-time.After(retryWait):
			}
			continue
		}
		if lost {
			lost = false
			s.Reconnected()
		}
		if !c.take(answer.Messages) {
			return
		}
		for _, m := range answer.Messages {
			if c.group != "" {
				at = s.Now()
			}
			c.handle(broker.Delivery{ReceivedNs: at, Payload: decoded(m), Redelivered: receives(m) > 1})
			c.held.Add(-1)
			if ctx.Err() != nil {
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
	select {
	case <-c.over:
		return false
	default:
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
