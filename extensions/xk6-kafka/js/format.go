package js

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/grafana/sobek"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// format turns values of a script into bytes and back.
type format interface {
	serialize(rt *sobek.Runtime, data sobek.Value) ([]byte, error)
	// deserialize may be called on any goroutine; []byte is for a Uint8Array.
	deserialize(data []byte) (any, error)
	// name of the record, for subjects.
	name() string
	// index of the message in its Protobuf schema, nil for others.
	index() []int
}

func formatOf(kind string, of schema) (format, error) {
	switch kind {
	case typeString:
		return asIs{text: true}, nil
	case typeBytes:
		return asIs{}, nil
	case typeJSON:
		return newJSON(of.Schema)
	case typeAvro:
		return newAvro(of.Schema)
	case typeProtobuf:
		return newProtobuf(of)
	}
	return nil, fmt.Errorf("schemaType %q is none of the module's SCHEMA_TYPE_ constants", kind)
}

// --- internal ---

// asIs is text or bytes as they are.
type asIs struct{ text bool }

func (p asIs) serialize(rt *sobek.Runtime, data sobek.Value) ([]byte, error) {
	bytes, err := script.Bytes(rt, "data", data)
	if err != nil && p.text {
		return nil, fmt.Errorf("data must be text for SCHEMA_TYPE_STRING; use SCHEMA_TYPE_JSON for %s", data)
	}
	return bytes, err
}

func (p asIs) deserialize(data []byte) (any, error) {
	if p.text {
		return string(data), nil
	}
	return data, nil
}

func (asIs) name() string { return "" }
func (asIs) index() []int { return nil }

// jsonFormat is JSON, with a schema or without.
type jsonFormat struct {
	schema *jsonschema.Schema
	title  string
}

func newJSON(text string) (format, error) {
	if text == "" {
		return jsonFormat{}, nil
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the JSON Schema: %w", err)
	}
	const place = "mem:///schema.json"
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(place, document); err != nil {
		return nil, fmt.Errorf("the JSON Schema: %w", err)
	}
	compiled, err := compiler.Compile(place)
	if err != nil {
		return nil, fmt.Errorf("the JSON Schema: %w", err)
	}
	return jsonFormat{compiled, compiled.Title}, nil
}

func (f jsonFormat) serialize(_ *sobek.Runtime, data sobek.Value) ([]byte, error) {
	text, err := script.JSON(data)
	if err != nil {
		return nil, err
	}
	return text, f.check(text)
}

func (f jsonFormat) deserialize(data []byte) (any, error) {
	if err := f.check(data); err != nil {
		return nil, err
	}
	var value any
	err := json.Unmarshal(data, &value)
	return value, err
}

func (f jsonFormat) name() string { return f.title }
func (jsonFormat) index() []int   { return nil }

func (f jsonFormat) check(text []byte) error {
	if f.schema == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	var wrong *jsonschema.ValidationError
	if err := f.schema.Validate(value); errors.As(err, &wrong) {
		return fmt.Errorf("data does not fit the schema: %s", strings.Join(strings.Fields(wrong.Error()), " "))
	} else if err != nil {
		return err
	}
	return nil
}

// protobuf is a message of a schema, by its descriptor alone.
type protobuf struct {
	message protoreflect.MessageDescriptor
}

func newProtobuf(of schema) (format, error) {
	const place = "schema.proto"
	files := map[string]string{place: of.Schema}
	for path, text := range of.Dependencies {
		files[path] = text
	}
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(files),
	})}
	compiled, err := compiler.Compile(context.Background(), place)
	if err != nil {
		return nil, fmt.Errorf("the Protobuf schema: %w", err)
	}
	messages := compiled[0].Messages()
	if messages.Len() == 0 {
		return nil, errors.New("the Protobuf schema has no message")
	}
	if of.MessageName == "" {
		return protobuf{messages.Get(0)}, nil
	}
	for _, name := range []string{of.MessageName, string(compiled[0].Package()) + "." + of.MessageName} {
		if found, is := compiled[0].FindDescriptorByName(protoreflect.FullName(name)).(protoreflect.MessageDescriptor); is {
			return protobuf{found}, nil
		}
	}
	return nil, fmt.Errorf("the Protobuf schema has no message %q", of.MessageName)
}

// serialize takes an object in Protobuf's JSON form, or bytes of a message.
func (p protobuf) serialize(rt *sobek.Runtime, data sobek.Value) ([]byte, error) {
	message := dynamicpb.NewMessage(p.message)
	if raw, err := script.Bytes(rt, "data", data); err == nil && raw != nil {
		if err := proto.Unmarshal(raw, message); err != nil {
			return nil, fmt.Errorf("data is no %s: %w", p.message.FullName(), err)
		}
		return raw, nil
	}
	text, err := script.JSON(data)
	if err == nil {
		err = protojson.Unmarshal(text, message)
	}
	if err != nil {
		return nil, fmt.Errorf("data does not fit %s: %w", p.message.FullName(), err)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(message)
}

func (p protobuf) deserialize(data []byte) (any, error) {
	message := dynamicpb.NewMessage(p.message)
	if err := proto.Unmarshal(data, message); err != nil {
		return nil, fmt.Errorf("data is no %s: %w", p.message.FullName(), err)
	}
	text, err := protojson.MarshalOptions{EmitUnpopulated: true}.Marshal(message)
	if err != nil {
		return nil, err
	}
	var value any
	err = json.Unmarshal(text, &value)
	return value, err
}

func (p protobuf) name() string { return string(p.message.FullName()) }

func (p protobuf) index() []int {
	var index []int
	for at := protoreflect.Descriptor(p.message); ; at = at.Parent() {
		message, is := at.(protoreflect.MessageDescriptor)
		if !is {
			return index
		}
		index = append([]int{message.Index()}, index...)
	}
}
