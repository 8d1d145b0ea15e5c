// Package sqs is the driver for Amazon SQS and servers with its protocol: a topic is a queue, from which a group takes, or one consumer.
package sqs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	// stopTimeout is how long consumers may take to handle their present messages, and to delete them.
	stopTimeout  = 2 * time.Second
	recentlyWait = time.Second
	fifoSuffix   = ".fifo"
	defaultPort  = "9324" // of ElasticMQ, which is the one that has http
	amazon       = ".amazonaws.com"
	// billedBytes of a request's content, either way, are one request on Amazon's bill.
	billedBytes = 64 * 1024
)

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	s := &session{Base: broker.NewBase("sqs", o), own: defaults, urls: map[string]string{}}
	if err := o.Decode(&s.own); err != nil {
		return nil, fmt.Errorf("sqs: %w", err)
	}
	if s.own.FIFO {
		s.own.Requests = 1 // two at once would overtake each other
	}
	at, err := url.Parse(o.URL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil {
		return nil, errors.New("sqs: the URL must be http://host:port or https://host, without a user: credentials come from the environment")
	}
	if at.Scheme == "http" && at.Port() == "" {
		at.Host = net.JoinHostPort(at.Hostname(), defaultPort)
	}
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if id == "" || secret == "" {
		if strings.HasSuffix(at.Hostname(), amazon) {
			return nil, errors.New("sqs: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN, if they have one)")
		}
		id, secret = "mqbench", "mqbench" // a server of one's own takes any
	}
	s.endpoint, s.login = at.String(), credentials.NewStaticCredentialsProvider(id, secret, os.Getenv("AWS_SESSION_TOKEN"))
	return s, nil
}

type session struct {
	*broker.Base
	broker.DropsNothing
	own      options
	endpoint string
	login    aws.CredentialsProvider
	admin    *sqs.Client
	links    []*link
	urls     map[string]string
	// requests that the service would bill.
	requests  atomic.Int64
	consumers broker.List[*consumer]
}

var (
	_ broker.Remover   = (*session)(nil)
	_ broker.Holder    = (*session)(nil)
	_ broker.Requester = (*session)(nil)
	_ broker.Leaver    = (*session)(nil)
)

func (s *session) Open(ctx context.Context) error {
	s.admin = s.client(deadline.AtOnce)
	if _, err := s.admin.ListQueues(ctx, &sqs.ListQueuesInput{MaxResults: aws.Int32(1)}); err != nil {
		return fmt.Errorf("sqs: connect: %w", address.Cause(err))
	}
	for i := range s.Connections {
		l := &link{
			session: s, number: i, client: s.client(s.own.Requests), life: s.Lifeline(), waiting: make(chan outgoing, (s.own.Batch-1)*s.own.Requests),
		}
		for range s.own.Requests {
			go l.work()
		}
		s.links = append(s.links, l)
	}
	return nil
}

// Prepare makes queues. An existing one, of a run that was killed, is replaced; the service does that a minute after its end.
func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	if err := layout.Rivals(); err != nil {
		return fmt.Errorf("sqs: %w", err)
	}
	var mu sync.Mutex
	return deadline.Each(ctx, layout.Names(), func(ctx context.Context, name string) error {
		at, err := s.prepare(ctx, name)
		if err != nil {
			return fmt.Errorf("sqs: queue %q: %w", s.queueName(name), address.Cause(err))
		}
		mu.Lock()
		defer mu.Unlock()
		s.urls[name] = at
		return nil
	})
}

func (s *session) Producer(connection int) (broker.Producer, error) { return s.links[connection], nil }

func (s *session) Consume(_ context.Context, to broker.Subscription, handle broker.Handler) error {
	c := &consumer{session: s, client: s.client(1 + deletes), url: s.urls[to.Topic], group: to.Group, handle: handle, life: s.Lifeline()}
	c.over, c.end = context.WithCancel(s.Over)
	s.consumers.Add(c)
	c.working.Go(c.work)
	return nil
}

// Remove deletes the queues that Prepare has made.
func (s *session) Remove(ctx context.Context) error {
	s.stopAll()
	if s.Found() {
		return nil
	}
	err := deadline.Each(ctx, slices.Collect(maps.Values(s.urls)), func(ctx context.Context, at string) error {
		_, err := s.admin.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &at})
		return address.Cause(err)
	})
	return broker.Wrap("sqs: remove queues", err)
}

// Held is how many messages consumers have got and not handled.
func (s *session) Held() (held int64, known bool) {
	for _, one := range s.consumers.All() {
		held += one.held.Load()
	}
	return held, true
}

// Requests are the requests that the service bills, also after Close.
func (s *session) Requests() int64 { return s.requests.Load() }

