package broker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// Checker is implemented by options that can contradict each other. Check returns the contradiction.
type Checker interface{ Check() error }

// Decode reads the driver's own options into a struct that holds their defaults. Unknown fields are an error. It calls Check if there is one.
func (o Options) Decode(into any) error {
	if len(o.Driver) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(o.Driver))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil {
			return fmt.Errorf("driver options: %w", err)
		}
	}
	if options, ok := into.(Checker); ok {
		return options.Check()
	}
	return nil
}

// Choice is an option with a fixed list of values.
type Choice struct {
	Name, Value string
	Known       []string
}

// Choose refuses the first choice whose value is not in its list.
func Choose(choices ...Choice) error {
	for _, c := range choices {
		if !slices.Contains(c.Known, c.Value) {
			return fmt.Errorf("driver options: %s must be one of %s, got %q", c.Name, strings.Join(c.Known, ", "), c.Value)
		}
	}
	return nil
}

// Wrap adds what a driver was doing when it met err. nil stays nil, and "" adds nothing.
func Wrap(what string, err error) error {
	if err == nil || what == "" {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// LibraryVersion is the version of a module in this binary.
func LibraryVersion(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return dependency.Version
			}
		}
	}
	return "of an unknown version"
}
