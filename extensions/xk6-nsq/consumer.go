package nsq

import (
	"sync/atomic"

	"github.com/nsqio/go-nsq"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// consumer is one subscription, with connections of its own to all servers. What the library hands over waits in a queue of ours, no longer than
// the prefetch, so that everything that is not handled can be given back.
type consumer struct {
	session               *session
	topic, group, channel string
	handle                broker.Handler
	library               *nsq.Consumer
	queue                 chan taken
	// inHand is the message that is being handled.
	inHand atomic.Pointer[nsq.Message]
}

type taken struct {
	*nsq.Message
	at int64
}

// newConsumer makes one that is not connected yet.
func (s *session) newConsumer(to broker.Subscription, handle broker.Handler) (*consumer, error) {
	c := &consumer{session: s, topic: to.Topic, group: to.Group, handle: handle, queue: make(chan taken, s.own.Prefetch)}
	c.channel = s.channelName(to.Group, s.numbers.Add(1)-1)
	config, _ := s.config()
	var err error
	if c.library, err = nsq.NewConsumer(c.topic, c.channel, config); err != nil {
		return nil, err
	}
	life := s.Lifeline()
	c.library.SetLogger(log{life}, nsq.LogLevelWarning)
	c.library.AddHandler(nsq.HandlerFunc(func(m *nsq.Message) error {
		at := s.Now()
		life.Works()
		m.DisableAutoResponse()
		select {
		case c.queue <- taken{m, at}:
		case <-s.Over.Done():
			m.RequeueWithoutBackoff(0)
		}
		return nil
	}))
	return c, nil
}

func (c *consumer) start() error {
	go c.work()
	return c.library.ConnectToNSQDs(c.session.servers)
}

// stop ends the subscription and gives back what was not handled.
func (c *consumer) stop() {
	c.library.Stop()
	if m := c.inHand.Load(); m != nil {
		m.RequeueWithoutBackoff(0)
	}
	// More may come until the server has heard of it.
	go func() {
		for {
			select {
			case m := <-c.queue:
				m.RequeueWithoutBackoff(0)
			case <-c.library.StopChan:
				return
			}
		}
	}()
}

// --- internal ---

// work handles one message after the other. Members of a group take a message when its turn comes.
func (c *consumer) work() {
	for {
		select {
		case <-c.session.Over.Done():
			return
		case m := <-c.queue:
			if c.group != "" {
				m.at = c.session.Now()
			}
			c.inHand.Store(m.Message)
			c.handle(broker.Delivery{ReceivedNs: m.at, Payload: m.Body, Redelivered: m.Attempts > 1})
			m.Finish()
			c.inHand.Store(nil)
		}
	}
}
