package pulsar

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"sync"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/backoff"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// link is one connection, with a producer for each topic and its consumers.
type link struct {
	broker.Link[*wire]
	session *session
	// carried are the functions that make producers and consumers, again for each new connection.
	carried broker.List[attach]
}

type attach func(context.Context, *wire) error

// wire is one of the library's clients. It ends with its first lost connection, because the library would send messages again.
type wire struct {
	broker.Lifetime
	client pulsar.Client
	now    func() int64
	// producers of the session's topics, by their index.
	producers []pulsar.Producer
	// partition of the message that is being handed over.
	partition int32
	// handing is locked during a send: the library panics if a producer is closed then.
	handing sync.Mutex
	closed  bool

	// pending completes a send without an answer, by its message in the library. The library forgets some of them when a producer closes.
	pending sync.Map
}

var (
	errNotConnected = errors.New("pulsar: send: not connected")
	errLost         = fmt.Errorf("pulsar: connection lost: %w", broker.ErrUnknown)
	errTimeout      = fmt.Errorf("pulsar: send: not acknowledged within the timeout: %w", broker.ErrUnknown)
	errTooLarge     = errors.New("a message with its metadata is larger than the server's maxMessageSize")
)

// Send hands over. It blocks while too many messages wait for their acknowledgement.
func (l *link) Send(m *broker.Message, done broker.Done) {
	if w, is := l.Now(); !is || !w.send(m, done) {
		done(m, 0, errNotConnected)
	}
}

func (w *wire) send(m *broker.Message, done broker.Done) bool {
	w.handing.Lock()
	defer w.handing.Unlock()
	if w.closed {
		return false
	}
	one := &pulsar.ProducerMessage{Payload: m.Payload, Key: string(m.Key)}
	w.pending.Store(one, func(atNs int64, err error) { done.Settle(m, atNs, err) })
	w.partition = m.Partition
	w.producers[m.Topic].SendAsync(w.Context, one, w.finish)
	return true
}

func (w *wire) finish(_ pulsar.MessageID, one *pulsar.ProducerMessage, err error) {
	atNs := w.now()
	var refused *pulsar.Error
	switch {
	case err == nil:
	case errors.Is(err, pulsar.ErrSendTimeout):
		err = errTimeout
	case w.Err() != nil:
		err = errLost
	case errors.As(err, &refused) && refused.Result() != pulsar.MessageTooBig:
		err = broker.RefusedHere("pulsar-client-go", refused)
	default: // the other errors contain the size
		err = broker.RefusedHere("pulsar-client-go", errTooLarge)
	}
	w.settle(one, atNs, err)
}

func (w *wire) settle(one any, atNs int64, err error) {
	if complete, is := w.pending.LoadAndDelete(one); is {
		complete.(func(int64, error))(atNs, err)
	}
}

// route is the partition of a message; without one it is as the library does it by default, Java's hash of the key.
func (w *wire) route(m *pulsar.ProducerMessage, topic pulsar.TopicMetadata) int {
	if w.partition >= 0 {
		return int(w.partition)
	}
	var hash uint32
	for i := range len(m.Key) {
		hash = 31*hash + uint32(m.Key[i])
	}
	return int(hash % topic.NumPartitions())
}

// lost is what the library calls when it is about to connect again.
func (w *wire) lost() backoff.Policy {
	w.End(errLost)
	return backoff.NewDefaultBackoff()
}

// close ends it; what was sent and not answered is unknown.
func (w *wire) close() {
	w.End(errLost)
	w.handing.Lock()
	w.closed = true
	w.handing.Unlock()
	for one := range w.pending.Range {
		w.settle(one, 0, errLost)
	}
	w.client.Close()
}

// kill closes the library's sockets, which it shows to nobody. The first one that is closed has the library change its map.
func (w *wire) kill() {
	var sockets []*net.TCPConn
	pool := reflect.ValueOf(w.client).Elem().FieldByName("cnxPool").Elem().Elem()
	for on := pool.FieldByName("connections").MapRange(); on.Next(); {
		if socket := on.Value().Elem().FieldByName("cnx").Elem(); socket.IsValid() && socket.Type() == reflect.TypeFor[*net.TCPConn]() {
			sockets = append(sockets, (*net.TCPConn)(socket.UnsafePointer()))
		}
	}
	for _, socket := range sockets {
		_ = socket.Close()
	}
}

// consumer is one subscription: of a group, or a reader for each partition, which stores no position.
type consumer struct {
	broker.Subscription
	session *session
	handle  broker.Handler
	// over ends with the subscription.
	over context.Context
	end  context.CancelFunc
	// working is locked while a message is handled.
	working sync.Mutex
	// made are all of the library's consumers and readers so far.
	made broker.List[interface{ Close() }]

	mu sync.Mutex
	// last message of each partition that a reader has taken; the next reader begins behind it.
	last []pulsar.MessageID
}

