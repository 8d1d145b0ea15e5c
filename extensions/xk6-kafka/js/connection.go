package js

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/grafana/sobek"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// connection is `new Connection`, and `new AdminClient`, which lists topics as objects.
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
	c.asks(on, "listTopics", func(topics kadm.TopicDetails, _ string) any {
		if name != "new AdminClient" {
			return topics.Names()
		}
		all := []any{}
		for _, one := range topics.Sorted() {
			all = append(all, described(one))
		}
		return all
	})
	c.asks(on, "getMetadata", func(topics kadm.TopicDetails, topic string) any { return described(topics[topic]) })
	script.Method(i.vu, on, "close", func([]sobek.Value) (sobek.Value, error) {
		c.closed = true // the client is others' too, and ends with the test
		return nil, nil
	})
	return nil
}

// access is how a client reaches the brokers.
type access struct {
	Brokers []string `json:"brokers"`
	Address string   `json:"address"`
	Sasl    login    `json:"sasl"`
	TLS     security `json:"tls"`
}

type login struct {
	Username  string `json:"username"`
	Password  string `json:"password"`
	Algorithm string `json:"algorithm"`
}

type security struct {
	Enable     bool   `json:"enableTls"`
	Insecure   bool   `json:"insecureSkipTlsVerify"`
	MinVersion string `json:"minVersion"`
	Cert       string `json:"clientCertPem"`
	Key        string `json:"clientKeyPem"`
	CA         string `json:"serverCaPem"`
}

func (a *access) options() ([]kgo.Opt, error) {
	brokers := a.Brokers
	if a.Address != "" {
		brokers = append(brokers, a.Address)
	}
	if len(brokers) == 0 {
		return nil, errors.New("it needs brokers: ['localhost:9092']")
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(brokers...), kgo.ClientID("k6"), kgo.DialTimeout(dialTimeout), kgo.RequestTimeoutOverhead(requestTimeout),
		kgo.RetryTimeout(requestTimeout), kgo.MetadataMinAge(100 * time.Millisecond), kgo.MetadataMaxAge(5 * time.Second), kgo.DisableClientMetrics(),
	}
	switch algorithm := a.Sasl.Algorithm; algorithm {
	case "", "none":
	case "sasl_plain", "sasl_ssl":
		options = append(options, kgo.SASL(plain.Auth{User: a.Sasl.Username, Pass: a.Sasl.Password}.AsMechanism()))
	case "sasl_scram_sha256":
		options = append(options, kgo.SASL(scram.Auth{User: a.Sasl.Username, Pass: a.Sasl.Password}.AsSha256Mechanism()))
	case "sasl_scram_sha512":
		options = append(options, kgo.SASL(scram.Auth{User: a.Sasl.Username, Pass: a.Sasl.Password}.AsSha512Mechanism()))
	default:
		return nil, fmt.Errorf("sasl: %s is not built in; use SASL_PLAIN, SASL_SCRAM_SHA256 or SASL_SCRAM_SHA512", algorithm)
	}
	config, err := a.TLS.config(a.Sasl.Algorithm == "sasl_ssl")
	if err != nil {
		return nil, err
	}
	if config != nil {
		options = append(options, kgo.DialTLSConfig(config))
	}
	return options, nil
}

var versions = map[string]uint16{"": tls.VersionTLS12, "tlsv1.0": tls.VersionTLS10, "tlsv1.1": tls.VersionTLS11, "tlsv1.2": tls.VersionTLS12, "tlsv1.3": tls.VersionTLS13}

func (s security) config(on bool) (*tls.Config, error) {
	config, err := address.TLS{On: s.Enable || on, CA: s.CA, Cert: s.Cert, Key: s.Key, Insecure: s.Insecure}.ConfigFrom(pemOf)
	if err != nil || config == nil {
		return nil, err
	}
	least, known := versions[s.MinVersion]
	if !known {
		return nil, fmt.Errorf("tls: minVersion %q is none of TLS_1_0 to TLS_1_3", s.MinVersion)
	}
	config.MinVersion = least
	return config, nil
}

// pemOf a file, or the text itself, as LoadJKS gives it.
func pemOf(given string) ([]byte, error) {
	if strings.Contains(given, "-----BEGIN ") {
		return []byte(given), nil
	}
	return os.ReadFile(given)
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
		topics, err := listed(ctx, c.client, topic)
		return err == nil && !slices.ContainsFunc(topics[topic].Partitions.Sorted(), func(p kadm.PartitionDetail) bool { return p.Leader < 0 })
	}))
}

func (c *connection) deleteTopic(args []sobek.Value) (script.Wait, error) {
	name := script.Argument(args, 0)
	if name == nil {
		return nil, errNoTopic
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

// asks adds a method that looks at topics: that of its argument, or all. While k6 only looks at the script there are none.
func (c *connection) asks(on *sobek.Object, name string, answer func(topics kadm.TopicDetails, topic string) any) {
	c.waits(on, name, "", func(args []sobek.Value) (script.Wait, error) {
		return c.bounded(args, func([]sobek.Value) (script.Wait, error) {
			topic, only := "", []string(nil)
			if of := script.Argument(args, 0); of != nil {
				topic, only = of.String(), []string{of.String()}
			} else if name == "getMetadata" {
				return nil, errNoTopic
			}
			return func(ctx context.Context) (_ script.Result, err error) {
				var topics kadm.TopicDetails
				if c.runs {
					topics, err = listed(ctx, c.client, only...)
				}
				return func() sobek.Value { return c.vu.Runtime().ToValue(answer(topics, topic)) }, err
			}, nil
		})
	})
}

var errNoTopic = errors.New("it needs the name of a topic")

// described is a topic as a script gets it.
func described(topic kadm.TopicDetail) map[string]any {
	partitions := []any{}
	for _, one := range topic.Partitions.Sorted() {
		partitions = append(partitions, map[string]any{"partition": one.Partition, "leader": one.Leader, "replicas": one.Replicas, "isr": one.ISR})
	}
	return map[string]any{"topic": topic.Topic, "partitions": partitions}
}

// listed are these topics, or all.
func listed(ctx context.Context, client *kgo.Client, only ...string) (kadm.TopicDetails, error) {
	topics, err := kadm.NewClient(client).ListTopics(ctx, only...)
	if err == nil {
		err = topics.Error()
	}
	if err != nil && len(only) > 0 {
		err = fmt.Errorf("%q: %w", only[0], err)
	}
	return topics, err
}

func said(message *string) string {
	if message == nil || *message == "" {
		return ""
	}
	return ": " + *message
}