func (s *session) Describe() broker.Description {
	const deleted = "all messages of an answer, when they are handled (DeleteMessageBatch)"
	set := broker.Settings[struct{}]{}
	batching := "none"
	if s.own.Batch > 1 {
		batching = fmt.Sprintf("up to %d messages share a request, those that wait for one", s.own.Batch)
	}
	kind, order := "standard", "none"
	if s.own.FIFO {
		kind, order = "FIFO", "per-producer"
		set.Set("messageGroups", fmt.Sprintf("a key's; without a key %d for each connection, in turn", s.own.Groups))
		set.Set("deduplication", "by an id of each message")
	}
	set.Print(map[string]any{
		"connections": s.Connections, "region": s.own.Region, "queues": kind, "encoding": "base64",
		"requests": fmt.Sprintf("%d at once on a connection, each on a connection of HTTP's", s.own.Requests),
		"retries":  "none: the library would send a message again", "longPolling": time.Duration(s.own.WaitNs),
		"visibilityTimeout": s.visibility(), "requestTimeout": s.timeout(), "dialTimeout": dialTimeout, "idleTimeout": idleTimeout,
		"confirm": "each request", "flush": "each request, at once", "batching": batching, "compression": "none",
		"acknowledgeAlone": deleted, "acknowledgeInGroup": deleted, "prefetch": fmt.Sprintf("%d messages in an answer", s.own.Prefetch),
	})
	return broker.Description{
		Acks: true, Order: order, Stores: true, RedeliversAfter: s.visibility(), Settings: set.Printed,
		Library: "aws-sdk-go-v2 sqs " + sqs.ServiceAPIVersion, Server: "SQS",
	}
}

// Leave lets consumers finish their present messages. The service takes nothing back before the visibility timeout.
func (s *session) Leave(context.Context) error {
	s.stopAll()
	return nil
}

func (s *session) Close() error {
	s.stopAll()
	s.End()
	return nil
}

// --- internal ---

func (s *session) stopAll() {
	s.Quiet()
	deadline.AtMost(stopTimeout, deadline.Steps(s.consumers.All(), func(c *consumer) {
		c.end()
		c.working.Wait()
	})...)
}

// client has this number of HTTP connections.
func (s *session) client(connections int) *sqs.Client {
	transport := &http.Transport{
		DialContext:     s.Dialer(dialTimeout, nil),
		MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, IdleConnTimeout: idleTimeout, DisableCompression: true,
	}
	return sqs.New(sqs.Options{
		BaseEndpoint: &s.endpoint, Region: s.own.Region, Credentials: s.login, Retryer: aws.NopRetryer{},
		HTTPClient: &http.Client{Transport: &counting{s, transport}},
	})
}

// counting counts requests.
type counting struct {
	session *session
	below   *http.Transport
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.below.RoundTrip(r)
	larger := r.ContentLength
	if err == nil {
		larger = max(larger, answer.ContentLength)
	}
	c.session.requests.Add(1 + max(0, larger-1)/billedBytes)
	return answer, err
}

func (s *session) timeout() time.Duration {
	return min(cmp.Or(time.Duration(s.TimeoutNs), defaultTimeout), defaultTimeout)
}

func (s *session) visibility() time.Duration { return time.Duration(s.own.VisibilityNs) }

// queueName makes a valid name of a queue: without a dot, but for the end of a FIFO queue's name.
func (s *session) queueName(topic string) string {
	name := strings.ReplaceAll(strings.TrimSuffix(topic, fifoSuffix), ".", "-")
	if s.own.FIFO {
		name += fifoSuffix
	}
	return name
}

func (s *session) prepare(ctx context.Context, topic string) (at string, err error) {
	name := s.queueName(topic)
	found, err := s.admin.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	var missing *types.QueueDoesNotExist
	switch {
	case err == nil && s.Found():
		if s.Run != "" && s.Client == 0 {
			err = s.isEmpty(ctx, *found.QueueUrl)
		}
		return *found.QueueUrl, err
	case err == nil:
		if _, err := s.admin.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: found.QueueUrl}); err != nil {
			return "", err
		}
	case !errors.As(err, &missing):
		return "", err
	case s.Found():
		return "", broker.MissingTopic(topic, "there is no such queue")
	}
	attributes := map[string]string{"VisibilityTimeout": fmt.Sprint(s.own.VisibilityNs / int64(time.Second))}
	if s.own.FIFO {
		attributes["FifoQueue"] = "true"
	}
	err = deadline.Ask(ctx, recentlyWait, func() (bool, error) {
		made, err := s.admin.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		if err == nil {
			at = *made.QueueUrl
		}
		var recently *types.QueueDeletedRecently
		return errors.As(err, &recently), err
	})
	return at, err
}

// isEmpty refuses a user's queue that holds messages, including messages that consumers have.
func (s *session) isEmpty(ctx context.Context, at string) error {
	names := []types.QueueAttributeName{types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible}
	said, err := s.admin.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &at, AttributeNames: names})
	if err != nil {
		return err
	}
	for _, n := range said.Attributes {
		if n != "0" {
			return errors.New("it holds messages, which consumers would take away; use an empty one")
		}
	}
	return nil
}
