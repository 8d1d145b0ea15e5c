package js

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/grafana/sobek"
	"github.com/twmb/avro"
)

// avroFormat is a value of an Avro schema. A union's value is written as in Avro's JSON, { "string": "text" }, or alone.
type avroFormat struct{ schema *avro.Schema }

func newAvro(text string) (format, error) {
	if text == "" {
		return nil, fmt.Errorf("SCHEMA_TYPE_AVRO needs a schema: { schema: '{\"type\": \"record\", ...}' }")
	}
	parsed, err := avro.Parse(text, avroTypes...)
	if err != nil {
		return nil, fmt.Errorf("the Avro schema: %w", err)
	}
	return avroFormat{parsed}, nil
}

func (f avroFormat) serialize(_ *sobek.Runtime, data sobek.Value) ([]byte, error) {
	value, err := avroValue(data, 0)
	var bytes []byte
	if err == nil {
		bytes, err = f.schema.Encode(value)
	}
	return bytes, avroSentence(err)
}

func (f avroFormat) deserialize(data []byte) (any, error) {
	var value any
	_, err := f.schema.Decode(data, &value, avro.TaggedUnions())
	return untagged(value), err
}

func (f avroFormat) name() string {
	root := f.schema.Root()
	// A name with dots has its namespace in it.
	if root.Namespace != "" && !strings.Contains(root.Name, ".") {
		return root.Namespace + "." + root.Name
	}
	return root.Name
}

func (avroFormat) index() []int { return nil }

// --- internal ---

// avroTypes are where scripts differ from the library: bytes are also written as text and as numbers, and logical types come back as the
// numbers and bytes that serialize takes. (A type without Decode is read without its logical type.)
var avroTypes = []avro.SchemaOpt{
	avro.CustomType{AvroType: "bytes", Encode: avroBytes},
	avro.CustomType{AvroType: "fixed", Encode: avroBytes},
	avro.CustomType{AvroType: "int"},
	avro.CustomType{AvroType: "long"},
	avro.CustomType{AvroType: "record", Decode: asFields},
	avro.CustomType{AvroType: "map", Decode: asFields},
}

// fields are those of a record, or of a map. A plain map[string]any is then the name of a union's type, and its value.
type fields map[string]any

func asFields(value any, _ *avro.SchemaNode) (any, error) { return fields(value.(map[string]any)), nil }

// untagged is a value as scripts of the public module get it: that of a union has the name of its type only where that is not a primitive one.
func untagged(value any) any {
	switch value := value.(type) {
	case fields:
		for name, one := range value {
			value[name] = untagged(one)
		}
		return map[string]any(value)
	case []any:
		for at, one := range value {
			value[at] = untagged(one)
		}
	case map[string]any:
		for name, one := range value {
			if primitive[name] {
				return one
			}
			value[name] = untagged(one)
		}
	}
	return value
}

var primitive = map[string]bool{"boolean": true, "int": true, "long": true, "float": true, "double": true, "bytes": true, "string": true}

// deepest is how deep a value may be nested; one that contains itself has no end.
const deepest = 500

