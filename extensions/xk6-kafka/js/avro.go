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

// toAvro writes a script's value. A union's value is written as in Avro's JSON, { "string": "text" }, or without the type.
func (r *registry) toAvro(text string, data sobek.Value) ([]byte, error) {
	schema, err := r.avro(text)
	if err != nil {
		return nil, err
	}
	var value any
	if data != nil {
		value = data.Export()
	}
	bytes, err := schema.Encode(value)
	var wrong *avro.SemanticError
	switch {
	case err == nil:
		return bytes, nil
	case !errors.As(err, &wrong):
		return nil, fmt.Errorf("data: %w", err)
	}
	at := strings.TrimSuffix("data."+wrong.Field, ".")
	if len(at) > longestPath {
		at = at[:longestPath] + "..." // a value that contains itself
	}
	if wrong.Err != nil {
		return nil, fmt.Errorf("%s: %w", at, wrong.Err)
	}
	return nil, fmt.Errorf("%s is not what the type %s takes", at, wrong.AvroType)
}

func (r *registry) fromAvro(text string, data []byte) (value any, _ error) {
	schema, err := r.avro(text)
	if err != nil {
		return nil, err
	}
	_, err = schema.Decode(data, &value, avro.TaggedUnions())
	return value, err
}

// --- internal ---

const longestPath = 100

// avroTypes are where scripts differ from the library. A type without Decode is read without its logical type: dates come back as the numbers
// and bytes that serialize takes.
var avroTypes = []avro.SchemaOpt{
	avro.CustomType{Encode: avroValue}, avro.CustomType{AvroType: "union", Decode: untagged},
	avro.CustomType{AvroType: "int"}, avro.CustomType{AvroType: "long"}, avro.CustomType{AvroType: "bytes"}, avro.CustomType{AvroType: "fixed"},
}

// untagged is a union's value as scripts of the public module get it: with the name of its type only where that is not a primitive one.
func untagged(value any, _ *avro.SchemaNode) (any, error) {
	tagged, _ := value.(map[string]any)
	for name, one := range tagged {
		switch name {
		case "boolean", "int", "long", "float", "double", "bytes", "string":
			return one, nil
		}
	}
	return value, nil
}

// avroValue is a script's value in the library's form: a number's type in a union depends on its value, and bytes are also written as
// numbers and, like in Avro's JSON, as a string with a character for each.
func avroValue(of any, schema *avro.SchemaNode) (any, error) {
	raw := schema.Type == "bytes" || schema.Type == "fixed"
	switch value := of.(type) {
	case int64:
		return json.Number(strconv.FormatInt(value, 10)), nil
	case big.Int: // the library has followed the pointer
		return json.Number(value.String()), nil
	case float64:
		if !math.IsNaN(value) && !math.IsInf(value, 0) {
			return json.Number(strconv.FormatFloat(value, 'g', -1, 64)), nil
		}
	case sobek.ArrayBuffer:
		return value.Bytes(), nil
	case string:
		if !raw || schema.LogicalType == "uuid" && len(value) != schema.Size {
			break
		}
		bytes := []byte{}
		for _, one := range value {
			if one > math.MaxUint8 {
				return nil, fmt.Errorf("text for %s has one character for each byte, up to \\u00ff, got %q", schema.Type, one)
			}
			bytes = append(bytes, byte(one))
		}
		return bytes, nil
	case []any:
		bytes := make([]byte, len(value))
		for at, one := range value {
			number, is := one.(int64)
			if !raw || !is || number < 0 || number > math.MaxUint8 {
				return nil, avro.ErrSkipCustomType // it may be another type of a union
			}
			bytes[at] = byte(number)
		}
		if raw {
			return bytes, nil
		}
	}
	return nil, avro.ErrSkipCustomType
}
