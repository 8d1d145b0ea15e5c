// Avro and JSON; with REGISTRY_URL by a Schema Registry, without one alone.
import { check } from "k6";
import {
	KEY,
	RECORD_NAME_STRATEGY,
	SCHEMA_TYPE_AVRO,
	SCHEMA_TYPE_JSON,
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
		{ name: "note", type: ["null", "string"], default: null },
		{ name: "lines", type: { type: "array", items: "string" } },
	],
});
const subject = (element, subjectNameStrategy) => registry.getSubjectName({ topic: "orders", element, schema: avro, subjectNameStrategy });

export default function () {
	for (const [schemaType, text, data] of [
		[SCHEMA_TYPE_AVRO, avro, { id: 7, note: "soon", lines: ["a", "b"] }],
		[SCHEMA_TYPE_JSON, '{ "type": "object" }', { id: 7 }],
	]) {
		let schema = { schema: text };
		if (url) {
			const of = `${schemaType}-${subject(VALUE, TOPIC_NAME_STRATEGY)}`;
			schema = registry.createSchema({ subject: of, schema: text, schemaType });
			check(registry.getSchema({ subject: of, version: 0 }), { "the registry has it": ({ id }) => id === schema.id });
		}
		const bytes = registry.serialize({ data, schema, schemaType });
		check(bytes, { "a header has the id of the schema": (b) => !url || (b[0] === 0 && b[4] === schema.id) });
		for (const by of url ? [schema, undefined] : [schema]) {
			const back = registry.deserialize({ data: bytes, schema: by, schemaType });
			check(JSON.stringify(back), { "it comes back": (it) => Object.keys(data).every((key) => it.includes(JSON.stringify(data[key]))) });
		}
	}
	check(subject, {
		"of a topic": (of) => of(KEY, TOPIC_NAME_STRATEGY) === "orders-key",
		"of a record": (of) => of(KEY, RECORD_NAME_STRATEGY) === "shop.Order",
		"of both": (of) => of(KEY, TOPIC_RECORD_NAME_STRATEGY) === "orders-shop.Order",
	});
}
