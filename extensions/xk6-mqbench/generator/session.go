package generator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// open makes connections, topics and subscriptions, and gets the pacer ready.
func (g *Generator) open(ctx context.Context) error {
	if err := g.enoughFiles(); err != nil {
		return err
	}
	if err := g.session.Open(ctx); err != nil {
		return err
	}
	g.facts = g.session.Describe()
	if g.opener != nil {
		g.facts.Acks = true // the server's answer to a login is one
	}
	if err := g.agree(); err != nil {
		return err
	}
	if g.facts.Order == "per-producer" && g.plan.showsOrder(g.facts.GroupOrder) {
		g.books.WatchOrder(g.streams)
	}
	subscriptions := g.subscriptions()
	layout := broker.Layout{Topics: g.plan.allTopics()}
	for _, one := range subscriptions {
		layout.Subscriptions = append(layout.Subscriptions, one.Subscription)
		if m := one.Client - g.share.count; m >= 0 && m%g.share.count == g.share.index {
			g.members.own[m] = append(g.members.own[m], one)
		}
	}
	g.members.layout = layout
	g.members.changes = slices.DeleteFunc(g.members.changes, func(c change) bool { return c.Member%g.share.count != g.share.index })
	g.prepared = true
	if err := g.session.Prepare(ctx, layout); err != nil {
		return err
	}
	g.makeSenders()
	if err := g.makeRepliers(); err != nil {
		return err
	}
	// Consumers first: without a consumer a system may take a topic for a queue that stores. Several at once: each waits for the broker.
	own := slices.DeleteFunc(subscriptions, func(s subscription) bool { return s.Client != g.share.index })
	if g.plan.Pattern == catchUp {
		g.catching.subscriptions, own = own, nil
	}
	if err := deadline.Each(ctx, own, g.consume); err != nil {
		return err
	}
	if err := deadline.Each(ctx, slices.Collect(maps.Keys(g.members.own)), func(ctx context.Context, m int) error {
		if m >= g.plan.Consumers {
			return nil // it joins later
		}
		return g.enter(ctx, m)
	}); err != nil {
		return err
	}
	if err := g.makeProducers(); err != nil {
		return err
	}
	// Only now has the driver set its consumers' options.
	g.facts.Settings = g.plan.applying(g.session.Describe().Settings)
	if g.closed {
		return nil
	}
	ready := make(chan struct{})
	go g.run(ready)
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("calibrate the pacer: %w", ctx.Err())
	}
}

func (g *Generator) consume(ctx context.Context, one subscription) error {
	return g.session.Consume(ctx, one.Subscription, one.handle)
}

// ownFiles is how many files k6 has open besides its connections.
const ownFiles = 32

// enoughFiles refuses more connections than this process may have, before the first one: each library has other words for it, and at another
// moment. Some need several sockets for a connection, so those may still run out.
func (g *Generator) enoughFiles() error {
	connections, fewer := int64(g.share.producing()+g.share.consuming()), "fewer connections"
	if g.opener != nil {
		most := g.opener.most()
		if ports := portRange() * int64(strings.Count(g.url, ",")+1); most > ports { // each connection to an address needs one
			return fmt.Errorf("%d connections need as many ports, and this machine has %d for this server (net.ipv4.ip_local_port_range); widen that range, "+
				"use a smaller hold or inFlight, or more clients", most, ports)
		}
		connections, fewer = connections+most, "a smaller hold or inFlight"
	}
	if limit := fileLimit(); limit < connections+ownFiles {
		return fmt.Errorf("%d connections need at least %d open files, and this machine allows %d (ulimit -H -n); raise that limit, or use %s",
			connections, connections+ownFiles, limit, fewer)
	}
	return nil
}

func (g *Generator) agree() error {
	switch f := g.facts; {
	case f.Acks && !g.plan.Acks:
		return errors.New("the driver says that sends are acknowledged, the plan says they are not")
	case !f.Acks && g.plan.Acks:
		return errors.New("the plan says that sends are acknowledged, the driver says they are not")
	case g.opener != nil && g.opener.dialer == nil:
		return errors.New("this system's driver cannot open connections during a run")
	case g.plan.Wildcard && !f.Wildcards:
		return errors.New("this system has no subscriptions by a pattern")
	case g.plan.Pattern == catchUp && !g.facts.Replays:
		return errors.New("a catch-up needs a system whose topics can be read from their beginning, this one's cannot")
	case g.plan.Pattern == backlog && !f.Stores && !f.Inline:
		return errors.New("a backlog needs a system that stores messages, this one does not")
	}
	return nil
}

