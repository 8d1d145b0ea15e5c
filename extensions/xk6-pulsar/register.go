package pulsar

import "github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"

func init() { broker.Register("pulsar", New) }
