// Command k6 is k6 itself with mqbench's extensions linked in. As k6 is, the binary is under the AGPL-3.0.
package main

import (
	"go.k6.io/k6/v2/cmd"

	_ "github.com/mqbench/mqbench/extensions/xk6-kafka"
	_ "github.com/mqbench/mqbench/extensions/xk6-mqbench"
	_ "github.com/mqbench/mqbench/extensions/xk6-nats"
	_ "github.com/mqbench/mqbench/extensions/xk6-noop"
	_ "github.com/mqbench/mqbench/extensions/xk6-rabbitmq"
	_ "github.com/mqbench/mqbench/extensions/xk6-redis"
)

func main() { cmd.Execute() }
