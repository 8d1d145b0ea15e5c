package js

import (
	"encoding/json"
	"fmt"

	"github.com/grafana/sobek"
	"github.com/hamba/avro/v2"
)

// avroFormat is a value of an Avro schema. Unions are written as in Avro's JSON, { "string": "text" }, or as the value alone.
type avroFormat struct{ schema avro.Schema }

func newAvro(text string) (format, error) {
	if text == "" {
		return nil, fmt.Errorf("SCHEMA_TYPE_AVRO needs a schema: { schema: '{\"type\": \"record\", ...}' }")
	}
	// A cache of its own: two scripts' schemas may have records of one name.
	parsed, err := avro.ParseWithCache(text, "", &avro.SchemaCache{})
	if err != nil {
		return nil, fmt.Errorf("the Avro schema: %w", err)
	}
	return avroFormat{parsed}, nil
}

func (f avroFormat) serialize(_ *sobek.Runtime, data sobek.Value) ([]byte, error) {
	var plain any
	text, err := textOf(data)
	if err == nil {
		err = json.Unmarshal(text, &plain)
	}
	if err != nil {
		return nil, err
	}
	value, err := toAvro(f.schema, plain, "data")
	if err != nil {
		return nil, err
	}
	return avro.Marshal(f.schema, value)
}

func (f avroFormat) deserialize(data []byte) (any, error) {
	var value any
	err := avro.Unmarshal(f.schema, data, &value)
	return value, err
}

func (f avroFormat) name() string {
	if named, is := f.schema.(avro.NamedSchema); is {
		return named.FullName()
	}
	return ""
}

func (avroFormat) index() []int { return nil }

// --- internal ---

// toAvro gives a value of JSON the types that the library takes for a schema; at is where it is, for errors.
func toAvro(schema avro.Schema, value any, at string) (any, error) {
	switch schema := schema.(type) {
	case *avro.RefSchema:
		return toAvro(schema.Schema(), value, at)
	case *avro.UnionSchema:
		return toUnion(schema, value, at)
	case *avro.RecordSchema:
		return toRecord(schema, value, at)
	case *avro.ArraySchema:
		list, is := value.([]any)
		if !is {
			return nil, fmt.Errorf("%s must be an array, got %v", at, value)
		}
		all := make([]any, len(list))
		for i, one := range list {
			var err error
			if all[i], err = toAvro(schema.Items(), one, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return nil, err
			}
		}
		return all, nil
	case *avro.MapSchema:
		given, is := value.(map[string]any)
		if !is {
			return nil, fmt.Errorf("%s must be an object, got %v", at, value)
		}
		all := map[string]any{}
		for key, one := range given {
			var err error
			if all[key], err = toAvro(schema.Values(), one, at+"."+key); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return toPrimitive(schema.Type(), value, at)
}

func toRecord(schema *avro.RecordSchema, value any, at string) (any, error) {
	given, is := value.(map[string]any)
	if !is {
		return nil, fmt.Errorf("%s must be an object, got %v", at, value)
	}
	record := map[string]any{}
	for _, field := range schema.Fields() {
		one, there := given[field.Name()]
		if !there && field.HasDefault() {
			continue // the library writes it
		}
		if !there && !nullable(field.Type()) {
			return nil, fmt.Errorf("%s.%s is missing", at, field.Name())
		}
		var err error
		if record[field.Name()], err = toAvro(field.Type(), one, at+"."+field.Name()); err != nil {
			return nil, err
		}
	}
	return record, nil
}

func nullable(schema avro.Schema) bool {
	union, is := schema.(*avro.UnionSchema)
	return is && union.Contains(avro.Null) || schema.Type() == avro.Null
}

func toUnion(schema *avro.UnionSchema, value any, at string) (any, error) {
	if value == nil {
		return nil, nil
	}
	if tagged, is := value.(map[string]any); is && len(tagged) == 1 {
		for name, inner := range tagged {
			for _, one := range schema.Types() {
				if nameOf(one) == name {
					typed, err := toAvro(one, inner, at)
					return map[string]any{name: typed}, err
				}
			}
		}
	}
	for _, one := range schema.Types() {
		if one.Type() == avro.Null {
			continue
		}
		if typed, err := toAvro(one, value, at); err == nil {
			return map[string]any{nameOf(one): typed}, nil
		}
	}
	return nil, fmt.Errorf("%s is of none of the union's types, got %v", at, value)
}

// nameOf is how the library calls a type within a union.
func nameOf(schema avro.Schema) string {
	if ref, is := schema.(*avro.RefSchema); is {
		schema = ref.Schema()
	}
	if named, is := schema.(avro.NamedSchema); is {
		return named.FullName()
	}
	return string(schema.Type())
}

func toPrimitive(kind avro.Type, value any, at string) (any, error) {
	switch number, isNumber := value.(float64); {
	case kind == avro.Int && isNumber && number == float64(int32(number)):
		return int(number), nil
	case kind == avro.Long && isNumber && number == float64(int64(number)):
		return int64(number), nil
	case kind == avro.Float && isNumber:
		return float32(number), nil
	case kind == avro.Double && isNumber:
		return number, nil
	}
	switch is := value.(type) {
	case string:
		if kind == avro.String || kind == avro.Enum {
			return is, nil
		}
		if kind == avro.Bytes {
			return []byte(is), nil
		}
	case bool:
		if kind == avro.Boolean {
			return is, nil
		}
	case nil:
		if kind == avro.Null {
			return nil, nil
		}
	}
	return nil, fmt.Errorf("%s must be of type %s, got %v", at, kind, value)
}
