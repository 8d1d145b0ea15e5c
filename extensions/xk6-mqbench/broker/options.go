package broker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// Defaults reads a driver's defaults.json, the only place for values of options that are not given; the runner reads it too. It panics if it is wrong.
func Defaults[Own any](text []byte) (own Own) {
	if err := (Options{Driver: text}).Decode(&own); err != nil {
		panic(err)
	}
	return own
}

// Decode reads the driver's own options into a struct that holds their defaults. Unknown fields are an error, and so is a string that is
// not one of the words of its field's tag: known:"queue topic". The runner has checked ranges and contradictions.
func (o Options) Decode(into any) error {
	if len(o.Driver) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(o.Driver))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil {
			return fmt.Errorf("driver options: %w", err)
		}
	}
	own := reflect.ValueOf(into).Elem()
	for _, field := range reflect.VisibleFields(own.Type()) {
		words := strings.Fields(field.Tag.Get("known"))
		if got := own.FieldByIndex(field.Index).String(); len(words) > 0 && got != "" && !slices.Contains(words, got) {
			return fmt.Errorf("driver options: %s must be one of %s, got %q", field.Tag.Get("json"), strings.Join(words, ", "), got)
		}
	}
	return nil
}

// Wrap adds the driver's operation (what) to err. nil stays nil, and "" adds nothing.
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

// Settings are options of a client library, each with the text that Describe prints for it. Its zero value is empty.
type Settings[Option any] struct {
	Options []Option
	// Printed is for Description.Settings.
	Printed map[string]string
}

// Set adds options, if any, and prints value under name in place of an earlier one; with "" it prints nothing.
func (s *Settings[Option]) Set(name string, value any, options ...Option) {
	s.Options = append(s.Options, options...)
	if name == "" {
		return
	}
	if s.Printed == nil {
		s.Printed = map[string]string{}
	}
	s.Printed[name] = fmt.Sprint(value)
}

// Print prints values under their names.
func (s *Settings[Option]) Print(values map[string]any) {
	for name, value := range values {
		s.Set(name, value)
	}
}

var drivers sync.Map

// registered is called for each of them.
var registered = func(name string) {}

// Register adds a driver under the broker's name (the word in a scenario); it panics on a name that is taken. register.go's init calls it.
func Register(name string, driver Driver) {
	if _, taken := drivers.LoadOrStore(name, driver); taken {
		panic(fmt.Sprintf("broker: driver %q is registered twice", name))
	}
	registered(name)
}

// Lookup returns the driver of a name.
func Lookup(name string) (Driver, error) {
	driver, ok := drivers.Load(name)
	if !ok {
		return nil, fmt.Errorf("broker: this binary has no driver %q; it has %v", name, names())
	}
	return driver.(Driver), nil
}

// OnRegister calls observe for every driver, registered already or later: packages are linked in any order. One init function calls it.
func OnRegister(observe func(name string)) {
	registered = observe
	for _, name := range names() {
		observe(name)
	}
}

// When a consumer acknowledges the messages it has handled: values of the option `acknowledge` of drivers.
const (
	// Automatic means never. The broker regards messages as handled when it hands them out.
	Automatic  = "automatic"
	PerMessage = "message"
	// PerBatch acknowledges the messages that arrived together.
	PerBatch = "batch"
	// PerInterval acknowledges at the latest after AcknowledgeInterval.
	PerInterval = "interval"
)

// AcknowledgeInterval is the longest time that a handled message waits for its acknowledgement with PerInterval.
const AcknowledgeInterval = 100 * time.Millisecond

// AcknowledgeOf is when the consumers of a subscription acknowledge, if the option is `written`. With "" they acknowledge each message in a
// group, the same duty for all systems, and none if a consumer gets all messages.
func AcknowledgeOf(written, group string) string {
	switch {
	case written != "":
		return written
	case group != "":
		return PerMessage
	}
	return Automatic
}

// --- internal ---

func names() (all []string) {
	for name := range drivers.Range {
		all = append(all, name.(string))
	}
	slices.Sort(all)
	return all
}
