import { expect, test } from "vitest";
import { expand } from "../../runner/plan/expand.ts";
import { loadScenario } from "../../runner/scenario/load.ts";
import { cloudRequest, rigId } from "./request.ts";

const text = (more = "", ttl = "2h", duration = "60s") =>
	`target: aws
aws: { region: eu-central-1, ttl: ${ttl}, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }
systems: { nats: nats, kafka: { broker: kafka, nodes: 3 }, floor: noop }
workload: { rate: 3/s, message: 256B, duration: ${duration}, warmup: 5s, drain: 10s }
${more}`;
const of = (
	scenario: string,
	{ only, ...args }: { only?: string; floor?: boolean; confirm?: boolean } = {},
) => {
	const loaded = loadScenario("s.yaml", scenario);
	const plans = expand(loaded, { runId: "x", only });
	return cloudRequest(loaded, plans, { path: "s.yaml", ...args });
};

test("machines are rented for the systems that run, and for no others", () => {
	const all = of(text());
	expect(all?.systems).toEqual([
		{ system: "nats", broker: "nats", nodes: 1 },
		{ system: "kafka", broker: "kafka", nodes: 3 },
	]);
	expect(all?.scenario.aws.brokers.count).toBe(3);
	expect(all?.packages).toEqual(["default-jre-headless"]);
	const one = of(text(), { only: "nats/*" });
	expect(one?.systems.map(({ system }) => system)).toEqual(["nats"]);
	expect(one?.scenario.aws.brokers.count).toBe(1);
	expect(() => of(text(), { only: "floor/*" })).toThrow(
		"s.yaml: noop has no server here, and no machines are rented for its clients alone; measure it with --target local",
	);
});

test("nothing is rented on another target", () => {
	expect(of(text().replace("target: aws", "target: local"))).toBeNull();
});

test("the plan is standing up (10min), runs (90s each here) and floors (10s)", () => {
	expect((of(text())?.plannedNs ?? 0) / 1e9).toBe(600 + 3 * 90 + 10);
	expect((of(text(), { floor: false })?.plannedNs ?? 0) / 1e9).toBe(870);
	expect((of(text(), { floor: false, confirm: true })?.plannedNs ?? 0) / 1e9).toBe(600 + 3 * 270);
	expect((of(text("repeat: 2"), { floor: false })?.plannedNs ?? 0) / 1e9).toBe(1140);
});

test("machines without a hypervisor take 20 minutes more to be there", () => {
	const metal = text().replace("i4i.xlarge", "i4i.metal");
	expect(((of(metal)?.plannedNs ?? 0) - (of(text())?.plannedNs ?? 0)) / 60e9).toBe(20);
});

test("machines that would end themselves in mid-run are not rented", () => {
	expect(() => of(text("", "10min", "20min"))).toThrow(
		"s.yaml: aws.ttl is 10min, and the machines would end themselves in mid-run: standing up and all runs take up to 1h 12min. Write ttl: 75min, or make fewer runs (--only).",
	);
	// What is written is enough.
	expect(of(text("", "75min", "20min"))).not.toBeNull();
	// Fewer runs fit.
	expect(of(text("", "45min", "20min"), { only: "nats/*" })).not.toBeNull();
	expect(() => of(text("repeat: 100", "2h"))).toThrow("Write ttl: 8h");
});

test("names of rigs differ, and are short", () => {
	const name = "a".repeat(80);
	expect(rigId(name)).toMatch(/^a{40}-[0-9a-f]{6}$/);
	expect(rigId(name)).not.toBe(rigId(name));
});
