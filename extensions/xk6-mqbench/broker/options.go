package broker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// Checker is what options are that may contradict themselves; Check says how.
type Checker interface{ Check() error }

// Decode reads the driver's own options into a struct that holds their defaults; unknown ones are an error. A Checker is then checked.
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

// Choice is an option that takes one of some words.
type Choice struct {
	Name, Value string
	Known       []string
}

// Choose refuses the first choice whose value is none of the known ones.
func Choose(choices ...Choice) error {
	for _, c := range choices {
		if !slices.Contains(c.Known, c.Value) {
			return fmt.Errorf("driver options: %s %q is none of %s", c.Name, c.Value, strings.Join(c.Known, ", "))
		}
	}
	return nil
}

// Wrap says what a driver was about when it met err; nil stays nil, and "" adds nothing.
func Wrap(what string, err error) error {
	if err == nil || what == "" {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// LibraryVersion is the version of a module that is linked into this binary.
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
