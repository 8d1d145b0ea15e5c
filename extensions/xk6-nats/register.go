package nats

import (
	"go.k6.io/k6/v2/js/modules"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-nats/js"
)

func init() {
	broker.Register("nats", New)
	modules.Register("k6/x/nats", js.New())
}
