import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Plan } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "../scenario/load.ts";
import { compile } from "./compile.ts";

const golden = new URL("./golden/", import.meta.url);

function first(text: string, file = "scenario.yaml"): Plan {
	const [plan] = expand(loadScenario(file, text), { runId: "golden" });
	if (!plan) throw new Error("no plan");
	return plan;
}

describe("golden folders: add one with a scenario.yaml, run npm run golden", () => {
	test.each(readdirSync(golden))("%s", (name) => {
		const folder = new URL(`${name}/`, golden);
		const read = (file: string) => readFileSync(new URL(file, folder), "utf8");
		const { script, planJson } = compile(first(read("scenario.yaml")));
		if (process.env.UPDATE_GOLDEN === "1") {
			writeFileSync(new URL("script.js", folder), script);
			writeFileSync(new URL("plan.json", folder), planJson);
		}
		expect(script).toBe(read("script.js"));
		expect(planJson).toBe(read("plan.json"));
	});
});

test("plan.json is a plan: the schema takes it back as it was", () => {
	const plan = first("system: nats\nworkload: {rate: 90/min, message: 1KiB, duration: 10s}\n");
	expect(Plan.parse(JSON.parse(compile(plan).planJson))).toEqual(plan);
});

test("says how many messages a slot carries, whether or not it's a whole number", () => {
	const script = (rate: string) =>
		compile(first(`system: nats\nworkload: {rate: ${rate}, message: 1KiB, duration: 1h}\n`)).script;
	expect(script("3000/s")).toContain("messagesPerSecond = 3000; // = 100 slots/s x 30 messages\n");
	expect(script("3333/s")).toContain(
		"messagesPerSecond = 3333; // = 100 slots/s x 33.33 messages\n",
	);
	expect(script("1/min")).toContain("messagesPerSecond = 0.016666667;");
});

test.each([
	"*/ process.exit(1) /*",
	"\u2028evil()",
	"\r\nevil()",
	"`$" + "{evil()}`",
	"'; evil(); '",
])("the text %j stays in its comment", (text) => {
	const plan = {
		...first("system: nats\nworkload: {rate: 3000/s, message: 1KiB, duration: 10s}\n"),
		case: text,
		scenario: text,
		system: text,
	};
	const code = compile(plan)
		.script.split(/\r\n|[\n\r\u2028\u2029]/)
		.filter((line) => !line.startsWith("//"))
		.join("\n");
	expect(code).not.toMatch(/evil|exit/);
	expect(code).toMatch(/^import mqbench/);
});
