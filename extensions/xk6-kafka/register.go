package kafka

import (
	"go.k6.io/k6/v2/js/modules"

	"github.com/mqbench/mqbench/extensions/xk6-kafka/js"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func init() {
	broker.Register("kafka", New)
	modules.Register("k6/x/kafka", js.New())
}
