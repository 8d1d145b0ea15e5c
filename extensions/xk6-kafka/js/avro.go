package js

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/grafana/sobek"
	"github.com/twmb/avro"
)

// toAvro writes a script's value. A union's value is written as in Avro's JSON, { "string": "text" }, or alone.
func (r *registry) toAvro(text string, data sobek.Value) ([]byte, error) {
	schema, err := r.avro(text)
	if err != nil {
		return nil, err
	}
	var value any
	if data != nil {
		value, err = avroValue(data.Export(), 0)
	}
	var bytes []byte
	if err == nil {
		bytes, err = schema.Encode(value)
	}
	var wrong *avro.SemanticError
	switch {
	case err == nil:
		return bytes, nil
	case !errors.As(err, &wrong):
		return nil, fmt.Errorf("data: %w", err)
	}
	at := strings.TrimSuffix("data."+wrong.Field, ".")
	if wrong.Err != nil {
		return nil, fmt.Errorf("%s: %w", at, wrong.Err)
	}
	return nil, fmt.Errorf("%s is not what the type %s takes", at, wrong.AvroType)
}

func (r *registry) fromAvro(text string, data []byte) (any, error) {
	schema, err := r.avro(text)
	if err != nil {
		return nil, err
	}
	var value any
	_, err = schema.Decode(data, &value, avro.TaggedUnions())
	return untagged(value), err
}

// --- internal ---

// avroTypes are where scripts differ from the library: bytes are also written as text and as numbers, and logical types come back as the
// numbers and bytes that serialize takes. (A type without Decode is read without its logical type.)
var avroTypes = []avro.SchemaOpt{
	avro.CustomType{AvroType: "bytes", Encode: avroBytes}, avro.CustomType{AvroType: "fixed", Encode: avroBytes},
	avro.CustomType{AvroType: "int"}, avro.CustomType{AvroType: "long"},
	avro.CustomType{AvroType: "record", Decode: asFields}, avro.CustomType{AvroType: "map", Decode: asFields},
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
			switch name {
			case "boolean", "int", "long", "float", "double", "bytes", "string":
				return one
			}
			value[name] = untagged(one)
		}
	}
	return value
}

// deepest is how deep a value may be nested; one that contains itself has no end.
const deepest = 500

// avroValue is a script's value as the library takes it: the type of a number in a union depends on its value. JSON would lose NaN and bytes.
func avroValue(of any, depth int) (_ any, err error) {
	if depth > deepest {
		return nil, fmt.Errorf("it is nested more than %d deep, or contains itself", deepest)
	}
	switch value := of.(type) {
	case int64, *big.Int:
		return json.Number(fmt.Sprint(value)), nil
	case float64:
		if !math.IsNaN(value) && !math.IsInf(value, 0) {
			return json.Number(strconv.FormatFloat(value, 'g', -1, 64)), nil
		}
	case sobek.ArrayBuffer:
		return value.Bytes(), nil
	case []any:
		all := make([]any, len(value))
		for at := 0; at < len(all) && err == nil; at++ {
			all[at], err = avroValue(value[at], depth+1)
		}
		return all, err
	case map[string]any:
		all := map[string]any{}
		for name, one := range value {
			if all[name], err = avroValue(one, depth+1); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return of, nil
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
		return bytes, nil
	case []any:
		for _, one := range value {
			number, err := strconv.ParseUint(fmt.Sprint(one), 10, 8)
			if err != nil {
				return nil, avro.ErrSkipCustomType // it may be another type of a union
			}
			bytes = append(bytes, byte(number))
		}
		return bytes, nil
	case json.Number:
		if schema.LogicalType == "decimal" {
			return avroLogical(value, schema)
		}
	}
	return nil, avro.ErrSkipCustomType
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