// avroValue is a script's value as the library takes it. JSON would lose NaN and bytes.
func avroValue(of sobek.Value, depth int) (any, error) {
	if of == nil || sobek.IsUndefined(of) || sobek.IsNull(of) {
		return nil, nil
	}
	if depth > deepest {
		return nil, fmt.Errorf("it is nested more than %d deep, or contains itself", deepest)
	}
	object, is := of.(*sobek.Object)
	if !is {
		switch value := of.Export().(type) {
		case int64:
			return json.Number(strconv.FormatInt(value, 10)), nil
		case float64:
			if math.IsNaN(value) || math.IsInf(value, 0) {
				return value, nil
			}
			// A number's union type depends on its value; for a float64 the library would take double.
			return json.Number(strconv.FormatFloat(value, 'g', -1, 64)), nil
		case *big.Int:
			return json.Number(value.String()), nil
		case string, bool:
			return value, nil
		}
		return nil, fmt.Errorf("%s cannot be written", of)
	}
	switch object.ExportType() {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[[]byte]():
		return object.Export(), nil
	case reflect.TypeFor[sobek.ArrayBuffer]():
		return object.Export().(sobek.ArrayBuffer).Bytes(), nil
	}
	if object.ClassName() == "Array" {
		all := make([]any, object.Get("length").ToInteger())
		for at := range all {
			var err error
			if all[at], err = avroValue(object.Get(strconv.Itoa(at)), depth+1); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	all := map[string]any{}
	for _, name := range object.Keys() {
		one := object.Get(name)
		if sobek.IsUndefined(one) {
			continue // as in JSON: the field's default is taken
		}
		var err error
		if all[name], err = avroValue(one, depth+1); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// avroBytes are bytes and fixed: text has a character for each byte, as in Avro's JSON. The number of a decimal and the text of a UUID are for
// the library.
func avroBytes(value any, schema *avro.SchemaNode) (any, error) {
	var bytes []byte
	switch value := value.(type) {
	case string:
		if schema.LogicalType == "uuid" && len(value) != schema.Size {
			return avroLogical(value, schema)
		}
		for _, one := range value {
			if one > math.MaxUint8 {
				return nil, fmt.Errorf("text for %s has one character for each byte, up to \\u00ff, got %q", schema.Type, one)
			}
			bytes = append(bytes, byte(one))
		}
	case []any:
		for _, one := range value {
			number, err := strconv.ParseUint(fmt.Sprint(one), 10, 8)
			if err != nil {
				return nil, avro.ErrSkipCustomType // it may be another type of a union
			}
			bytes = append(bytes, byte(number))
		}
	case json.Number:
		if schema.LogicalType == "decimal" {
			return avroLogical(value, schema)
		}
		return nil, avro.ErrSkipCustomType
	default:
		return nil, avro.ErrSkipCustomType
	}
	return bytes, nil
}

// avroLogical are the bytes that the library itself writes for a value.
func avroLogical(value any, schema *avro.SchemaNode) ([]byte, error) {
	own, err := schema.Schema()
	if err != nil {
		return nil, err
	}
	written, err := own.Encode(value)
	if err != nil || schema.Type == "fixed" {
		return written, err
	}
	var bytes []byte
	_, err = avro.MustParse(`"bytes"`).Decode(written, &bytes)
	return bytes, err
}

// avroSentence says where a value does not fit, and why.
func avroSentence(err error) error {
	var wrong *avro.SemanticError
	if err == nil {
		return nil
	} else if !errors.As(err, &wrong) {
		return fmt.Errorf("data: %w", err)
	}
	at := "data"
	if wrong.Field != "" {
		at += "." + wrong.Field
	}
	if wrong.Err == nil {
		return fmt.Errorf("%s must be of type %s, got %s", at, wrong.AvroType, scriptType(wrong.GoType))
	}
	switch why := wrong.Err.Error(); {
	case why == "missing key":
		return fmt.Errorf("%s is missing", at)
	case strings.HasPrefix(why, "no matching branch"):
		return fmt.Errorf("%s fits no type of the union", at)
	case strings.Contains(why, "nil"):
		return fmt.Errorf("%s cannot be null", at)
	}
	return fmt.Errorf("%s: %w", at, wrong.Err)
}

// scriptType is what a script calls a type of avroValue.
func scriptType(of reflect.Type) string {
	switch of {
	case reflect.TypeFor[json.Number](), reflect.TypeFor[float64]():
		return "a number"
	case reflect.TypeFor[string]():
		return "text"
	case reflect.TypeFor[bool]():
		return "a boolean"
	case reflect.TypeFor[time.Time]():
		return "a Date"
	case reflect.TypeFor[[]byte]():
		return "other bytes"
	case reflect.TypeFor[[]any]():
		return "an array"
	}
	return "an object"
}
