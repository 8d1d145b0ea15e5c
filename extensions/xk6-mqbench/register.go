package mqbench

import (
	"runtime/debug"

	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/output"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func init() {
	root := &rootModule{}
	modules.Register("k6/x/mqbench", root)
	output.RegisterExtension("mqbench", root.newOutput)
	broker.OnRegister(func(name string) { modules.Register("k6/x/mqbench/"+name, driverModule(name)) })
}

// k6Version is the version of the k6 that this binary was built from.
func k6Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "go.k6.io/k6/v2" {
				return dep.Version
			}
		}
	}
	return "unknown"
}
