package mqtt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// trialTimeout is how long the one message of a trial may take. Tests shorten it.
var trialTimeout = 10 * time.Second

const (
	// versionTimeout: servers that tell their version have it in a retained message, which comes at once.
	versionTimeout = 300 * time.Millisecond
	versionTopic   = "$SYS/broker/version"
)

// try sends a message as large as the run's, or as the server takes, to a subscription, alone or shared, because servers exist that acknowledge a message or a
// subscription and then deliver nothing: mosquitto a message above its message_size_limit, nats-server anything to a shared subscription.
// Topics of the user's own may be all that the user has the right to, so there nothing is tried.
func (s *session) try(ctx context.Context, share string) error {
	if s.Run != "" {
		return nil
	}
	topic := s.name + "/trial"
	payload := bytes.Repeat([]byte("t"), cmp.Or(s.LimitBytes, s.MessageBytes))
	if most := s.largest(); most > 0 && len(payload)+overhead > most {
		return fmt.Errorf("messages of %d bytes are above the largest packet that the server takes, which is %d bytes", len(payload), most)
	}
	arrived, sent := make(chan struct{}, 1), make(chan error, 1)
	to := s.client(share+topic, func([]byte, bool) {
		select {
		case arrived <- struct{}{}:
		default:
		}
	})
	l, err := to.link(ctx)
	if err != nil {
		return err
	}
	defer l.over(errClosed)
	s.producers[0].Send(&broker.Message{Name: topic, Payload: payload}, func(_ *broker.Message, _ int64, err error) { sent <- err })
	limit := time.NewTimer(trialTimeout)
	defer limit.Stop()
	for {
		select {
		case err := <-sent:
			if errors.Is(err, broker.ErrUnknown) {
				return fmt.Errorf("the server ends the connection when it gets a message of %d bytes; send smaller ones, or raise its limit", len(payload))
			}
			if err != nil {
				return fmt.Errorf("a message of %d bytes: %w", len(payload), err)
			}
			sent = nil
		case <-arrived:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-limit.C:
			return s.silent(share != "", sent == nil)
		}
	}
}

func (s *session) silent(shared, taken bool) error {
	switch {
	case !taken:
		return fmt.Errorf("the server (%s) does not answer within %s", s.server, trialTimeout)
	case shared:
		return fmt.Errorf("the server (%s) accepts a shared subscription and delivers nothing to it, so consumers cannot share a topic there; "+
			"use a server with shared subscriptions, such as mosquitto", s.server)
	}
	rights := ""
	if s.own.Protocol == version3 {
		rights = "; or give this user the right to that topic: MQTT 3.1.1 has no words for a right that is missing"
	}
	return fmt.Errorf("the server (%s) accepts a message of %d bytes and does not deliver it; send smaller ones, or raise its limit "+
		"(message_size_limit of mosquitto)%s", s.server, cmp.Or(s.LimitBytes, s.MessageBytes), rights)
}

// overhead is the most that a packet of ours has besides its payload; a topic's name is below 200 bytes.
const overhead = 256

func (s *session) largest() int {
	if l, is := s.producers[0].Now(); is {
		return int(l.largest())
	}
	return 0
}

// askServer is the server's name and version, as it publishes them.
func (s *session) askServer(ctx context.Context) string {
	const unknown = "an MQTT server that does not say which"
	said := make(chan string, 1)
	c := s.client(versionTopic, func(payload []byte, _ bool) {
		select {
		case said <- string(payload):
		default:
		}
	})
	l, err := c.link(ctx)
	if err != nil {
		return unknown
	}
	defer l.over(errClosed)
	select {
	case text := <-said:
		return strings.Replace(text, " version ", " ", 1)
	case <-time.After(versionTimeout):
		return unknown
	}
}
