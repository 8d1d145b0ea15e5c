package js

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/grafana/sobek"
)

// The bytes that another implementation writes, Python's fastavro 1.13.1: for each row
//
//	out = io.BytesIO(); fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), python); out.getvalue().hex()
//
// It does not write UUIDs as fixed: there python has the bytes. A union of null and the schema came to "02" and these bytes in each row.
var avroTable = []struct {
	schema, python, bytes string
	// forms of the value in a script.
	forms []string
}{
	{`"boolean"`, `True`, "01", []string{`true`}},
	{`"int"`, `-2147483648`, "ffffffff0f", []string{`-2147483648`}},
	{`"long"`, `9007199254740993`, "8280808080808020", []string{`9007199254740993n`}},
	{`"long"`, `-1`, "01", []string{`-1`}},
	{`"float"`, `1.5`, "0000c03f", []string{`1.5`}},
	{`"float"`, `float("nan")`, "0000c07f", []string{`NaN`}},
	{`"double"`, `0.1`, "9a9999999999b93f", []string{`0.1`}},
	{`"double"`, `float("-inf")`, "000000000000f0ff", []string{`-Infinity`}},
	{`"bytes"`, `b"a\xff"`, "0461ff", []string{`"a\u00ff"`, `[97, 255]`, `new Uint8Array([97, 255])`, `new Uint8Array([97, 255]).buffer`}},
	{`"string"`, `"aä"`, "0661c3a4", []string{`"aä"`}},
	{`{"type":"fixed","name":"n.F","size":2}`, `b"a\xff"`, "61ff", []string{`"a\u00ff"`, `[97, 255]`, `new Uint8Array([97, 255])`}},
	{`{"type":"enum","name":"n.E","symbols":["A","B"]}`, `"B"`, "02", []string{`"B"`}},
	{`{"type":"array","items":"int"}`, `[1,-2]`, "04020300", []string{`[1, -2]`}},
	{`{"type":"array","items":["null","string"]}`, `[None,"x"]`, "040002027800", []string{`[null, "x"]`, `[null, { string: "x" }]`}},
	{`{"type":"map","values":"long"}`, `{"a":1}`, "0202610200", []string{`({ a: 1 })`}},
	{`{"type":"record","name":"n.R","fields":[{"name":"a","type":"int"},{"name":"b","type":["null","n.R"],"default":null}]}`,
		`{"a":1,"b":{"a":2,"b":None}}`, "02020400", []string{`({ a: 1, b: { a: 2 } })`, `({ b: { "n.R": { b: undefined, a: 2 } }, a: 1, more: "" })`}},
	{`{"type":"int","logicalType":"date"}`, `datetime.date(2026,1,21)`, "f4bf02", []string{`20474`, `new Date(Date.UTC(2026, 0, 21))`, `"2026-01-21"`}},
	{`{"type":"int","logicalType":"time-millis"}`, `datetime.time(1,0,0,1000)`, "82bab703", []string{`3600001`}},
	{`{"type":"long","logicalType":"time-micros"}`, `datetime.time(1,0,0,0)`, "80909de91a", []string{`3600000000`}},
	{`{"type":"long","logicalType":"timestamp-millis"}`, `datetime.datetime(2026,1,21,1,2,3,456000,datetime.timezone.utc)`, "80a395e1fb66",
		[]string{`1768957323456`, `new Date(1768957323456)`, `"2026-01-21T01:02:03.456Z"`}},
	{`{"type":"long","logicalType":"timestamp-micros"}`, `datetime.datetime(2026,1,21,1,2,3,456000,datetime.timezone.utc)`, "80b8998eefb6a406",
		[]string{`1768957323456000`, `new Date(1768957323456)`}},
	{`{"type":"long","logicalType":"timestamp-nanos"}`, `1768957323456000000`, "80c0ddf686d4cc8c31",
		[]string{`1768957323456000000n`, `new Date(1768957323456)`}},
	{`{"type":"long","logicalType":"local-timestamp-millis"}`, `datetime.datetime(2026,1,21,1,2,3,456000)`, "80a395e1fb66", []string{`1768957323456`}},
	{`{"type":"long","logicalType":"local-timestamp-micros"}`, `datetime.datetime(2026,1,21,1,2,3,456000)`, "80b8998eefb6a406", []string{`1768957323456000`}},
	{`{"type":"string","logicalType":"uuid"}`, `uuid.UUID("f81d4fae-7dec-11d0-a765-00a0c91e6bf6")`,
		"4866383164346661652d376465632d313164302d613736352d303061306339316536626636", []string{`"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`}},
	{`{"type":"fixed","name":"n.U","size":16,"logicalType":"uuid"}`, `uuid.UUID("f81d4fae-7dec-11d0-a765-00a0c91e6bf6").bytes`,
		"f81d4fae7dec11d0a76500a0c91e6bf6", []string{`"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`}},
	{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}`, `decimal.Decimal("3.14")`, "04013a", []string{`3.14`, `"\u0001:"`, `[1, 58]`}},
	{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}`, `decimal.Decimal("-1.29")`, "04ff7f", []string{`-1.29`, `[255, 127]`}},
	{`{"type":"fixed","name":"n.D","size":4,"logicalType":"decimal","precision":4,"scale":2}`, `decimal.Decimal("-3.14")`, "fffffec6",
		[]string{`-3.14`, `"\u00ff\u00ff\u00fe\u00c6"`}},
	{`{"type":"fixed","name":"n.P","size":12,"logicalType":"duration"}`, `b"\x01\0\0\0\x02\0\0\0\x03\0\0\0"`, "010000000200000003000000",
		[]string{`[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]`}},
	{`["null","int","string"]`, `7`, "020e", []string{`7`, `({ int: 7 })`}},
	{`["null","int","string"]`, `None`, "00", []string{`null`, `undefined`}},
	{`["int","long","double"]`, `1099511627776`, "02808080808040", []string{`1099511627776`, `({ long: 1099511627776 })`}},
	{`["null","string",{"type":"long","logicalType":"timestamp-millis"}]`, `datetime.datetime(2026,1,21,1,2,3,456000,datetime.timezone.utc)`, "0480a395e1fb66",
		[]string{`1768957323456`, `({ "long.timestamp-millis": new Date(1768957323456) })`}},
	{`["null",{"type":"record","name":"A","fields":[{"name":"x","type":"int"}]},{"type":"record","name":"B","fields":[{"name":"y","type":"int"}]}]`,
		`{"y":1}`, "0402", []string{`({ y: 1 })`, `({ B: { y: 1 } })`}},
}

