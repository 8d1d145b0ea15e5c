package mqbench

import (
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
