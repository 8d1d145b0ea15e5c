package broker

import "fmt"

// Settings are options of a client library, each with what Describe prints of it: what is set is printed, and what is printed is set. Its
// zero value has none.
type Settings[Option any] struct {
	Options []Option
	// Printed is for Description.Settings.
	Printed map[string]string
}

// Set adds options, and prints value under a name; "": it prints nothing. Without options it only prints. A name that was printed before
// has the new value.
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
