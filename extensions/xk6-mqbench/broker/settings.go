package broker

import "fmt"

// Settings are options of a client library, each with the text that Describe prints for it, so that the report shows exactly what was
// set. Its zero value is empty.
type Settings[Option any] struct {
	Options []Option
	// Printed is for Description.Settings.
	Printed map[string]string
}

// Set adds options, and prints value under name; with "" it prints nothing. Without options it only prints. A name that was printed
// before gets the new value.
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
