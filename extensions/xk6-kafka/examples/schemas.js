// Avro, JSON Schema and Protobuf; with REGISTRY_URL by a Schema Registry, without one alone.
//
//   k6 run -e REGISTRY_URL=http://127.0.0.1:8081 schemas.js
import { check } from "k6";
import {
	KEY,
	RECORD_NAME_STRATEGY,
	SCHEMA_TYPE_AVRO,
	SCHEMA_TYPE_BYTES,
	SCHEMA_TYPE_JSON,
	SCHEMA_TYPE_PROTOBUF,
	SchemaRegistry,
	TOPIC_NAME_STRATEGY,
	TOPIC_RECORD_NAME_STRATEGY,
	VALUE,
} from "k6/x/kafka";

export const options = { iterations: 1, thresholds: { checks: ["rate==1"] } };

const url = __ENV.REGISTRY_URL;
const registry = new SchemaRegistry(url ? { url } : undefined);

const avro = JSON.stringify({
	type: "record",
	name: "Order",
	namespace: "shop",
	fields: [
		{ name: "id", type: "long" },
		{ name: "count", type: "int", default: 1 },
		{ name: "price", type: "double" },
		{ name: "note", type: ["null", "string"], default: null },
		{ name: "lines", type: { type: "array", items: "string" } },
		{ name: "state", type: { type: "enum", name: "State", symbols: ["NEW", "PAID"] } },
	],
});
const jsonSchema = JSON.stringify({
	title: "order",
	type: "object",
	properties: { id: { type: "integer" } },
	required: ["id"],
});
const proto = `syntax = "proto3"; package shop;
message Order { int32 id = 1; repeated string lines = 2; }
message Note { string text = 1; }`;

const order = { id: 7, count: 2, price: 1.5, note: "soon", lines: ["a", "b"], state: "PAID" };

export default function () {
	for (const [schemaType, text, data, wrong, more] of [
		[SCHEMA_TYPE_AVRO, avro, order, { ...order, id: "seven" }, {}],
		[SCHEMA_TYPE_JSON, jsonSchema, { id: 7 }, { id: "seven" }, {}],
		[SCHEMA_TYPE_PROTOBUF, proto, { id: 7, lines: ["a"] }, { id: "seven" }, {}],
		[SCHEMA_TYPE_PROTOBUF, proto, { text: "soon" }, { text: 7 }, { messageName: "Note" }],
	]) {
		let schema = { schema: text, ...more };
		if (url) {
			const subject = registry.getSubjectName({ topic: `orders-${schemaType}`, element: VALUE, schema: text, subjectNameStrategy: TOPIC_NAME_STRATEGY });
			schema = { ...registry.createSchema({ subject, schema: text, schemaType }), ...more };
			check(registry.getSchema({ subject, version: 0 }), { "the registry has it": ({ id }) => id === schema.id });
		}
		const bytes = registry.serialize({ data, schema, schemaType });
		check(bytes, { "a header has the id of the schema": (b) => !url || (b[0] === 0 && b[4] === schema.id) });
		const back = registry.deserialize({ data: bytes, schema, schemaType });
		check(JSON.stringify(back), { "it comes back": (it) => Object.keys(data).every((key) => it.includes(JSON.stringify(data[key]))) });
		let refused = "";
		try {
			registry.serialize({ data: wrong, schema, schemaType });
		} catch (error) {
			refused = `${error}`;
		}
		check(refused, { "what does not fit is refused": (said) => said.startsWith("GoError: kafka: serialize: data") });
	}
	check(registry, {
		"of a topic": (it) => it.getSubjectName({ topic: "orders", element: KEY, schema: avro, subjectNameStrategy: TOPIC_NAME_STRATEGY }) === "orders-key",
		"of a record": (it) => it.getSubjectName({ topic: "orders", element: KEY, schema: avro, subjectNameStrategy: RECORD_NAME_STRATEGY }) === "shop.Order",
		"of both": (it) =>
			it.getSubjectName({ topic: "orders", element: KEY, schema: avro, subjectNameStrategy: TOPIC_RECORD_NAME_STRATEGY }) === "orders-shop.Order",
		"bytes stay bytes": (it) => it.deserialize({ data: it.serialize({ data: [1, 2], schemaType: SCHEMA_TYPE_BYTES }), schemaType: SCHEMA_TYPE_BYTES })[1] === 2,
	});
}
