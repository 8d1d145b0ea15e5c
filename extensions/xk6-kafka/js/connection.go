package js

import (
	"cmp"
	"context"
	"crypto/tls"
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

	"github.com/mqbench/mqbench/extensions/xk6-kafka/franz"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// connection is `new Connection`, and `new AdminClient`, which lists topics as objects.
type connection struct {
	*instance
	access
	client *kgo.Client
	closed bool
}

func newConnection(i *instance, name string, configuration sobek.Value, on *sobek.Object) error {
	c := &connection{instance: i}
	err := i.options(name, configuration, &c.access, configured)
	if err == nil {
		c.client, err = i.Module.client(&c.access)
	}
	if err != nil {
		return err
	}
	c.calls(on, "createTopic", true, c.createTopic)
	c.calls(on, "deleteTopic", true, c.deleteTopic)
	c.calls(on, "listTopics", false, func([]sobek.Value) (script.Wait, error) {
		return c.looksAt(func(topics kadm.TopicDetails) any {
			if name != "new AdminClient" {
				return topics.Names()
			}
			all := []any{}
			for _, one := range topics.Sorted() {
				all = append(all, described(one))
			}
			return all
		}), nil
	})
	c.calls(on, "getMetadata", false, func(args []sobek.Value) (script.Wait, error) {
		topic, err := topicOf(args)
		return c.looksAt(func(topics kadm.TopicDetails) any { return described(topics[topic]) }, topic), err
	})
	script.Method(i.vu, on, "close", func([]sobek.Value) (sobek.Value, error) {
		c.closed = true // the client is others' too, and ends with the test
		return nil, nil
	})
	return nil
}

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

// logins are names of franz.Logins.
var logins = map[string]string{
	"sasl_plain": "plain", "sasl_ssl": "plain", "sasl_scram_sha256": "scram-sha-256", "sasl_scram_sha512": "scram-sha-512",
	"sasl_aws_iam": "aws-msk-iam",
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
	if algorithm := a.Sasl.Algorithm; algorithm != "" && algorithm != "none" {
		login, known := franz.Logins[logins[algorithm]]
		if !known {
			return nil, fmt.Errorf("sasl: %s is not built in; use SASL_PLAIN, SASL_SCRAM_SHA256, SASL_SCRAM_SHA512 or SASL_AWS_IAM", algorithm)
		}
		options = append(options, kgo.SASL(login(franz.Account{User: a.Sasl.Username, Password: a.Sasl.Password})))
	}
	config, err := a.TLS.config(a.Sasl.Algorithm == "sasl_ssl")
	if config != nil {
		options = append(options, kgo.DialTLSConfig(config))
	}
	return options, err
}

var versions = map[string]uint16{"": tls.VersionTLS12, "tlsv1.0": tls.VersionTLS10, "tlsv1.1": tls.VersionTLS11, "tlsv1.2": tls.VersionTLS12, "tlsv1.3": tls.VersionTLS13}

// config is nil without TLS. Files in PEM may be given as text, like LoadJKS does.
func (s security) config(on bool) (*tls.Config, error) {
	config, err := address.TLS{On: s.Enable || on, CA: s.CA, Cert: s.Cert, Key: s.Key, Insecure: s.Insecure}.ConfigFrom(func(pem string) ([]byte, error) {
		if strings.Contains(pem, "-----BEGIN ") {
			return []byte(pem), nil
		}
		return os.ReadFile(pem)
	})
	if err != nil || config == nil {
		return nil, err
	}
	config.MinVersion, err = word(versions, s.MinVersion, "tls: minVersion %q is none of TLS_1_0 to TLS_1_3")
	return config, err
}

// --- internal ---

// calls adds a method that waits as long as a request may take. One that changes something does so once in the test at the script's top.
func (c *connection) calls(on *sobek.Object, name string, changes bool, call script.Call) {
	c.waits(on, name, "", func(args []sobek.Value) (script.Wait, error) {
		if c.closed {
			return nil, errClosed
		}
		wait, err := call(args)
		if err != nil {
			return nil, err
		}
		bounded := func(ctx context.Context) (script.Result, error) {
			ctx, cancel := context.WithTimeout(ctx, requestTimeout)
			defer cancel()
			return wait(ctx)
		}
		if !changes || c.runs && c.vu.State() != nil {
			return bounded, nil
		}
		return c.test.Once(name, fmt.Sprint(c.Brokers, c.Address), args, c.runs, kerr.UnknownTopicOrPartition, bounded)
	})
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
	if err := c.instance.options("createTopic", script.Argument(args, 0), &want, "a topic: createTopic({ topic: 'orders' })"); err != nil {
		return nil, err
	}
	if want.Topic == "" {
		return nil, errors.New("topic is missing")
	}
	config := map[string]*string{}
	for _, one := range want.Entries {
		config[one.Name] = kadm.StringPtr(fmt.Sprint(one.Value))
	}
	return func(ctx context.Context) (script.Result, error) {
		created, err := kadm.NewClient(c.client).CreateTopics(ctx, cmp.Or(want.Partitions, 1), cmp.Or(want.ReplicationFactor, 1), config, want.Topic)
		if err != nil {
			return nil, err
		}
		// An existing topic is not an error, like in version 1 of the public module.
		if one := created[want.Topic]; one.Err != nil && !errors.Is(one.Err, kerr.TopicAlreadyExists) {
			return nil, fmt.Errorf("%q: %w%s", want.Topic, one.Err, franz.Because(one.ErrMessage))
		}
		err = deadline.Until(ctx, 50*time.Millisecond, func() bool {
			topics, err := listed(ctx, c.client, want.Topic)
			return err == nil && !slices.ContainsFunc(topics[want.Topic].Partitions.Sorted(), func(p kadm.PartitionDetail) bool { return p.Leader < 0 })
		})
		return nil, broker.Wrap(fmt.Sprintf("%q is made, and has no leader yet", want.Topic), err)
	}, nil
}

func (c *connection) deleteTopic(args []sobek.Value) (script.Wait, error) {
	topic, err := topicOf(args)
	return func(ctx context.Context) (script.Result, error) {
		deleted, err := kadm.NewClient(c.client).DeleteTopics(ctx, topic)
		if err = cmp.Or(err, deleted[topic].Err); errors.Is(err, kerr.UnknownTopicOrPartition) {
			err = fmt.Errorf("unknown topic: %w", err)
		}
		return nil, broker.Wrap(fmt.Sprintf("%q", topic), err)
	}, err
}

func topicOf(args []sobek.Value) (string, error) {
	topic := script.Argument(args, 0)
	if topic == nil {
		return "", errors.New("it needs the name of a topic")
	}
	return topic.String(), nil
}

// looksAt these topics, or all. While k6 only looks at the script there are none.
func (c *connection) looksAt(answer func(kadm.TopicDetails) any, only ...string) script.Wait {
	return func(ctx context.Context) (_ script.Result, err error) {
		var topics kadm.TopicDetails
		if c.runs {
			topics, err = listed(ctx, c.client, only...)
		}
		return func() sobek.Value { return c.vu.Runtime().ToValue(answer(topics)) }, err
	}
}

func described(topic kadm.TopicDetail) map[string]any {
	partitions := []any{}
	for _, one := range topic.Partitions.Sorted() {
		partitions = append(partitions, map[string]any{"partition": one.Partition, "leader": one.Leader, "replicas": one.Replicas, "isr": one.ISR})
	}
	return map[string]any{"topic": topic.Topic, "partitions": partitions}
}

func listed(ctx context.Context, client *kgo.Client, only ...string) (kadm.TopicDetails, error) {
	topics, err := kadm.NewClient(client).ListTopics(ctx, only...)
	if err = cmp.Or(err, topics.Error()); err != nil && len(only) > 0 {
		err = fmt.Errorf("%q: %w", only[0], err)
	}
	return topics, err
}
