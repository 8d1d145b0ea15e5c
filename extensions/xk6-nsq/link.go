package nsq

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/nsqio/go-nsq"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// link is one connection that sends. The library connects it again with the next message.
type link struct {
	lifeline
	library *nsq.Producer
	answers chan *nsq.ProducerTransaction
}

// outgoing is a message that waits for its answer.
type outgoing struct {
	message *broker.Message
	done    broker.Done
}

var (
	errNotConnected = errors.New("nsq: publish: not connected")
	errLost         = fmt.Errorf("nsq: connection lost: %w", broker.ErrUnknown)
)

func (s *session) connect(i int) (*link, error) {
	config, _ := s.config()
	library, err := nsq.NewProducer(s.servers[i%len(s.servers)], config)
	if err != nil {
		return nil, err
	}
	l := &link{lifeline: lifeline{session: s}, library: library, answers: make(chan *nsq.ProducerTransaction, 1024)}
	library.SetLogger(&l.lifeline, nsq.LogLevelInfo)
	if err := library.Ping(); err != nil {
		return nil, err
	}
	go l.settle()
	return l, nil
}

// Send hands over; the library's router takes one message after the other.
func (l *link) Send(m *broker.Message, done broker.Done) {
	err := l.library.PublishAsync(m.Name, m.Payload, l.answers, outgoing{m, done})
	if err == nil {
		return
	}
	l.failed()
	if !errors.Is(err, nsq.ErrStopped) && !errors.Is(err, nsq.ErrNotConnected) {
		l.session.Report("connect", address.Cause(err))
	}
	done(m, 0, errNotConnected)
}

// --- internal ---

// settle reads the answers, until the library has given up the last message.
func (l *link) settle() {
	for answer := range l.answers {
		at := l.session.Now()
		one := answer.Args[0].(outgoing)
		var refusal nsq.ErrProtocol
		switch err := answer.Error; {
		case err == nil:
			l.works()
			one.done(one.message, at, nil)
		case errors.As(err, &refusal):
			one.done(one.message, 0, fmt.Errorf("nsq: publish: %s", refusal.Reason))
		default: // written or not, the library does not say
			l.failed()
			one.done(one.message, 0, errLost)
		}
	}
}

func (l *link) close() {
	l.library.Stop()
	close(l.answers)
}

// lifeline counts the connections that replaced a lost one. The library says neither, but for its log.
type lifeline struct {
	session *session
	lost    atomic.Bool
}

// Output takes a line of the library's log.
func (l *lifeline) Output(_ int, line string) error {
	if strings.Contains(line, "connections left alive") {
		l.failed()
	}
	return nil
}

func (l *lifeline) failed() {
	if !l.lost.Swap(true) {
		l.session.Report("connection lost", errors.New("the library has closed it"))
	}
}

// works: a lost connection has been replaced, as this one carries messages.
func (l *lifeline) works() {
	if l.lost.Load() && l.lost.Swap(false) {
		l.session.Reconnected()
	}
}
