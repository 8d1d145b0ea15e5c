package generator

import (
	"runtime"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// Shards keep goroutines that record at the same time from waiting for each other: the pacer has one for itself; senders of a closed
// load, acknowledgements and receipts have one per connection, as far as the processors go.

func (g *Generator) sendShards() int {
	n := 1
	if g.closed {
		n = min(max(1, g.share.producing()), runtime.NumCPU())
	}
	return n
}

func (g *Generator) receiptShards() int {
	return min(max(g.share.producing(), g.share.consuming()), 2*runtime.NumCPU())
}

func (g *Generator) sends(producer int) *recorder.Shard {
	return g.recorder.Shard(g.share.connection(producer) % g.sendShards())
}

// acks are recorded in the shard of the connection's receipts, if there are any.
func (g *Generator) acks(producer int) *recorder.Shard {
	return g.receipts(g.share.connection(producer))
}

// receipts of a connection of the session.
func (g *Generator) receipts(connection int) *recorder.Shard {
	return g.recorder.Shard(g.sendShards() + connection%g.receiptShards())
}
