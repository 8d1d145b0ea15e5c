import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { example, realBrokers } from "../brokers/index.ts";
import { failure } from "../errors.ts";
import { loadScenario } from "../scenario/load.ts";
import { lacking } from "./lacking.ts";
import { fakeMachine } from "./machine.fake.ts";

const WORKLOAD = "workload: { rate: 1/s, message: 256B, duration: 10s }\n";
const of = (systems: string, parts: Parameters<typeof fakeMachine>[0] = {}) => {
	const scenario = loadScenario("a.yaml", `name: a\n${systems}${WORKLOAD}`);
	return lacking(
		scenario,
		scenario.systems.map(({ key }) => ({ system: key })),
		fakeMachine({
			env: { PATH: "/usr/bin" },
			generator: async () => ({ from: "build", why: null, key: "k", damaged: false }),
			go: async () => "go1.26",
			...parts,
		}),
	);
};
const all = `systems: { ${realBrokers.map((b) => `${b}: { broker: ${b} }`).join(", ")} }\n`;

test("programs of brokers that are not here are named, one for each system", async () => {
	const found = await of(all);
	expect(found.length).toBeGreaterThan(1);
	for (const text of found) expect(text).toMatch(/cannot be started here \(/);
});

test("nothing is said of brokers that somebody else has started", async () => {
	const url = example.url("10.0.0.1");
	const system = `system: { broker: ${example.broker}, url: "${url}" }\n`;
	expect(await of(`target: existing\n${system}`)).toEqual([]);
});

test("a missing Go is told where the load generator has to be built, and not where it is built", async () => {
	const go = async () => {
		throw failure("go-missing", { why: "" });
	};
	const system = `system: ${example.broker}\n`;
	expect(await of(system, { go })).toEqual([expect.stringMatching(/built once, with Go/)]);
	const built = async () =>
		({ from: "cache", why: null, key: "k", go: "go1.26", ageMs: 0 }) as const;
	expect(await of(system, { go, generator: built })).toEqual([]);
});

test("without a PATH nothing is known of programs", async () => {
	expect(await of(all, { env: {} })).toEqual([]);
});

test("files of tls and binary that are not there are named", async () => {
	const folder = testFolder();
	const there = path.join(folder, "ca.pem");
	writeFileSync(there, "");
	const gone = path.join(folder, "gone.pem");
	const secure = example.url("h").replace(/^\w+/, "tls");
	const tls = `tls: { ca: "${there}", cert: "${gone}", key: "${there}" }`;
	expect(
		await of(`target: existing\nsystem: { broker: ${example.broker}, url: "${secure}", ${tls} }\n`),
	).toEqual([`${example.broker}: cert: ${gone} is not there`]);
	expect(await of(`system: { broker: ${example.broker}, binary: ${gone} }\n`)).toEqual([
		`${example.broker}: binary: ${gone} is not there`,
	]);
});
