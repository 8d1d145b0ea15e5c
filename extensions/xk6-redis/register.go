package redis

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func init() {
	broker.Register("redis", New)
	redis.SetLogger(silence{})
}

// silence: what the library would print in the middle of a report comes as errors too.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}
