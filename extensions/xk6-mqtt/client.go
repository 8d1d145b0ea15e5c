package mqtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// link is one connection of a library. The library does not reconnect it.
type link interface {
	// publish is Producer.Send.
	publish(m *broker.Message, topic string, done broker.Done)
	// subscribe returns the QoS that the server grants, or its refusal.
	subscribe(ctx context.Context, filter string) (byte, error)
	broker.Wire
	// over ends the connection, at once. Sends that are not acknowledged are then completed.
	over(reason error)
	// largest packet that the server says it takes; 0: it does not say.
	largest() uint32
}

// ending is what both libraries' links have in common: how they end.
type ending struct {
	once   sync.Once
	gone   chan struct{}
	reason error
	wire   net.Conn
	most   uint32
}

func (e *ending) over(reason error) {
	e.once.Do(func() {
		e.reason = reason
		close(e.gone)
		_ = e.wire.Close()
	})
}

func (e *ending) Done() <-chan struct{} { return e.gone }
func (e *ending) Err() error            { return e.reason }
func (e *ending) largest() uint32       { return e.most }

func (e *ending) isOver() bool {
	select {
	case <-e.gone:
		return true
	default:
		return false
	}
}

// client is what the server knows by one client id: a producer, or one subscription. It replaces its link when that is lost.
type client struct {
	broker.Link[link]
	s      *session
	number int
	// filter is "" of a producer.
	filter string
	// persistent: the server keeps the client's session while it is not connected.
	persistent bool
	take       func(payload []byte, again bool)
	// kept is what the library remembers of a persistent session from one connection to the next.
	kept any
}

var (
	errNotConnected = errors.New("mqtt: not connected")
	errUnanswered   = fmt.Errorf("mqtt: connection lost: %w", broker.ErrUnknown)
	errClosed       = errors.New("mqtt: the session is closed")
)

func (c *client) id() string { return c.s.name + "-" + strconv.Itoa(c.number) }

func (c *client) Send(m *broker.Message, done broker.Done) {
	if l, is := c.Now(); is && c.s.Over.Err() == nil {
		l.publish(m, c.s.address(m.Name), done)
		return
	}
	done(m, 0, errNotConnected)
}

// forget ends the session that the server keeps for this client.
func (c *client) forget(ctx context.Context) error {
	if l, is := c.Now(); is {
		l.over(errClosed)
	}
	if !c.persistent {
		return nil
	}
	c.persistent, c.filter = false, ""
	l, err := c.link(ctx)
	if err == nil {
		l.over(errClosed)
	}
	return err
}

// link dials and subscribes.
func (c *client) link(ctx context.Context) (made link, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	hosts := c.s.at.Hosts
	for i := range hosts { // another node if one is gone
		host := hosts[(c.number+i)%len(hosts)]
		if c.s.own.Protocol == version3 {
			made, err = dial3(ctx, c, host)
		} else {
			made, err = dial5(ctx, c, host)
		}
		if err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	go func() {
		select {
		case <-c.s.Over.Done():
			made.over(errClosed)
		case <-made.Done():
		}
	}()
	if c.filter != "" {
		granted, err := made.subscribe(ctx, c.filter)
		if err == nil && granted != c.s.own.QoS {
			err = fmt.Errorf("the server grants QoS %d, and qos is %d; set what it grants", granted, c.s.own.QoS)
		}
		if err != nil {
			made.over(err)
			return nil, fmt.Errorf("subscribe to %q: %w", c.filter, err)
		}
	}
	return made, nil
}
