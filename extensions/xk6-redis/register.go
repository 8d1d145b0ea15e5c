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

// silence: the library's messages would appear in the middle of a report; the same errors reach us anyway.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}