// makeSenders makes senders without their driver's side: handlers need them from the first delivery on.
func (g *Generator) makeSenders() {
	g.connections = make([]connection, g.share.producing())
	for c := range g.connections {
		g.connections[c].guarded = !g.closed && (g.plan.InFlight > 0 || len(g.connections) > 1) || g.plan.Producers > g.plan.Connections
	}
	g.byProducer = make([]*sender, g.plan.Producers)
	for _, p := range g.share.own {
		s := newSender(g, int(p), &g.connections[g.share.connection(int(p))])
		g.byProducer[p] = s
		g.senders = append(g.senders, s)
	}
}

func (g *Generator) makeProducers() (err error) {
	outs := make([]broker.Producer, len(g.connections))
	for c := range outs {
		if g.opener != nil {
			outs[c] = &opening{g.opener, g.receive(c, 0)}
		} else if outs[c], err = g.session.Producer(c); err != nil {
			return err
		}
	}
	for _, s := range g.senders {
		s.out = outs[g.share.connection(int(s.producer))]
	}
	return nil
}

// leave removes this run's objects from the broker and closes the connections, both in bounded time.
func (g *Generator) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), g.plan.leaveTimeout())
	defer cancel()
	if g.opener != nil {
		g.bounded("close connections", g.opener.close)
	}
	end := func(one broker.Session, made bool) {
		if made {
			g.bounded("remove", func() error { return broker.Remove(ctx, one) })
		}
		g.bounded("close", one.Close)
	}
	for _, one := range g.members.present {
		end(one.session, one.made.Load())
	}
	end(g.session, g.prepared)
}

func (g *Generator) bounded(what string, step func() error) {
	ctx, cancel := context.WithTimeout(context.Background(), g.plan.leaveTimeout()+settlePoll)
	defer cancel()
	if err := deadline.While(ctx, step); err != nil {
		g.errors.Note(fmt.Errorf("%s: %w", what, err))
	}
}

func (p *Plan) options(url string, now func() int64, onError func(error)) broker.Options {
	share := p.share()
	o := broker.Options{
		URL:          url,
		Listen:       p.Listen,
		Part:         broker.Part{Client: p.Client.Index, Clients: p.Client.Count},
		Driver:       p.DriverOptions,
		Connections:  share.producing() + share.part(p.ConsumerConnections-p.Consumers+share.residents, share.index),
		MessageBytes: p.Message.Bytes,
		MeanBytes:    p.Message.Bytes,
		// The scenario's timeout only classifies: late messages are recorded with their true time until the end of the drain.
		TimeoutNs: p.DrainNs,
		Now:       now,
		OnError:   onError,
		// A connection has at most this many producers.
		InFlight:   p.InFlight * int64((p.Producers+p.Connections-1)/p.Connections),
		LimitBytes: p.Message.LimitBytes,
		Durability: p.DurabilityLevel,
		Replicas:   p.Replicas,
	}
	if p.Message.Sizes != nil {
		o.MeanBytes = p.Message.Sizes.MeanBytes
	}
	if p.Pattern == catchUp { // to the driver, one more client of the load that has made the topics
		o.Client, o.Clients = 1, 2
	}
	if !p.Create {
		o.Run = fmt.Sprintf("mqbench-%s-%d", p.RunID, p.Index)
	}
	return o
}

// applying are the settings, except for settings about consumers that the pattern does not have.
func (p *Plan) applying(settings map[string]string) map[string]string {
	applying := maps.Clone(settings)
	switch p.Pattern {
	case connect:
		delete(applying, "acknowledgeInGroup")
		applying["dialled"] = "as the others, within the timeout, with small buffers if the library lets, and never replaced"
	case roundTrip, fanOut, catchUp:
		delete(applying, "acknowledgeInGroup")
	case workQueue, backlog:
		delete(applying, "acknowledgeAlone")
	case publish:
		for _, name := range []string{"acknowledgeAlone", "acknowledgeInGroup", "prefetch"} {
			delete(applying, name)
		}
	}
	return applying
}
