package redis

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// lastAnswer is how long an answer may take to be read when a write has failed.
const lastAnswer = 100 * time.Millisecond

// line is the sending side of a connection: it has a link, or none while that is being replaced. go-redis waits for the answers to one
// pipeline before it writes the next one on a connection, so a message would wait for a round trip that has nothing to do with it
// (PUBLISH of 1 KiB on 2 busy cores: 310 000/s in pipelines of 64, 540 000/s of 1024, 610 000/s with the link). So the
// library connects and logs in, and the link uses its socket.
type line struct {
	broker.Link[*link]
	s     *session
	shard *shard
}

func (l *line) Send(m *broker.Message, done broker.Done) { l.send(entry{m: m, done: done}) }

// send queues a command; done or fail is called once. It blocks while the queue is full.
func (l *line) send(e entry) {
	if at, is := l.Now(); !is || l.s.Over.Err() != nil || !at.put(e) {
		e.fail(errNotConnected)
	}
}

func (l *line) dial(ctx context.Context) (*link, error) {
	k, err := l.s.connect(ctx, l.shard, false)
	if err != nil {
		return nil, err
	}
	made := &link{socket: k, s: l.s, shard: l.shard, queue: make(chan entry, l.s.queueLength), unanswered: make(chan entry, l.s.queueLength)}
	if l.s.Sender == clientLibrary {
		if made.library, err = k.client.AsyncAutoPipelineWithOptions(&autoPipeline); err != nil {
			k.End(err)
			return nil, err
		}
	}
	go made.run()
	return made, nil
}

// link writes commands and reads answers, each in its own goroutine. Commands queued during a write leave as one pipeline right after it.
type link struct {
	*socket
	s     *session
	shard *shard
	// queue holds commands to write, unanswered the written ones.
	queue, unanswered chan entry
	// library is not nil if go-redis writes and reads: it has a separate queue, and one pipeline on its way.
	library *redis.AutoPipeliner
	// refusal is the protocol error after which the server reads no more: it has executed none of the commands after it.
	refusal error

	// gate: senders hold it for reading, which keeps messages out of the queue of a link that is being emptied.
	gate sync.RWMutex
	dead bool
}

// entry is one command: a message with its completion, or a consumer's acknowledgement.
type entry struct {
	m    *broker.Message
	done broker.Done
	ack  [][]byte
	// answer that go-redis waits for.
	answer *redis.Cmd
}

func (e entry) fail(err error) {
	if e.m != nil {
		e.done(e.m, 0, err)
	}
}

// put queues a command. It returns false if the connection is lost.
func (l *link) put(e entry) bool {
	l.gate.RLock()
	defer l.gate.RUnlock()
	if l.dead {
		return false
	}
	queue := l.queue
	if l.library != nil {
		args := []any{}
		for _, word := range l.s.command(nil, e) {
			args = append(args, word)
		}
		e.answer = redis.NewCmd(l.s.Over, args...)
		_ = l.library.Process(l.s.Over, e.answer)
		queue = l.unanswered
	}
	select {
	case queue <- e:
		return true
	case <-l.Done():
		if l.library != nil {
			e.fail(errUnanswered) // it may have been written
		}
		return l.library != nil
	}
}

// run works until the connection breaks, and completes everything that waits: messages that were written are unknown, the rest never left.
func (l *link) run() {
	if l.library != nil {
		l.End(l.await())
	} else {
		read, wrote := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(wrote)
			reason := l.write()
			// Subtle: a server that refuses a message half-way sends an error before it ends the connection, and that answer is still to be read.
			select {
			case <-read:
			case <-time.After(lastAnswer):
			}
			l.End(reason)
		}()
		l.End(l.read())
		close(read)
		<-wrote
	}
	l.gate.Lock()
	l.dead = true
	l.gate.Unlock()
	for len(l.unanswered) > 0 {
		(<-l.unanswered).fail(cmp.Or(l.refusal, errUnanswered))
	}
	for len(l.queue) > 0 {
		(<-l.queue).fail(errNotConnected)
	}
}

// --- internal ---

func (l *link) write() error {
	w, command := bufio.NewWriterSize(l.conn, bufferBytes), [][]byte{}
	for {
		var e entry
		select {
		case e = <-l.queue:
		default:
			if err := w.Flush(); err != nil {
				return err
			}
			select {
			case e = <-l.queue:
			case <-l.Done():
				return nil
			}
		}
		if len(l.unanswered) == cap(l.unanswered) {
			if err := w.Flush(); err != nil {
				e.fail(errNotConnected)
				return err
			}
		}
		// Subtle: before the write, because the answer may come at once.
		select {
		case l.unanswered <- e:
		case <-l.Done():
			e.fail(errNotConnected)
			return nil
		}
		command = l.s.command(command[:0], e)
		encode(w, command)
	}
}

func (l *link) read() error {
	source := &stamped{source: l.conn, now: l.s.Now}
	r := bufio.NewReaderSize(source, bufferBytes)
	for {
		integer, refusal, err := readAnswer(r)
		if err != nil {
			return err
		}
		select {
		case e := <-l.unanswered:
			l.answered(e, integer, refusal, source.atNs)
		default:
			return errors.New("an answer without a question")
		}
	}
}

// await waits for the answers to the commands given to go-redis, in that order.
func (l *link) await() error {
	for {
		select {
		case e := <-l.unanswered:
			value, err := e.answer.Result()
			if err != nil && !refused(err) {
				e.fail(errUnanswered)
				return err
			}
			integer, _ := value.(int64)
			l.answered(e, integer, err, l.s.Now())
		case <-l.Done():
			return nil
		}
	}
}

func (l *link) answered(e entry, integer int64, refusal error, atNs int64) {
	switch {
	case refusal != nil:
		err := fmt.Errorf("redis: %s: %w", l.s.send(), refusal)
		if gone(refusal) {
			l.shard.moved.Store(true)
			l.End(refusal)
		}
		if strings.HasPrefix(refusal.Error(), "ERR Protocol error") {
			l.refusal = err
		}
		if e.m == nil {
			l.s.Report("acknowledge", refusal)
		}
		e.fail(err)
	case e.m == nil:
	case l.s.Mode == modePubSub:
		// Of a cluster's other channels, subscribers on other nodes are not among them.
		if integer == 0 && l.s.sharded == l.s.cluster {
			l.s.Report("", errNobody)
		}
		e.done(e.m, 0, nil)
	default:
		e.done(e.m, atNs, nil)
	}
}

// stamped has the time when the last bytes arrived: answers that arrive together get the same time, whatever is done with each.
type stamped struct {
	source io.Reader
	now    func() int64
	atNs   int64
}

func (s *stamped) Read(into []byte) (int, error) {
	n, err := s.source.Read(into)
	s.atNs = s.now()
	return n, err
}
