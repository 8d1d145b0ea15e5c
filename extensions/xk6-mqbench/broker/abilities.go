package broker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Abilities that only some systems have: each is an interface that a Session may implement, and a function that uses it or returns a fallback.

// Remover is the ability to remove something from the broker. Without it there is nothing to remove: a topic exists by being used.
type Remover interface {
	// Remove removes everything that Prepare and Consume have made on the broker, and nothing else. Called at most once, after the run and
	// before Close. The broker may be gone by then.
	Remove(ctx context.Context) error
}

// Remove removes everything that the session has made.
func Remove(ctx context.Context, s Session) error {
	if able, ok := s.(Remover); ok {
		return able.Remove(ctx)
	}
	return nil
}

// Dropper is the ability to count the messages that the client library threw away. Without it the number is unknown, and reports show that.
type Dropper interface {
	// Dropped is how many messages the library itself has thrown away so far, also after Close. Any goroutine may call it.
	Dropped() int64
}

// DropsNothing is a Dropper to embed in sessions whose library throws nothing away.
type DropsNothing struct{}

func (DropsNothing) Dropped() int64 { return 0 }

// Reconnecter is the ability to count lost connections. Without it the number is unknown, and reports show that.
type Reconnecter interface {
	// Reconnects is how often a connection was replaced so far, also after Close. Any goroutine may call it.
	Reconnects() int64
}

// Holder is the ability to count the messages that wait in the client library. Without it the number is unknown, and reports show that.
type Holder interface {
	// Held is how many messages the client library has received and not handed over; one that is being handled may count. If the library has
	// no queue, messages in the socket count. known is false if they cannot be counted. Called ten times a second, from any goroutine, also
	// after Close.
	Held() (n int64, known bool)
}

// Held is how many messages wait in the client library; nil if unknown.
func Held(s Session) *int64 {
	if able, ok := s.(Holder); ok {
		if n, known := able.Held(); known {
			return &n
		}
	}
	return nil
}

// LeaderFinder is the ability to find the node of a cluster that leads a topic. Without it no node does.
type LeaderFinder interface {
	// Leader asks the broker which node leads the topic (its first partition) and returns the broker's name for it, such as "mqbench-2"
	// or "3". An error means that there is no leader at the moment, or no answer. Any goroutine may call it.
	Leader(ctx context.Context, topic string) (string, error)
}

// Leader is the node that leads the topic; "" if this system has no leaders.
func Leader(ctx context.Context, s Session, topic string) (string, error) {
	if able, ok := s.(LeaderFinder); ok {
		return able.Leader(ctx, topic)
	}
	return "", nil
}

// MissingTopic is the error of Prepare for a topic that does not exist. what describes the failed search: "no stream has this subject".
func MissingTopic(name, what string) error {
	return fmt.Errorf("topic %s does not exist (%s); make it, or drop create: false", name, what)
}

// Requester is the ability to count requests, if a service bills them. Without it requests cost nothing.
type Requester interface {
	// Requests is how many the session has made so far, also after Close. Any goroutine may call it.
	Requests() int64
}

// What a session has the ability to count; nil without it.
var (
	Dropped     = counted(Dropper.Dropped)
	Reconnects  = counted(Reconnecter.Reconnects)
	Requests    = counted(Requester.Requests)
	ThrottledNs = counted(Throttler.ThrottledNs)
)

// Killer is the ability to end like a process that was killed. Sessions that embed Base and make their sockets with Base.Mortal have it.
type Killer interface {
	// Kill closes all sockets without the protocol's goodbye. The library makes no other, and what it has not yet acknowledged never will be.
	// Any goroutine may call it, once, before Close. It returns when the sockets are closed.
	Kill()
}

// Kill ends a session like a process that was killed.
func Kill(s Session) error {
	if able, ok := s.(Killer); ok {
		able.Kill()
		return nil
	}
	return errors.New("this driver cannot end a consumer like a killed process")
}

// Leaver is the ability to leave groups in a way of its own. Without it Close gives back what consumers have not acknowledged.
type Leaver interface {
	// Leave takes the session's consumers out of their groups: they take no further messages, and what they have is acknowledged, or given
	// back, when it returns. Handlers still run during the call. Called at most once, before Close.
	Leave(ctx context.Context) error
}

// Endpoint is where a subscription of a system without a server takes messages.
type Endpoint struct {
	// Topic, Wildcard and Group of the subscription.
	Topic    string `json:"topic"`
	Wildcard bool   `json:"wildcard,omitempty"`
	Group    string `json:"group,omitempty"`
	// Address as the driver writes it, such as "tcp://127.0.0.1:41873".
	Address string `json:"address"`
}

// Peer is the ability to work without a server: senders connect to the subscriptions themselves. Within a session they do so in Producer
// and Consume, whichever comes later; Meet adds other clients' subscriptions. Without it clients meet at the broker.
type Peer interface {
	// Endpoints are where this session's subscriptions take messages; empty if a server is between. Called after the last Consume.
	Endpoints() []Endpoint
	// Meet connects this session's senders to the subscriptions of other clients, and returns when a message that is sent afterwards must
	// arrive there. Called at most once, after the last Consume and Producer, if there are several clients.
	Meet(ctx context.Context, others []Endpoint) error
}

// Endpoints are where the session's subscriptions take messages; empty for a system with a server.
func Endpoints(s Session) []Endpoint {
	if able, ok := Ability[Peer](s); ok {
		return able.Endpoints()
	}
	return nil
}

// Meet adds the subscriptions of other clients to the session.
func Meet(ctx context.Context, s Session, others []Endpoint) error {
	if able, ok := Ability[Peer](s); ok {
		return able.Meet(ctx, others)
	}
	return errors.New("clients of this system meet at its server, not each other")
}

// Dialer is the ability to open connections while the run goes on (pattern connect). Without it a system cannot run that pattern.
type Dialer interface {
	// Dial opens connection n and returns when the server has logged it in, or when ctx ends, which has a deadline. Each n of all clients is
	// dialled once. Any number of goroutines calls it at the same time.
	Dial(ctx context.Context, n int64) (Connection, error)
}

// Connection is one that comes and goes. It is never replaced.
type Connection interface {
	// Greet subscribes to a topic of the connection's own below m's (Own), sends m there, and returns when the library has it, or when ctx
	// ends. m is the connection's from then on. handle gets the message as often as it arrives. Called at most once.
	Greet(ctx context.Context, m *Message, handle Handler) error
	// Gone reports whether the connection is lost.
	Gone() bool
	// Close says goodbye, in bounded time, and ends the connection. Called once, in place of Greet or after it.
	Close()
}

// Own is the topic of the connection that the message is the first one of.
func (m *Message) Own() string { return fmt.Sprintf("%s.%d", m.Name, m.Index) }

// Patience is how long ctx lasts, for libraries that take a time-out instead.
func Patience(ctx context.Context) time.Duration {
	until, _ := ctx.Deadline()
	return max(time.Millisecond, time.Until(until))
}

// SmallBuffer is the size of such a connection's buffers: thousands of idle ones should not fill the memory.
const SmallBuffer = 4096

// Ability is a session's ability, also if only the Simple has it that the session is made of.
func Ability[Able any](s Session) (able Able, ok bool) {
	able, ok = s.(Able)
	if of, is := s.(*simple); is && !ok {
		able, ok = of.Simple.(Able)
	}
	return able, ok
}

// --- internal ---

func counted[Able any](ask func(Able) int64) func(Session) *int64 {
	return func(s Session) *int64 {
		able, ok := Ability[Able](s)
		if !ok {
			return nil
		}
		n := ask(able)
		return &n
	}
}
