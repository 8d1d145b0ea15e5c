package sqs

import (
	"context"
	"encoding/base64"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// deletes is how many requests to delete handled messages are on their way while the consumer asks for more.
const deletes = 4

const receiveCount = types.MessageSystemAttributeNameApproximateReceiveCount

// consumer asks for messages, handles them, and deletes them.
type consumer struct {
	session *session
	client  *sqs.Client
	url     string
	group   string
	handle  broker.Handler
	life    *broker.Lifeline
	// over ends with the subscription, and working with the last message that is handled and its deletion.
	over    context.Context
	end     context.CancelFunc
	working sync.WaitGroup
	// held messages are here and not handled. If a consumer stops, they come again after their visibility timeout.
	held atomic.Int64
}

// --- internal ---

func (c *consumer) work() {
	s := c.session
	slots := make(chan struct{}, deletes)
	for {
		answer, err := c.client.ReceiveMessage(c.over, &sqs.ReceiveMessageInput{
			QueueUrl: &c.url, MaxNumberOfMessages: int32(s.own.Prefetch), WaitTimeSeconds: int32(s.own.WaitNs / int64(time.Second)),
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{receiveCount},
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
		c.held.Store(int64(len(answer.Messages)))
		handled := 0
		for _, m := range answer.Messages {
			if c.over.Err() != nil {
				break
			}
			if c.group != "" {
				at = s.Now()
			}
			receives := m.Attributes[string(receiveCount)]
			c.handle(broker.Delivery{ReceivedNs: at, Payload: decoded(m), Redelivered: receives != "" && receives != "1"})
			c.held.Add(-1)
			handled++
		}
		if handled > 0 {
			slots <- struct{}{}
			c.working.Go(func() {
				c.delete(answer.Messages[:handled])
				<-slots
			})
		}
	}
}

func (c *consumer) delete(all []types.Message) {
	s := c.session
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &c.url}
	for i, m := range all {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle})
	}
	ctx, cancel := context.WithTimeout(s.Over, s.timeout())
	defer cancel()
	if _, err := c.client.DeleteMessageBatch(ctx, in); err != nil {
		s.Report("delete", address.Cause(err))
	}
}

func decoded(m types.Message) []byte {
	body := aws.ToString(m.Body)
	if payload, err := base64.StdEncoding.DecodeString(body); err == nil {
		return payload
	}
	return []byte(body) // none of ours
}
