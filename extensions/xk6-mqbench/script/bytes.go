package script

import (
	"fmt"
	"slices"

	"github.com/grafana/sobek"
)

// Bytes are those of a text (as UTF-8), an ArrayBuffer, a view of one, or an array of numbers; what names it in the error.
func Bytes(rt *sobek.Runtime, what string, v sobek.Value) ([]byte, error) {
	if v == nil || sobek.IsUndefined(v) || sobek.IsNull(v) {
		return nil, nil
	}
	switch is := v.Export().(type) {
	case string:
		return []byte(is), nil
	case sobek.ArrayBuffer:
		return slices.Clone(is.Bytes()), nil
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

// Uint8Array is what a script gets for bytes.
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
