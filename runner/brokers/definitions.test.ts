import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { packageFolder } from "../package.ts";
import { goldenBlocks } from "../tests/golden.fake.ts";
import { USUAL_TRAITS } from "./broker.ts";
import { brokerOf, brokers, SystemOptions } from "./index.ts";

type Written = Readonly<Record<string, unknown>> & { readonly broker: string };

function facts(written: Written): Map<string, string> {
	const options = SystemOptions.parse(written);
	const broker = brokerOf(options);
	const usual: Readonly<Record<string, unknown>> = USUAL_TRAITS;
	const { maxMessageBytesTo, ...promised } = broker.traits(options);
	const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
	const durability = (ours: boolean) => {
		const { text, by } = broker.durability(options, ours);
		return `${text}${by.length > 0 ? `, by ${by}` : ""}`;
	};
	const refusals = (["process", "container", null] as const).flatMap((place) =>
		broker.contradictions(options, place),
	);
	return new Map([
		...Object.entries(promised)
			.filter(([name, value]) => text(value) !== text(usual[name]))
			.map(([name, value]) => [name, text(value)] as const),
		...(maxMessageBytesTo
			? [["maxMessageBytes to abc", text(maxMessageBytesTo("abc"))] as const]
			: []),
		["durability", durability(true)],
		["durability of yours", durability(false)],
		["driver", text(broker.driverOptions(options))],
		...refusals.map(({ key, message }) => [`refused ${key}`, message] as const),
	]);
}

/** All facts of each broker; for its modes and options only those that differ: golden/systems.txt. */
goldenBlocks(new URL("./golden/systems.txt", import.meta.url), (text) => {
	const written: Written = parse(text);
	const { broker, ...options } = written;
	const { mode, ...others } = options;
	const of = facts(written);
	const plain = Object.keys(options).length === 0;
	const less = mode !== undefined && Object.keys(others).length > 0 ? { broker, mode } : { broker };
	const alone = plain ? new Map<string, string>() : facts(less);
	return [...new Set([...alone.keys(), ...of.keys()])]
		.filter((name) => alone.get(name) !== of.get(name))
		.map((name) => `${name}: ${of.get(name) ?? "as most"}`)
		.join("\n");
});

test.each(Object.entries(brokers))("%s takes the examples of its fields", (broker, { options }) => {
	const examples = Object.entries(options.shape).flatMap(([key, field]) => {
		const [example] = (z.globalRegistry.get(field)?.examples as unknown[] | undefined) ?? [];
		return example === undefined || !["port", "version", "config"].includes(key)
			? []
			: [[key, example] as const];
	});
	const forwarder = Object.hasOwn(options.shape, "forwarder") ? { forwarder: true } : {};
	const written = SystemOptions.parse({ broker, ...forwarder, ...Object.fromEntries(examples) });
	expect(brokerOf({ broker }).contradictions(written, null)).toEqual([]);
	if (brokerOf({ broker }).image !== null) expect(examples.length).toBe(3);
});

test.each(Object.keys(brokers))(
	"what %s's driver is sent without a word is its own default",
	(broker) => {
		const file = path.join(packageFolder, "extensions", `xk6-${broker}`, "defaults.json");
		const text = existsSync(file) ? readFileSync(file, "utf8") : "{}";
		const own: Readonly<Record<string, unknown>> = JSON.parse(text);
		for (const [name, value] of Object.entries(
			brokerOf({ broker }).driverOptions(SystemOptions.parse({ broker })),
		))
			if (name in own) expect([name, value]).toEqual([name, own[name]]);
	},
);

test.each([
	["RabbitMQ 3.10.8", "RabbitMQ 3 flushes before it confirms"],
	["rabbitmq-server 4.2.1", "RabbitMQ 4 only writes"],
	["RabbitMQ 5.0", "RabbitMQ 3 flushes before it confirms, RabbitMQ 4 only writes"],
])("of %s says what a classic queue does there", (server, does) => {
	const on = (queue: string) => {
		const options = SystemOptions.parse({ broker: "rabbitmq", queue });
		const { text } = brokerOf(options).durability(options, true);
		return [text, brokerOf(options).durabilityOn?.(text, server)];
	};
	expect(on("classic")[1]).toBe(`classic queue (default): ${does}`);
	const [quorum, onServer] = on("quorum");
	expect(onServer).toBe(quorum);
});