// --- internal ---

// dial connects, with all that was on the connection before.
func (l *link) dial(ctx context.Context) (*wire, error) {
	s := l.session
	if err := s.greet(ctx); err != nil {
		return nil, err
	}
	client, err := pulsar.NewClient(s.clientOptions())
	if err != nil {
		return nil, err
	}
	w := &wire{Lifetime: broker.NewLifetime(s.Over), client: client, now: s.Now}
	context.AfterFunc(w.Context, w.close)
	err = deadline.While(ctx, func() error {
		if _, err := client.TopicPartitions("mqbench"); err != nil && !strings.Contains(err.Error(), "TopicNotFound") {
			return err
		}
		return nil
	})
	for _, attach := range l.carried.All() {
		if err == nil {
			err = attach(ctx, w)
		}
	}
	if err != nil {
		w.End(err)
		return nil, err
	}
	return w, nil
}

// carry makes something on the connection, now and whenever that is made again.
func (l *link) carry(ctx context.Context, attach attach) error {
	var w *wire
	if err := deadline.Until(ctx, reconnectWait, func() (is bool) { w, is = l.Now(); return is }); err != nil {
		return errNotConnected
	}
	l.carried.Add(attach) // Subtle: in this order, a connection that comes back has it, and never twice
	return attach(ctx, w)
}

func (l *link) attach(ctx context.Context, w *wire) error {
	s := l.session
	w.producers = make([]pulsar.Producer, len(s.layout.Topics))
	indexes := make([]int, len(w.producers))
	for i := range indexes {
		indexes[i] = i
	}
	return deadline.Each(ctx, indexes, func(ctx context.Context, i int) error {
		return deadline.While(ctx, func() (err error) {
			w.producers[i], err = w.client.CreateProducer(s.producerOptions(w, s.layout.Topics[i].Name))
			return err
		})
	})
}

func (c *consumer) attach(ctx context.Context, w *wire) error {
	return deadline.While(ctx, func() error {
		if c.Group == "" {
			return c.read(w)
		}
		made, err := w.client.Subscribe(c.session.consumerOptions(w, c))
		if err != nil {
			return err
		}
		ack := made.Ack
		if c.session.own.Cumulative {
			ack = made.AckCumulative
		}
		c.made.Add(made)
		go c.work(w, 0, made.Receive, ack)
		return nil
	})
}

func (c *consumer) read(w *wire) error {
	topics, err := w.client.TopicPartitions(c.Topic)
	if err != nil {
		return err
	}
	for i, topic := range topics {
		made, err := w.client.CreateReader(pulsar.ReaderOptions{Topic: topic, StartMessageID: c.from(i), ReceiverQueueSize: c.session.own.Prefetch, BackoffPolicyFunc: w.lost})
		if err != nil {
			return err
		}
		c.made.Add(made)
		go c.work(w, i, made.Next, nil)
	}
	return nil
}

// from is where a reader of a partition begins.
func (c *consumer) from(partition int) pulsar.MessageID {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.last) <= partition {
		c.last = append(c.last, nil)
	}
	switch last := c.last[partition]; {
	case last != nil:
		return pulsar.NewMessageID(last.LedgerID(), last.EntryID(), last.BatchIdx(), last.PartitionIdx())
	case c.FromStart || c.session.Run == "": // the topic is as new as the subscription
		return pulsar.EarliestMessageID()
	}
	return pulsar.LatestMessageID()
}

// work handles one message after the other, until the connection or the subscription is over.
func (c *consumer) work(w *wire, partition int, next func(context.Context) (pulsar.Message, error), ack func(pulsar.Message) error) {
	for {
		m, err := next(w.Context)
		d := broker.Delivery{ReceivedNs: c.session.Now()}
		if err != nil || !c.deliver(w, partition, m, d, ack) {
			return
		}
	}
}

func (c *consumer) deliver(w *wire, partition int, m pulsar.Message, d broker.Delivery, ack func(pulsar.Message) error) bool {
	c.working.Lock()
	defer c.working.Unlock()
	c.mu.Lock()
	// Subtle: a new connection reads on behind the last message, so nothing more is taken from the old one.
	over := w.Err() != nil || c.over.Err() != nil
	if !over && ack == nil {
		c.last[partition] = m.ID()
	}
	c.mu.Unlock()
	if over {
		return false
	}
	d.Payload, d.Redelivered = m.Payload(), m.RedeliveryCount() > 0
	c.handle(d)
	if ack != nil {
		// If the connection is gone, the broker never gets it and delivers the message again.
		_ = ack(m)
	}
	return true
}

// stop takes no further message, and gives back what is not handled.
func (c *consumer) stop(context.Context) error {
	c.end()
	deadline.AtMost(closeTimeout, c.working.Lock)
	deadline.AtMost(closeTimeout, deadline.Steps(c.made.All(), func(one interface{ Close() }) { one.Close() })...)
	return nil
}
