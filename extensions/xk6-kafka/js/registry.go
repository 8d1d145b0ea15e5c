package js

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/grafana/sobek"
	"github.com/twmb/franz-go/pkg/sr"
	"go.k6.io/k6/v2/js/common"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// registry is `new SchemaRegistry`. Without a URL it only serializes.
type registry struct {
	*instance
	client *sr.Client

	mu sync.Mutex
	// formats are those of schemas that were used, by their type and text.
	formats map[string]format
}

// schema is one as scripts have it: what createSchema and getSchema return, or written by hand.
type schema struct {
	ID         int         `json:"id"`
	Version    int         `json:"version"`
	Subject    string      `json:"subject"`
	Schema     string      `json:"schema"`
	Type       string      `json:"schemaType"`
	References []reference `json:"references"`
	// MessageName is a message of a Protobuf schema; without one the first. Dependencies are texts of files that it imports, by their paths.
	MessageName  string            `json:"messageName"`
	Dependencies map[string]string `json:"dependencies"`

	Element       script.Unused `json:"element"`
	EnableCaching script.Unused `json:"enableCaching"`
}

type reference struct {
	Name    string `json:"name"`
	Subject string `json:"subject"`
	Version int    `json:"version"`
}

func newRegistry(i *instance, name string, configuration sobek.Value, on *sobek.Object) error {
	var own struct {
		URL       string `json:"url"`
		BasicAuth struct {
			Username string `json:"username"`
			Password string `json:"password"`
		} `json:"basicAuth"`
		TLS security `json:"tls"`
	}
	if !common.IsNullish(configuration) {
		if err := i.options(name, configuration, &own, "a configuration: { url: 'http://localhost:8081' }"); err != nil {
			return err
		}
	}
	r := &registry{instance: i, formats: map[string]format{}}
	if own.URL != "" {
		options := []sr.ClientOpt{sr.URLs(own.URL)}
		if own.BasicAuth.Username != "" {
			options = append(options, sr.BasicAuth(own.BasicAuth.Username, own.BasicAuth.Password))
		}
		config, err := own.TLS.config(false)
		if err != nil {
			return err
		}
		if config != nil {
			options = append(options, sr.DialTLSConfig(config))
		}
		if r.client, err = sr.NewClient(options...); err != nil {
			return err
		}
	}
	i.waits(on, "createSchema", "", r.asks("createSchema", func(ctx context.Context, given schema) (sr.SubjectSchema, error) {
		references := make([]sr.SchemaReference, len(given.References))
		for k, one := range given.References {
			references[k] = sr.SchemaReference{Name: one.Name, Subject: one.Subject, Version: one.Version}
		}
		kind, known := registered[strings.ToUpper(given.Type)]
		if !known {
			return sr.SubjectSchema{}, fmt.Errorf("schemaType %q is none that a registry keeps", given.Type)
		}
		return r.client.CreateSchema(ctx, given.Subject, sr.Schema{Schema: given.Schema, Type: kind, References: references})
	}))
	i.waits(on, "getSchema", "", r.asks("getSchema", func(ctx context.Context, given schema) (sr.SubjectSchema, error) {
		if given.Version == 0 {
			given.Version = -1 // the latest
		}
		return r.client.SchemaByVersion(ctx, given.Subject, given.Version)
	}))
	script.Method(i.vu, on, "getSubjectName", r.subjectName)
	i.waits(on, "serialize", "", r.serialize)
	i.waits(on, "deserialize", "", r.deserialize)
	return nil
}

// --- internal ---

var registered = map[string]sr.SchemaType{"": sr.TypeAvro, typeAvro: sr.TypeAvro, typeJSON: sr.TypeJSON, typeProtobuf: sr.TypeProtobuf}

var errNoRegistry = errors.New("it needs a registry: new SchemaRegistry({ url: 'http://localhost:8081' })")

// asks is a call to the registry about a schema, which comes back as scripts have it.
func (r *registry) asks(call string, ask func(context.Context, schema) (sr.SubjectSchema, error)) script.Call {
	return func(args []sobek.Value) (script.Wait, error) {
		if r.client == nil {
			return nil, errNoRegistry
		}
		const example = "a schema: { subject: 'orders-value', schema: '...', schemaType: SCHEMA_TYPE_AVRO }"
		var given schema
		if err := r.options(call, script.Argument(args, 0), &given, example); err != nil {
			return nil, err
		}
		return func(ctx context.Context) (script.Result, error) {
			if !r.runs {
				return func() sobek.Value { return r.vu.Runtime().NewObject() }, nil
			}
			ctx, cancel := context.WithTimeout(ctx, requestTimeout)
			defer cancel()
			got, err := ask(ctx, given)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", given.Subject, err)
			}
			return func() sobek.Value {
				return r.vu.Runtime().ToValue(map[string]any{
					"id": got.ID, "version": got.Version, "subject": got.Subject, "schema": got.Schema.Schema, "schemaType": got.Type.String(),
				})
			}, nil
		}, nil
	}
}

