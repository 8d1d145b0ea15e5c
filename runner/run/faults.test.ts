import { expect, test } from "vitest";
import type { Plan } from "../plan/plan.ts";
import { faultsOf } from "./faults.ts";

const plan = (...faults: Plan["faults"]) =>
	({ faults, schedule: { warmupNs: 0 } }) as unknown as Plan;
const pause = (atNs: number, forNs: number): Plan["faults"][number] => ({
	atNs,
	action: "pause",
	forNs,
	node: null,
});

/** A broker that keeps what was done to it. */
function recording() {
	const done: string[] = [];
	return {
		done,
		pause: (node: number | null) => {
			done.push(`pause ${node ?? "all"}`);
			return () => void done.push("resume");
		},
	};
}

test("a broker is paused and goes on again, and the report is told what was done", async () => {
	const broker = recording();
	const faults = faultsOf(plan(pause(20e6, 30e6)), broker, Date.now);
	faults.begin(Date.now());
	await expect.poll(() => broker.done).toEqual(["pause all", "resume"]);
	const said = await faults.end();
	expect(said).toHaveLength(1);
	expect(said[0]).toMatch(
		/^the broker was paused for \d.*, .*into the measured part$/,
	);
});

test("a run that ends early leaves no broker paused", async () => {
	const broker = recording();
	const faults = faultsOf(plan(pause(0, 60e9)), broker, Date.now);
	faults.begin(Date.now());
	await expect.poll(() => broker.done).toEqual(["pause all"]);
	await faults.end();
	expect(broker.done).toEqual(["pause all", "resume"]);
});

test("a fault whose time does not come is not done, and not told", async () => {
	const broker = recording();
	const faults = faultsOf(plan(pause(60e9, 1e9)), broker, Date.now);
	faults.begin(Date.now());
	expect(await faults.end()).toEqual([]);
	expect(broker.done).toEqual([]);
});

test("without T0 nothing happens", async () => {
	const broker = recording();
	const faults = faultsOf(plan(pause(0, 1e6)), broker, Date.now);
	expect(await faults.end()).toEqual([]);
	expect(broker.done).toEqual([]);
});
