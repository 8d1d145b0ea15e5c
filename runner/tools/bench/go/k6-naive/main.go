//go:build unix

// Command k6-naive is k6 with the other way of making load: one iteration per message. It exists for `npm run bench`
// alone, which sets it beside mqbench's own; it is not built for users.
package main

import (
	"go.k6.io/k6/v2/cmd"
	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/output"

	_ "github.com/mqbench/mqbench/extensions/xk6-nats"
	_ "github.com/mqbench/mqbench/extensions/xk6-noop"
)

func main() {
	modules.Register("k6/x/naive", &module{})
	output.RegisterExtension("naive", newOutput)
	cmd.Execute()
}
