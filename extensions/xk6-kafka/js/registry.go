package js

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/grafana/sobek"
	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/sr"
	"go.k6.io/k6/v2/js/common"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// registry is `new SchemaRegistry`. Without a URL it only serializes.
type registry struct {
	*instance
	client *sr.Client
	// parsed has the Avro schemas that were used, by their text.
	parsed sync.Map
}

// schema is a schema in scripts: the result of createSchema and getSchema, or written by hand.
type schema struct {
	ID         int                  `json:"id"`
	Version    int                  `json:"version"`
	Subject    string               `json:"subject"`
	Text       string               `json:"schema"`
	Type       sr.SchemaType        `json:"schemaType"`
	References []sr.SchemaReference `json:"references"`
}

func newRegistry(i *instance, name string, configuration sobek.Value, on *sobek.Object) error {
	var own struct {
		URL       string   `json:"url"`
		BasicAuth login    `json:"basicAuth"`
		TLS       security `json:"tls"`
	}
	if !common.IsNullish(configuration) {
		if err := i.options(name, configuration, &own, "a configuration: { url: 'http://localhost:8081' }"); err != nil {
			return err
		}
	}
	r := &registry{instance: i}
	if own.URL != "" {
		config, err := own.TLS.config(false)
		options := []sr.ClientOpt{sr.URLs(own.URL), sr.DialTLSConfig(config)}
		if own.BasicAuth.Username != "" {
			options = append(options, sr.BasicAuth(own.BasicAuth.Username, own.BasicAuth.Password))
		}
		if err == nil {
			r.client, err = sr.NewClient(options...)
		}
		if err != nil {
			return err
		}
	}
	r.asks(on, "createSchema", func(ctx context.Context, s schema) (sr.SubjectSchema, error) {
		return r.client.CreateSchema(ctx, s.Subject, sr.Schema{Schema: s.Text, Type: s.Type, References: s.References})
	})
	r.asks(on, "getSchema", func(ctx context.Context, s schema) (sr.SubjectSchema, error) {
		return r.client.SchemaByVersion(ctx, s.Subject, cmp.Or(s.Version, -1)) // -1 is the latest
	})
	script.Method(i.vu, on, "getSubjectName", func(args []sobek.Value) (sobek.Value, error) {
		name, err := r.subjectName(args)
		if err != nil {
			err = failed("getSubjectName", err)
		}
		return i.vu.Runtime().ToValue(name), err
	})
	i.waits(on, "serialize", "", r.serialize)
	i.waits(on, "deserialize", "", r.deserialize)
	return nil
}

// --- internal ---

// asks adds a call to the registry about a schema, which comes back as scripts have it.
func (r *registry) asks(on *sobek.Object, name string, ask func(context.Context, schema) (sr.SubjectSchema, error)) {
	r.waits(on, name, "", func(args []sobek.Value) (script.Wait, error) {
		if r.client == nil {
			return nil, errors.New("it needs a registry: new SchemaRegistry({ url: 'http://localhost:8081' })")
		}
		var given schema
		err := r.options(name, script.Argument(args, 0), &given, "a schema: { subject: 'orders-value', schema: '...' }")
		return func(ctx context.Context) (script.Result, error) {
			got := map[string]any{}
			if r.runs {
				ctx, cancel := context.WithTimeout(ctx, requestTimeout)
				defer cancel()
				s, err := ask(ctx, given)
				if err != nil {
					return nil, fmt.Errorf("%q: %w", given.Subject, err)
				}
				got = map[string]any{"id": s.ID, "version": s.Version, "subject": s.Subject, "schema": s.Schema.Schema, "schemaType": s.Type.String()}
			}
			return func() sobek.Value { return r.vu.Runtime().ToValue(got) }, nil
		}, err
	})
}

// subjectName is { schema, topic, element, subjectNameStrategy } by one of the three strategies.
func (r *registry) subjectName(args []sobek.Value) (string, error) {
	var want struct {
		Schema   any    `json:"schema"`
		Topic    string `json:"topic"`
		Element  string `json:"element"`
		Strategy string `json:"subjectNameStrategy"`
	}
	if err := r.options("getSubjectName", script.Argument(args, 0), &want, "{ topic, element, subjectNameStrategy }"); err != nil {
		return "", err
	}
	if object, is := want.Schema.(map[string]any); is {
		want.Schema = object["schema"]
	}
	switch text, _ := want.Schema.(string); want.Strategy {
	case "", topicName:
		return want.Topic + "-" + want.Element, nil
	case recordName:
		return nameOf(text)
	case topicRecordName:
		name, err := nameOf(text)
		return want.Topic + "-" + name, err
	}
	return "", fmt.Errorf("subjectNameStrategy %q is none of the module's three", want.Strategy)
}

