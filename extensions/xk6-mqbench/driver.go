package mqbench

import "go.k6.io/k6/v2/js/modules"

// driverKey is the property by which load recognizes a driver.
const driverKey = "mqbenchDriver"

// driverModule is k6/x/mqbench/<name>: its default export names the driver.
type driverModule struct{ name string }

type driverInstance struct {
	name string
	vu   modules.VU
}

func (d driverModule) NewModuleInstance(vu modules.VU) modules.Instance {
	return &driverInstance{name: d.name, vu: vu}
}

func (d *driverInstance) Exports() modules.Exports {
	driver := d.vu.Runtime().NewObject()
	if err := driver.Set(driverKey, d.name); err != nil {
		panic(err) // a plain object takes any property
	}
	return modules.Exports{Default: driver}
}
