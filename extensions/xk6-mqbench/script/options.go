package script

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/grafana/sobek"
	"github.com/sirupsen/logrus"
	"go.k6.io/k6/v2/js/modules"
)

// Options reads an object into a struct. Properties that it does not have are ignored, as the public modules do; what they are is said once.
func (t *Test) Options(vu modules.VU, what string, from *sobek.Object, into any) error {
	text, err := JSON(from)
	if err != nil {
		return err
	}
	return t.Read(vu, what, text, into)
}

// Read is Options of an object that is JSON already.
func (t *Test) Read(vu modules.VU, what string, text []byte, into any) error {
	t.Ignores(vu, what, others(reflect.TypeOf(into), text, ""))
	err := json.Unmarshal(text, into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s cannot be a %s", cmp.Or(wrong.Field, "it"), wrong.Value)
	}
	return err
}

// Ignores warns, once in a test, of options that are not known.
func (t *Test) Ignores(vu modules.VU, what string, names []string) {
	if len(names) == 0 {
		return
	}
	said := fmt.Sprintf("%s: unknown options are ignored: %s", what, strings.Join(names, ", "))
	if _, before := t.ignored.LoadOrStore(said, true); !before {
		Logger(vu).Warn(said)
	}
}

// Others are the names of an object's properties that are not known.
func Others(of *sobek.Object, known ...string) []string {
	names := slices.DeleteFunc(of.Keys(), func(name string) bool { return slices.Contains(known, name) })
	slices.Sort(names)
	return names
}

// JSON is a value as JSON; where it has no such form the error is the language's.
func JSON(v sobek.Value) ([]byte, error) {
	object, is := v.(*sobek.Object)
	if !is {
		if v == nil || sobek.IsNaN(v) || sobek.IsInfinity(v) {
			return []byte("null"), nil
		}
		return json.Marshal(v.Export())
	}
	text, err := object.MarshalJSON()
	var thrown *sobek.Exception
	if errors.As(err, &thrown) {
		err = errors.New(thrown.Value().String())
	}
	return text, err
}

// Logger is the VU's, in the init context and later.
func Logger(vu modules.VU) logrus.FieldLogger {
	if state := vu.State(); state != nil {
		return state.Logger
	}
	return vu.InitEnv().Logger
}

// --- internal ---

var readsItself = reflect.TypeFor[json.Unmarshaler]()

// others are the properties that a type does not have, within at.
func others(of reflect.Type, text json.RawMessage, at string) (names []string) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case reflect.PointerTo(of).Implements(readsItself):
	case of.Kind() == reflect.Slice:
		var all []json.RawMessage
		_ = json.Unmarshal(text, &all) // what it cannot be is the caller's error
		for _, one := range all {
			names = append(names, others(of.Elem(), one, at)...)
		}
	case of.Kind() == reflect.Struct:
		var given map[string]json.RawMessage
		_ = json.Unmarshal(text, &given)
		fields := reflect.VisibleFields(of)
		for name, value := range given {
			known := slices.IndexFunc(fields, func(f reflect.StructField) bool {
				tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				return strings.EqualFold(tag, name)
			})
			if known < 0 {
				names = append(names, at+name)
			} else {
				names = append(names, others(fields[known].Type, value, at+name+".")...)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