// subjectName is { schema, topic, element, subjectNameStrategy } by one of the three strategies.
func (r *registry) subjectName(args []sobek.Value) (sobek.Value, error) {
	var want struct {
		Schema   json.RawMessage `json:"schema"`
		Topic    string          `json:"topic"`
		Element  string          `json:"element"`
		Strategy string          `json:"subjectNameStrategy"`
	}
	if err := r.options("getSubjectName", script.Argument(args, 0), &want, "{ topic, element, subjectNameStrategy }"); err != nil {
		return nil, fmt.Errorf("kafka: getSubjectName: %w", err)
	}
	byTopic := want.Topic + "-" + want.Element
	if want.Strategy == "" || want.Strategy == topicName {
		return r.vu.Runtime().ToValue(byTopic), nil
	}
	var of schema
	if json.Unmarshal(want.Schema, &of.Schema) != nil {
		if err := json.Unmarshal(want.Schema, &of); err != nil {
			return nil, fmt.Errorf("kafka: getSubjectName: schema: %w", err)
		}
	}
	if of.Type == "" {
		of.Type = typeAvro
	}
	format, err := r.format(of.Type, of)
	if err != nil {
		return nil, fmt.Errorf("kafka: getSubjectName: %w", err)
	}
	switch want.Strategy {
	case recordName:
		return r.vu.Runtime().ToValue(format.name()), nil
	case topicRecordName:
		return r.vu.Runtime().ToValue(want.Topic + "-" + format.name()), nil
	}
	return nil, fmt.Errorf("kafka: getSubjectName: subjectNameStrategy %q is none of the module's three", want.Strategy)
}

// container is what serialize and deserialize get.
type container struct {
	data           sobek.Value
	Schema         schema `json:"schema"`
	SchemaType     string `json:"schemaType"`
	ProtobufFormat string `json:"protobufFormat"`
}

func (r *registry) container(call string, args []sobek.Value) (*container, error) {
	object, is := script.Argument(args, 0).(*sobek.Object)
	if !is {
		return nil, errors.New("it needs { data, schemaType: SCHEMA_TYPE_STRING }")
	}
	r.test.Ignores(r.vu, "kafka: "+call, script.Others(object, "data", "schema", "schemaType", "protobufFormat"))
	c := &container{data: given(object, "data")}
	if of := given(object, "schema"); of != nil {
		if err := r.options(call+": schema", of, &c.Schema, "an object as schema: { schema: '...' }"); err != nil {
			return nil, err
		}
	}
	for name, into := range map[string]*string{"schemaType": &c.SchemaType, "protobufFormat": &c.ProtobufFormat} {
		if value := given(object, name); value != nil {
			*into = value.String()
		}
	}
	if c.SchemaType == "" {
		c.SchemaType = c.Schema.Type
	}
	return c, nil
}

// serialize makes bytes; with a schema that has the id of a registry, behind a zero and that id.
func (r *registry) serialize(args []sobek.Value) (script.Wait, error) {
	c, err := r.container("serialize", args)
	if err != nil {
		return nil, err
	}
	format, err := r.format(c.SchemaType, c.Schema)
	if err != nil {
		return nil, err
	}
	bytes, err := format.serialize(r.vu.Runtime(), c.data)
	if err != nil {
		return nil, err
	}
	if c.Schema.ID > 0 {
		header, err := new(sr.ConfluentHeader).AppendEncode(nil, c.Schema.ID, format.index())
		if err != nil {
			return nil, err
		}
		bytes = append(header, bytes...)
	}
	return func(context.Context) (script.Result, error) {
		return func() sobek.Value { return script.Uint8Array(r.vu.Runtime(), bytes) }, nil
	}, nil
}

// deserialize makes a value. Bytes with a header and no schema are of the schema that the registry has under its id.
func (r *registry) deserialize(args []sobek.Value) (script.Wait, error) {
	c, err := r.container("deserialize", args)
	if err != nil {
		return nil, err
	}
	bytes, err := script.Bytes(r.vu.Runtime(), "data", c.data)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (script.Result, error) {
		id, body, err := new(sr.ConfluentHeader).DecodeID(bytes)
		headed := err == nil && (c.Schema.ID == id || c.Schema.Schema == "" && r.client != nil)
		if headed && c.Schema.Schema == "" && registeredType(c.SchemaType) {
			ctx, cancel := context.WithTimeout(ctx, requestTimeout)
			defer cancel()
			got, err := r.client.SchemaByID(ctx, id)
			if err != nil {
				return nil, fmt.Errorf("the schema with id %d: %w", id, err)
			}
			c.Schema.Schema = got.Schema
		}
		format, err := r.format(c.SchemaType, c.Schema)
		if err != nil {
			return nil, err
		}
		if headed && registeredType(c.SchemaType) {
			bytes = body
			if len(format.index()) > 0 {
				if _, bytes, err = new(sr.ConfluentHeader).DecodeIndex(body, maxIndex); err != nil {
					return nil, err
				}
			}
		}
		value, err := format.deserialize(bytes)
		if err != nil {
			return nil, err
		}
		if c.ProtobufFormat == "bytes" {
			value = bytes
		}
		return func() sobek.Value {
			if raw, is := value.([]byte); is {
				return script.Uint8Array(r.vu.Runtime(), raw)
			}
			return r.vu.Runtime().ToValue(value)
		}, nil
	}, nil
}

// maxIndex is how deep a message of a Protobuf schema may be nested.
const maxIndex = 64

func registeredType(kind string) bool {
	return kind == typeAvro || kind == typeJSON || kind == typeProtobuf
}

// format is that of a schema, which is read once.
func (r *registry) format(kind string, of schema) (format, error) {
	key, err := json.Marshal([]any{kind, of.Schema, of.MessageName, of.Dependencies})
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.formats[string(key)]; known != nil {
		return known, nil
	}
	made, err := formatOf(kind, of)
	if err == nil {
		r.formats[string(key)] = made
	}
	return made, err
}
