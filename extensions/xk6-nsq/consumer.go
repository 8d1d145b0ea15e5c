package nsq

import (
	"sync"
	"sync/atomic"

	"github.com/nsqio/go-nsq"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// consumer is one subscription, with connections of its own to all servers. What the library hands over waits in a queue of ours, no longer than
// the prefetch, so that everything that is not handled can be given back.
type consumer struct {
	lifeline
	topic, group, channel string
	handle                broker.Handler
	library               *nsq.Consumer
	queue                 chan taken
	over                  sync.Once
	// inHand is the message that is being handled.
	inHand atomic.Pointer[nsq.Message]
}

type taken struct {
	*nsq.Message
	at int64
}

func (c *consumer) start() error {
	config, _ := c.session.config()
	library, err := nsq.NewConsumer(c.topic, c.channel, config)
	if err != nil {
		return err
	}
	library.SetLogger(&c.lifeline, nsq.LogLevelWarning)
	library.AddHandler(nsq.HandlerFunc(func(m *nsq.Message) error {
		at := c.session.Now()
		c.works()
		m.DisableAutoResponse()
		select {
		case c.queue <- taken{m, at}:
		case <-c.session.Over.Done():
			m.RequeueWithoutBackoff(0)
		}
		return nil
	}))
	c.session.mu.Lock()
	c.library = library
	c.session.mu.Unlock()
	go c.work()
	return library.ConnectToNSQDs(c.session.servers)
}

// stop ends the subscription and gives back what was not handled.
func (c *consumer) stop() {
	c.over.Do(func() {
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
	})
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
