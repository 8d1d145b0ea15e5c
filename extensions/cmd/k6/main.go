// Command k6 is k6 itself with mqbench's extensions linked in. As k6 is, the binary is under the AGPL-3.0.
package main

import (
	"go.k6.io/k6/v2/cmd"

	_ "github.com/mqbench/mqbench/extensions/xk6-mqbench"
)

func main() { cmd.Execute() }
