package redis

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// blockFor is how long a consumer's command waits on the server for a message before the consumer looks for those that others have left.
const blockFor = time.Second

// consumer reads one stream or list on a separate socket, because a command that waits occupies it.
type consumer struct {
	s      *session
	line   *line
	topic  *topic
	handle broker.Handler
	// group is "" for a single reader of a stream, which acknowledges nothing.
	group string
	// name within the group: the session's, and a number.
	name string
	// acknowledge is when; done are entries of a stream that were handled since ackedNs, when the last ones were acknowledged.
	acknowledge string
	done        []string
	ackedNs     int64
	// claimNs is when it next looks for messages that others have left.
	claimNs int64
	// last entry that a reader of a stream without a group has received, or where it begins; fromStart: at the stream's first entry.
	last      string
	fromStart bool
	// taken is the list to which this consumer of a list moves the messages it takes, want how many messages it takes at once: more while
	// there are more.
	taken string
	want  int
}

// fetched is one message as it arrived; id is for its acknowledgement.
type fetched struct{ id, payload string }

// read makes a consumer of a stream or list, which reads on one socket after another: first again the unfinished messages of the socket
// before, and then the messages that are there, or it waits a while for one.
func (s *session) read(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	c := s.newConsumer(to, handle)
	resume, step := c.resume, c.pop
	if s.Mode == modeStreams {
		resume, step = c.recover, c.readNext
		if err := c.start(ctx); err != nil {
			return err
		}
	}
	link := newLink[*socket]()
	return link.Open(ctx, s.Base, func(ctx context.Context) (*socket, error) {
		k, err := s.connect(ctx, c.topic.shard, false)
		if err == nil {
			s.running.Go(func() { k.End(c.run(k, resume, step)) })
		}
		return k, err
	})
}

func (s *session) newConsumer(to broker.Subscription, handle broker.Handler) *consumer {
	s.consuming.Lock()
	defer s.consuming.Unlock()
	c := &consumer{
		s: s, topic: s.named[to.Topic], handle: handle, acknowledge: broker.AcknowledgeOf(s.Acknowledge, to.Group),
		fromStart: to.FromStart,
		name:      s.name + "." + strconv.Itoa(len(s.consumers)), want: 1, ackedNs: s.Now(),
	}
	c.line = s.lines[to.Connection][c.topic.shard.index]
	s.consumers = append(s.consumers, c)
	if to.Group != "" {
		c.group = s.Named(".", to.Group)
	}
	if free := c.topic.free; len(free) > 0 {
		c.taken, c.topic.free = free[0], free[1:]
	}
	return c
}

// run works until the socket breaks, and returns why, or until the session ends.
func (c *consumer) run(k *socket, resume, step func(*socket) error) error {
	next := resume
	for !c.s.IsQuiet() {
		switch err := next(k); {
		case err == nil, nothing(err):
			next = step
		case gone(err):
			c.topic.shard.moved.Store(true)
			return err
		case refused(err):
			c.s.Report("", err)
			time.Sleep(reconnectWait)
		default:
			return err
		}
	}
	return nil
}

// take passes messages, which arrived at atNs, to the handler and acknowledges each; again means that they were delivered before. A member
// of a group takes one after the other: a message that waits here behind slow work has not been received yet.
func (c *consumer) take(list []fetched, atNs int64, again bool) {
	alone := c.s.Mode == modeStreams && c.group == ""
	if !alone {
		c.s.fetched.Add(int64(len(list)))
	}
	for i, m := range list {
		if c.s.Over.Err() != nil {
			return
		}
		if !alone {
			c.s.fetched.Add(-1)
			if i > 0 {
				atNs = c.s.Now()
			}
		}
		c.handle(broker.Delivery{ReceivedNs: atNs, Payload: bytesOf(m.payload), Redelivered: again})
		if !alone && c.acknowledge != broker.Automatic && c.s.Over.Err() == nil {
			if c.s.Mode == modeLists {
				c.line.send(entry{ack: append(words("LREM", c.taken, "-1"), bytesOf(m.payload))})
				continue
			}
			c.done = append(c.done, m.id)
			c.settle(c.acknowledge == broker.PerMessage)
		}
	}
	c.settle(c.acknowledge == broker.PerBatch)
}

// --- internal ---

// settle acknowledges the handled messages of a stream: now, or if that is done at intervals, when it is time.
func (c *consumer) settle(now bool) {
	nowNs := c.s.Now()
	if !now && (c.acknowledge != broker.PerInterval || nowNs-c.ackedNs < int64(broker.AcknowledgeInterval)) {
		return
	}
	if len(c.done) > 0 {
		c.line.send(entry{ack: words(append([]string{"XACK", c.topic.name, c.group}, c.done...)...)})
	}
	c.done, c.ackedNs = c.done[:0], nowNs
}

func textOf(value any) string {
	text, _ := value.(string)
	return text
}

// nothing reports whether a command that waits returned without a result.
func nothing(err error) bool { return errors.Is(err, redis.Nil) }
