package redis

import (
	"github.com/redis/go-redis/v9/logging"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func init() {
	broker.Register("redis", New)
	logging.Disable() // its messages would appear in the middle of a report; the same errors reach us anyway
}