func TestAvroIsWrittenAsItsSpecificationSays(t *testing.T) {
	rt := sobek.New()
	for _, c := range avroTable {
		writes(t, rt, c.schema, c.forms, c.bytes)
		if strings.HasPrefix(c.schema, "[") {
			continue
		}
		// In a union, only the value, and with the names that the public module's two libraries have for its type.
		forms := c.forms
		for _, name := range namesInUnions(t, c.schema) {
			for _, form := range c.forms {
				forms = append(forms, fmt.Sprintf(`({ %q: %s })`, name, form))
			}
		}
		writes(t, rt, `["null",`+c.schema+`]`, forms, "02"+c.bytes)
	}
}

func TestAvroThatCannotBeWrittenIsASentence(t *testing.T) {
	rt := sobek.New()
	const record = `{"type":"record","name":"R","fields":[{"name":"a","type":["null","int"]},{"name":"b","type":"bytes"},{"name":"c","type":["null",{"type":"array","items":"R"}]}]}`
	for _, c := range []struct{ schema, form, want string }{
		{`"boolean"`, `1`, "data is not what the type boolean takes"},
		{`"int"`, `2147483648`, "data: value 2147483648 overflows int32"},
		{`"bytes"`, `"\u0100"`, `data: text for bytes has one character for each byte, up to \u00ff, got 'Ā'`},
		{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}`, `3.145`, "data: decimal value 629/200 cannot be represented at scale 2 without rounding"},
		{record, `({ a: 1 })`, "data.b: missing key"},
		{record, `({ b: "", c: [{ b: true }] })`, "data.c.b is not what the type bytes takes"},
		{record, `(() => { const r = { b: "", c: [] }; r.c.push(r); return r })()`, "data" + strings.Repeat(".c", 48) + "...: avro: recursion limit exceeded (cyclic or pathologically deep input)"},
	} {
		value, err := rt.RunString(c.form)
		if err != nil {
			t.Fatal(c.form, err)
		}
		if bytes, err := new(registry).toAvro(c.schema, value); err == nil || err.Error() != c.want {
			t.Errorf("%s as %s: %x, %v; want %q", c.form, c.schema, bytes, err, c.want)
		}
	}
}

func TestTheNameOfAnAvroSchemaHasItsNamespace(t *testing.T) {
	for schema, want := range map[string]string{
		`"name":"R"`: "R", `"name":"R","namespace":"x.y"`: "x.y.R", `"name":"a.b.R"`: "a.b.R", `"name":"a.b.R","namespace":"x.y"`: "a.b.R",
	} {
		if got, err := nameOf(`{"type":"record",` + schema + `,"fields":[]}`); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", schema, got, err, want)
		}
	}
}

// writes checks that each form comes to the bytes, and that the value read from them does too.
func writes(t *testing.T, rt *sobek.Runtime, schema string, forms []string, want string) {
	t.Helper()
	r := new(registry)
	for _, form := range forms {
		value, err := rt.RunString(form)
		if err != nil {
			t.Fatal(form, err)
		}
		bytes, err := r.toAvro(schema, value)
		if got := hex.EncodeToString(bytes); err != nil || got != want {
			t.Errorf("%s as %s: %s, %v; want %s", form, schema, got, err, want)
			continue
		}
		if strings.Contains(form, "993n") {
			continue // no number of JavaScript is that exact
		}
		back, err := r.fromAvro(schema, bytes)
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		if again, err := r.toAvro(schema, rt.ToValue(back)); err != nil || hex.EncodeToString(again) != want {
			t.Errorf("%s comes back as %v, which is written as %x, %v; want %s", form, back, again, err, want)
		}
	}
}

// namesInUnions are the names of a schema's type: with its logical type too if it is a primitive one.
func namesInUnions(t *testing.T, text string) []string {
	t.Helper()
	var schema struct{ Type, Name, LogicalType string }
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		return []string{strings.Trim(text, `"`)}
	}
	switch {
	case schema.Name != "":
		return []string{schema.Name}
	case schema.LogicalType != "":
		return []string{schema.Type, schema.Type + "." + schema.LogicalType}
	}
	return []string{schema.Type}
}
