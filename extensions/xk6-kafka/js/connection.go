package js

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/grafana/sobek"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// connection is `new Connection`.
type connection struct {
	*instance
	client *kgo.Client
	closed bool
}

func newConnection(i *instance, name string, configuration sobek.Value, on *sobek.Object) error {
	c := &connection{instance: i}
	var own access
	if err := i.options(name, configuration, &own, configured); err != nil {
		return err
	}
	key, err := json.Marshal(own)
	if err != nil {
		return err
	}
	if c.client, err = i.Module.client("connection "+string(key), own.options); err != nil {
		return err
	}
	c.changes(on, "createTopic", key, c.createTopic)
	c.changes(on, "deleteTopic", key, c.deleteTopic)
	i.waits(on, "listTopics", "", func(args []sobek.Value) (script.Wait, error) { return c.bounded(args, c.listTopics) })
	script.Method(i.vu, on, "close", func([]sobek.Value) (sobek.Value, error) {
		c.closed = true // the client is others' too, and ends with the test
		return nil, nil
	})
	return nil
}

// --- internal ---

// changes adds a method that changes something there; at the script's top it does so once in the test.
func (c *connection) changes(on *sobek.Object, name string, key []byte, call script.Call) {
	c.waits(on, name, "", func(args []sobek.Value) (script.Wait, error) {
		wait, err := c.bounded(args, call)
		if err != nil || c.runs && c.vu.State() != nil {
			return wait, err
		}
		return c.test.Once(name, string(key), args, c.runs, kerr.UnknownTopicOrPartition, wait)
	})
}

// bounded is what a call waits for, as long as a request may take.
func (c *connection) bounded(args []sobek.Value, call script.Call) (script.Wait, error) {
	if c.closed {
		return nil, errClosed
	}
	wait, err := call(args)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (script.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		return wait(ctx)
	}, nil
}

func (c *connection) createTopic(args []sobek.Value) (script.Wait, error) {
	var want struct {
		Topic             string `json:"topic"`
		Partitions        int32  `json:"numPartitions"`
		ReplicationFactor int16  `json:"replicationFactor"`
		Entries           []struct {
			Name  string `json:"configName"`
			Value any    `json:"configValue"`
		} `json:"configEntries"`
	}
	if err := c.options("createTopic", script.Argument(args, 0), &want, "a topic: createTopic({ topic: 'orders' })"); err != nil {
		return nil, err
	}
	if want.Topic == "" {
		return nil, errors.New("topic is missing")
	}
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = want.Topic, cmp.Or(want.Partitions, 1), cmp.Or(want.ReplicationFactor, 1)
	for _, one := range want.Entries {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = one.Name, kmsg.StringPtr(fmt.Sprint(one.Value))
		topic.Configs = append(topic.Configs, config)
	}
	return func(ctx context.Context) (script.Result, error) {
		request := kmsg.NewPtrCreateTopicsRequest()
		request.Topics = append(request.Topics, topic)
		request.TimeoutMillis = int32(requestTimeout / time.Millisecond)
		answer, err := request.RequestWith(ctx, c.client)
		if err != nil {
			return nil, err
		}
		for _, one := range answer.Topics {
			// An existing topic is not an error, as in version 1 of the public module.
			if err := kerr.ErrorForCode(one.ErrorCode); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
				return nil, fmt.Errorf("%q: %w%s", one.Topic, err, said(one.ErrorMessage))
			}
		}
		return nil, c.known(ctx, want.Topic)
	}, nil
}

// known waits until all partitions of a topic that was just made have a leader.
func (c *connection) known(ctx context.Context, topic string) error {
	return broker.Wrap(fmt.Sprintf("%q is made, and has no leader yet", topic), deadline.Until(ctx, 50*time.Millisecond, func() bool {
		topics, err := kadm.NewClient(c.client).ListTopics(ctx, topic)
		return err == nil && topics[topic].Err == nil && !slices.ContainsFunc(topics[topic].Partitions.Sorted(), func(p kadm.PartitionDetail) bool { return p.Leader < 0 })
	}))
}

func (c *connection) deleteTopic(args []sobek.Value) (script.Wait, error) {
	name := script.Argument(args, 0)
	if name == nil {
		return nil, errors.New("it needs the name of a topic")
	}
	topic := name.String()
	return func(ctx context.Context) (script.Result, error) {
		deleted, err := kadm.NewClient(c.client).DeleteTopics(ctx, topic)
		if err == nil {
			err = deleted[topic].Err
		}
		if errors.Is(err, kerr.UnknownTopicOrPartition) {
			err = fmt.Errorf("unknown topic: %w", err)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", topic, err)
		}
		return nil, nil
	}, nil
}

// listTopics gives names. While k6 only looks at the script there are none.
func (c *connection) listTopics([]sobek.Value) (script.Wait, error) {
	return func(ctx context.Context) (script.Result, error) {
		names := []string{}
		if c.runs {
			topics, err := kadm.NewClient(c.client).ListTopics(ctx)
			if err == nil {
				err = topics.Error()
			}
			if err != nil {
				return nil, err
			}
			names = topics.Names()
		}
		return func() sobek.Value { return c.vu.Runtime().ToValue(names) }, nil
	}, nil
}

func said(message *string) string {
	if message == nil || *message == "" {
		return ""
	}
	return ": " + *message
}
