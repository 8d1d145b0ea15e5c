package broker

import (
	"context"
	"errors"
	"fmt"
)

// What only some systems can do. Each ability is an interface that a Session may implement, and a function that asks a Session for
// it and says what holds without.

// Remover is the ability to take something away from the broker. Without it nothing is to be removed: a topic exists by being used.
type Remover interface {
	// Remove takes away what Prepare and Consume have made on the broker, and nothing else. Called at most once, after the run and
	// before Close; the broker may be gone by then.
	Remove(ctx context.Context) error
}

// Remove takes away what the session has made.
func Remove(ctx context.Context, s Session) error {
	if able, ok := s.(Remover); ok {
		return able.Remove(ctx)
	}
	return nil
}

// Dropper is the ability to tell what the client library threw away. Without it that is unknown, and a report says so.
type Dropper interface {
	// Dropped is how many messages the library itself threw away so far, also after Close. Any goroutine may call it.
	Dropped() int64
}

// Dropped is what the library threw away; nil: unknown.
func Dropped(s Session) *int64 {
	if able, ok := s.(Dropper); ok {
		n := able.Dropped()
		return &n
	}
	return nil
}

// Reconnecter is the ability to tell of connections that were lost. Without it their number is unknown, and a report says so.
type Reconnecter interface {
	// Reconnects is how often a connection was made anew so far, also after Close. Any goroutine may call it.
	Reconnects() int64
}

// Reconnects is how often a connection was made anew; nil: unknown.
func Reconnects(s Session) *int64 {
	if able, ok := s.(Reconnecter); ok {
		n := able.Reconnects()
		return &n
	}
	return nil
}

// LeaderFinder is the ability to say which node of a cluster leads a topic. Without it none does.
type LeaderFinder interface {
	// Leader asks the broker for the node that leads the topic (its first partition), by the name that the broker gives it:
	// "mqbench-2", "3". An error: it has none at the moment, or did not answer. Any goroutine may call it.
	Leader(ctx context.Context, topic string) (string, error)
}

// Leader is the node that leads the topic; "": this system has no leaders.
func Leader(ctx context.Context, s Session, topic string) (string, error) {
	if able, ok := s.(LeaderFinder); ok {
		return able.Leader(ctx, topic)
	}
	return "", nil
}

// Existing is the ability to use topics of the user's own. Without it a plan that asks for that is refused before the run.
type Existing interface {
	// UseExisting is called before Open where the topics are the user's own. Prepare then makes, changes and deletes nothing and
	// fails with MissingTopic where one is missing; Remove takes away only what consumers have made. Such a topic may hold messages,
	// and others may send to it: consumers start at its end, and nothing of it is ever trimmed or removed. run is a name to give to
	// what consumers make on it (groups, durable consumers, queues): the same in all clients of the run, and another in each run.
	UseExisting(run string) error
}

// UseExisting tells the session that the topics are the user's own.
func UseExisting(s Session, run string) error {
	if able, ok := s.(Existing); ok {
		return able.UseExisting(run)
	}
	return errors.New("this driver cannot use topics that exist already; leave create: false away")
}

// MissingTopic is the error of Prepare for a topic that was to exist; what is what was looked for: "no stream has this subject".
func MissingTopic(name, what string) error {
	return fmt.Errorf("topic %s does not exist (%s); make it, or leave create: false away", name, what)
}

// Shared is the ability to be one of several clients of a run, which share topics and groups. Without it a plan for several is
// refused before the run.
type Shared interface {
	// Share is called before Open where there are several clients: client is this one's number among them. Client 0 prepares the
	// topics and subscribes before the others, and leaves after them: what clients share (topics, groups) is its to remove. The
	// others find the topics there, as in UseExisting.
	Share(client, clients int) error
}

// Share tells the session that it is one of several clients.
func Share(s Session, client, clients int) error {
	if able, ok := s.(Shared); ok {
		return able.Share(client, clients)
	}
	return fmt.Errorf("this driver serves one client, and the run has %d; use one", clients)
}

// Part is what a session of the abilities Existing and Shared is told of its part in the run. Sessions embed it.
type Part struct {
	// Run, not empty where the topics are the user's own, is the name of what the run's consumers make on them.
	Run string
	// Client is this session's number among the Clients of the run; 0 of 0: there is no other.
	Client, Clients int
}

var (
	_ Existing = (*Part)(nil)
	_ Shared   = (*Part)(nil)
)

func (p *Part) UseExisting(run string) error {
	p.Run = run
	return nil
}

func (p *Part) Share(client, clients int) error {
	p.Client, p.Clients = client, clients
	return nil
}

// Named is the name of something that the clients of a run share, with the run's in front of it where the topics are the user's own: there
// other runs have theirs.
func (p *Part) Named(separator, name string) string {
	if p.Run == "" {
		return name
	}
	return p.Run + separator + name
}

// Found: the topics are not this session's to make, but the user's own or client 0's.
func (p *Part) Found() bool { return p.Run != "" || p.Client > 0 }
