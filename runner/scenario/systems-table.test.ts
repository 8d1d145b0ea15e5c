import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../package.ts";
import {
	brokersTable,
	SYSTEM_TABLES,
	systemsTable,
	TABLE_BEGIN,
	TABLE_END,
} from "./systems-table.ts";

test.each(Object.entries(SYSTEM_TABLES))(
	"%s says of each system what scenarios are checked against (npm run golden rewrites it)",
	(name, table) => {
		const file = path.join(packageFolder, name);
		const text = readFileSync(file, "utf8");
		const [before, rest = ""] = text.split(TABLE_BEGIN);
		const [, after] = rest.split(TABLE_END);
		expect(after, `${TABLE_BEGIN} and ${TABLE_END}`).toBeDefined();
		const wanted = `${before}${TABLE_BEGIN}\n\n${table()}\n\n${TABLE_END}${after}`;
		if (process.env.UPDATE_GOLDEN === "1") writeFileSync(file, wanted);
		expect(readFileSync(file, "utf8")).toBe(wanted);
	},
);

test.each([
	["| NATS core | `{ broker: nats }` | nothing |"],
	["| RabbitMQ quorum | `{ broker: rabbitmq, queue: quorum }` | each message |"],
	["| Redis pub/sub | `{ broker: redis }` |"],
	["| Redis streams, Redis lists |"],
])("has the line %s", (line) => {
	expect(systemsTable()).toContain(line);
});

test("has no line about the floor of the generator, which is no system", () => {
	expect(systemsTable() + brokersTable()).not.toContain("noop");
});
