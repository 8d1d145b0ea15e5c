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

// Options reads an object into a struct. Like the public modules it ignores unknown properties; their names are printed once.
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

// Ignores warns, once in a test, of unknown options.
func (t *Test) Ignores(vu modules.VU, what string, names []string) {
	if len(names) == 0 {
		return
	}
	said := fmt.Sprintf("%s: unknown options are ignored: %s", what, strings.Join(names, ", "))
	if _, before := t.ignored.LoadOrStore(said, true); !before {
		Logger(vu).Warn(said)
	}
}

// Others are the names of an object's unknown properties.
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

// Bytes are the bytes of a string (as UTF-8), an ArrayBuffer, a view of one, or an array of numbers; what is its name in the error.
func Bytes(rt *sobek.Runtime, what string, v sobek.Value) ([]byte, error) {
	if v == nil || sobek.IsUndefined(v) || sobek.IsNull(v) {
		return nil, nil
	}
	switch is := v.Export().(type) {
	case string:
		return []byte(is), nil
	case []any:
		bytes := make([]byte, len(is))
		for at, one := range is {
			number, whole := one.(int64)
			if !whole || number < 0 || number > 255 {
				return nil, fmt.Errorf("%s must be bytes: number %d of its array is %v", what, at, one)
			}
			bytes[at] = byte(number)
		}
		return bytes, nil
	}
	var bytes []byte
	if object, is := v.(*sobek.Object); is {
		if err := rt.ExportTo(object, &bytes); err == nil {
			return slices.Clone(bytes), nil
		}
	}
	return nil, fmt.Errorf("%s must be a text, an ArrayBuffer, a Uint8Array or an array of numbers, got %s", what, v.String())
}

// Uint8Array is a script's value for bytes.
func Uint8Array(rt *sobek.Runtime, bytes []byte) sobek.Value {
	array, err := rt.New(rt.Get("Uint8Array"), rt.ToValue(rt.NewArrayBuffer(bytes)))
	if err != nil {
		panic(err) // the language's own constructor takes a buffer
	}
	return array
}

// Texts are the properties of an object, each as text; null and undefined have none.
func Texts(v sobek.Value) map[string]string {
	object, is := v.(*sobek.Object)
	if !is {
		return nil
	}
	texts := map[string]string{}
	for _, name := range object.Keys() {
		texts[name] = object.Get(name).String()
	}
	return texts
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
		_ = json.Unmarshal(text, &all) // another type is the caller's error
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