// nameOf a record of an Avro schema, with its namespace, or the title of a JSON Schema.
func nameOf(text string) (string, error) {
	var of struct{ Name, Namespace, Title string }
	if err := json.Unmarshal([]byte(text), &of); err != nil {
		return "", fmt.Errorf("the schema's name: %w", err)
	}
	if of.Namespace != "" && !strings.Contains(of.Name, ".") {
		of.Name = of.Namespace + "." + of.Name
	}
	return cmp.Or(of.Name, of.Title), nil
}

// container is { data, schema, schemaType }.
func (r *registry) container(call string, args []sobek.Value) (data sobek.Value, kind string, of schema, err error) {
	object, is := script.Argument(args, 0).(*sobek.Object)
	if !is {
		return nil, "", of, errors.New("it needs { data, schemaType: SCHEMA_TYPE_STRING }")
	}
	r.test.Ignores(r.vu, "kafka: "+call, script.Others(object, "data", "schema", "schemaType"))
	if written := given(object, "schema"); written != nil {
		err = r.options(call+": schema", written, &of, "an object as schema: { schema: '...' }")
		kind = of.Type.String()
	}
	if named := given(object, "schemaType"); named != nil {
		kind = named.String()
	}
	switch kind {
	case typeString, typeBytes, typeJSON, typeAvro:
	case typeProtobuf:
		err = errors.New("Protobuf is not built in; give value the bytes (a Uint8Array), or use the public module, mostafa/xk6-kafka")
	default:
		err = fmt.Errorf("schemaType %q is none of the module's SCHEMA_TYPE_ constants", kind)
	}
	return given(object, "data"), kind, of, err
}

// serialize makes bytes; with a schema that has the id of a registry, behind a zero and that id.
func (r *registry) serialize(args []sobek.Value) (script.Wait, error) {
	data, kind, of, err := r.container("serialize", args)
	if err != nil {
		return nil, err
	}
	var bytes, head []byte
	switch kind {
	case typeJSON:
		bytes, err = script.JSON(data)
	case typeAvro:
		bytes, err = r.toAvro(of.Text, data)
	default:
		if bytes, err = script.Bytes(r.vu.Runtime(), "data", data); err != nil && kind == typeString {
			err = fmt.Errorf("data must be text for SCHEMA_TYPE_STRING; use SCHEMA_TYPE_JSON for %s", data)
		}
	}
	if err == nil && of.ID > 0 {
		head, err = new(sr.ConfluentHeader).AppendEncode(nil, of.ID, nil)
	}
	return func(context.Context) (script.Result, error) {
		return func() sobek.Value { return script.Uint8Array(r.vu.Runtime(), append(head, bytes...)) }, nil
	}, err
}

// deserialize makes a value. Bytes with a header and no schema are of the schema that the registry has under its id.
func (r *registry) deserialize(args []sobek.Value) (script.Wait, error) {
	rt := r.vu.Runtime()
	data, kind, of, err := r.container("deserialize", args)
	if err != nil {
		return nil, err
	}
	bytes, err := script.Bytes(rt, "data", data)
	return func(ctx context.Context) (script.Result, error) {
		if id, body, err := new(sr.ConfluentHeader).DecodeID(bytes); err == nil && (kind == typeAvro || kind == typeJSON) {
			asked := of.Text == "" && r.client != nil
			if asked || id == of.ID {
				bytes = body
			}
			if asked && kind == typeAvro {
				ctx, cancel := context.WithTimeout(ctx, requestTimeout)
				defer cancel()
				got, err := r.client.SchemaByID(ctx, id)
				if err != nil {
					return nil, fmt.Errorf("the schema with id %d: %w", id, err)
				}
				of.Text = got.Schema
			}
		}
		var value any = string(bytes)
		var err error
		switch kind {
		case typeJSON:
			err = json.Unmarshal(bytes, &value)
		case typeAvro:
			value, err = r.fromAvro(of.Text, bytes)
		case typeBytes:
			return func() sobek.Value { return script.Uint8Array(rt, bytes) }, nil
		}
		return func() sobek.Value { return rt.ToValue(value) }, err
	}, err
}

// avro is a schema, which is read once.
func (r *registry) avro(text string) (*avro.Schema, error) {
	if known, is := r.parsed.Load(text); is {
		return known.(*avro.Schema), nil
	}
	if text == "" {
		return nil, errors.New("SCHEMA_TYPE_AVRO needs a schema: { schema: '{\"type\": \"record\", ...}' }")
	}
	parsed, err := avro.Parse(text, avroTypes...)
	if err != nil {
		return nil, fmt.Errorf("the Avro schema: %w", err)
	}
	r.parsed.Store(text, parsed)
	return parsed, nil
}
