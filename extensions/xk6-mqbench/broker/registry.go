package broker

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

var registry struct {
	sync.Mutex
	drivers   map[string]Driver
	observers []func(name string)
}

// Register makes a driver known under the broker's name (the word in a scenario). The init function of a driver's register.go calls it.
// It panics on a name that is taken, so that the mistake shows at the start and not at first use.
func Register(name string, driver Driver) {
	registry.Lock()
	if _, taken := registry.drivers[name]; taken {
		registry.Unlock()
		panic(fmt.Sprintf("broker: driver %q is registered twice", name))
	}
	if registry.drivers == nil {
		registry.drivers = map[string]Driver{}
	}
	registry.drivers[name] = driver
	observers := slices.Clone(registry.observers)
	registry.Unlock()
	for _, observe := range observers {
		observe(name)
	}
}

// Lookup returns the driver of a name.
func Lookup(name string) (Driver, error) {
	registry.Lock()
	defer registry.Unlock()
	driver, ok := registry.drivers[name]
	if !ok {
		return nil, fmt.Errorf("broker: this binary has no driver %q; it has %v", name, namesLocked())
	}
	return driver, nil
}

// OnRegister calls observe for every driver, whether it is registered already or later, so that the order in which packages are linked
// does not matter.
func OnRegister(observe func(name string)) {
	registry.Lock()
	registry.observers = append(registry.observers, observe)
	known := namesLocked()
	registry.Unlock()
	for _, name := range known {
		observe(name)
	}
}

// --- internal ---

func namesLocked() []string { return slices.Sorted(maps.Keys(registry.drivers)) }
