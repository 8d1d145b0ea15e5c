//go:build acceptance

package sqs

import (
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

func TestElasticMQKeepsTheContract(t *testing.T) {
	for _, c := range []struct {
		name, options string
		mostBytes     int // as runner/brokers/sqs allows: a batch shares a request
	}{
		// The messages of a consumer that dies come again after the visibility timeout, half a minute by default.
		{"standard", `{"visibilityNs": 10000000000}`, 190_000},
		{"batches", `{"visibilityNs": 10000000000, "batch": 10, "requests": 2}`, 19_000},
		{"FIFO", `{"visibilityNs": 10000000000, "fifo": true}`, 190_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startServer(t)
			ask := asker(t, s.URL, c.options)
			brokertest.Run(t, func(t *testing.T) brokertest.System {
				return brokertest.System{
					Driver: New, URL: s.URL, DriverOptions: json.RawMessage(c.options), NoFanOut: true, Queues: true, MostBytes: c.mostBytes,
					Make: func(t *testing.T, topic string, _ int) {
						attributes := map[string]string{}
						if ask.own.FIFO {
							attributes["FifoQueue"] = "true"
						}
						name := ask.queueName(topic)
						if _, err := ask.admin.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes}); err != nil {
							t.Fatal(err)
						}
					},
					Exists: func(t *testing.T, topic string) bool {
						name := ask.queueName(topic)
						_, err := ask.admin.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: &name})
						return err == nil
					},
					FlagsRedelivery: true, Broken: func(*testing.T) { s.Kill() },
				}
			})
		})
	}
}

// asker asks a server past the driver's consumers.
func asker(t *testing.T, url, options string) *session {
	t.Helper()
	s, err := New(broker.Options{URL: url, Driver: json.RawMessage(options), MessageBytes: 64, Now: clock.New().Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.(*session)
}
