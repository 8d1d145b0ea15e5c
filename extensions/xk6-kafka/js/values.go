package js

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/js/common"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// What a value is in a message: SCHEMA_TYPE_ constants.
const (
	typeString   = "STRING"
	typeBytes    = "BYTES"
	typeJSON     = "JSON"
	typeAvro     = "AVRO"
	typeProtobuf = "PROTOBUF"
)

// newValues is `new SchemaRegistry`, which scripts have for text and JSON too. There is no registry behind it, and no schema.
func newValues(i *instance, name string, configuration sobek.Value, on *sobek.Object) error {
	var own struct {
		URL string `json:"url"`
	}
	if !common.IsNullish(configuration) {
		if err := i.options(name, configuration, &own, "no configuration: new SchemaRegistry()"); err != nil {
			return err
		}
	}
	if own.URL != "" {
		return errNoSchemas
	}
	i.waits(on, "serialize", "", i.serialize)
	i.waits(on, "deserialize", "", i.deserialize)
	return nil
}

// --- internal ---

var errNoSchemas = errors.New("schemas and their registry are not built in; give value the bytes (a Uint8Array), or use the public module, mostafa/xk6-kafka")

// container is { data, schemaType }.
func (i *instance) container(call string, args []sobek.Value) (data sobek.Value, kind string, err error) {
	object, is := script.Argument(args, 0).(*sobek.Object)
	if !is {
		return nil, "", errors.New("it needs { data, schemaType: SCHEMA_TYPE_STRING }")
	}
	i.test.Ignores(i.vu, "kafka: "+call, script.Others(object, "data", "schema", "schemaType"))
	if of := given(object, "schemaType"); of != nil {
		kind = of.String()
	}
	switch {
	case given(object, "schema") != nil, kind == typeAvro, kind == typeProtobuf:
		err = errNoSchemas
	case kind != typeString && kind != typeBytes && kind != typeJSON:
		err = fmt.Errorf("schemaType %q is none of SCHEMA_TYPE_STRING, SCHEMA_TYPE_BYTES and SCHEMA_TYPE_JSON", kind)
	}
	return given(object, "data"), kind, err
}

func (i *instance) serialize(args []sobek.Value) (script.Wait, error) {
	data, kind, err := i.container("serialize", args)
	if err != nil {
		return nil, err
	}
	var bytes []byte
	if kind == typeJSON {
		bytes, err = script.JSON(data)
	} else if bytes, err = script.Bytes(i.vu.Runtime(), "data", data); err != nil && kind == typeString {
		err = fmt.Errorf("data must be text for SCHEMA_TYPE_STRING; use SCHEMA_TYPE_JSON for %s", data)
	}
	return func(context.Context) (script.Result, error) {
		return func() sobek.Value { return script.Uint8Array(i.vu.Runtime(), bytes) }, nil
	}, err
}

func (i *instance) deserialize(args []sobek.Value) (script.Wait, error) {
	data, kind, err := i.container("deserialize", args)
	if err != nil {
		return nil, err
	}
	rt := i.vu.Runtime()
	bytes, err := script.Bytes(rt, "data", data)
	var value any = string(bytes)
	if err == nil && kind == typeJSON {
		err = json.Unmarshal(bytes, &value)
	}
	return func(context.Context) (script.Result, error) {
		return func() sobek.Value {
			if kind == typeBytes {
				return script.Uint8Array(rt, bytes)
			}
			return rt.ToValue(value)
		}, nil
	}, err
}
