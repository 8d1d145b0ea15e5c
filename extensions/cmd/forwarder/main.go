// Command forwarder takes the place of a broker between sockets of a system that needs none.
package main

import (
	"fmt"
	"os"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokerless"
	"github.com/mqbench/mqbench/extensions/xk6-nanomsg"
	"github.com/mqbench/mqbench/extensions/xk6-zeromq"
)

func main() {
	libraries := map[string]brokerless.Library{"nanomsg": nanomsg.Library{}, "zeromq": zeromq.Library{}}
	if err := brokerless.Main(libraries, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "forwarder:", err)
		os.Exit(1)
	}
}
