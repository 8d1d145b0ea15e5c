import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../../errors.ts";
import { Calibration } from "../../../model/comparison.ts";
import {
	measured,
	othersHadTheMachine,
	resultOf,
	run,
	scenario,
	temporaryFolder,
} from "../../e2e/mqbench.ts";

const LOAD = { rate: "1000/s", warmup: "1s", duration: "5s" };

test("the same server twice, in turns: nothing has regressed", async () => {
	const { code, result } = await measured(
		LOAD,
		{
			system: "",
			systems: "{ old: nats, new: nats }",
			baseline: "old",
			repeat: "5",
			sla: "[p50 <= baseline + 25%, p99 <= baseline + 50%, lost == 0]",
		},
		{ exit: [0, 4, 6] },
	);
	const { gates, runs } = result;
	// A B, B A, ...
	expect(runs.slice(0, 4).map((r) => r.system)).toEqual(["old", "new", "new", "old"]);
	const compared = gates.filter((g) => g.comparison !== null);
	process.stdout.write(
		`A/A: ${compared.map((g) => `${g.sla}: ${g.measured}, ${g.verdict}`).join("; ")}; exit ${code}\n`,
	);
	expect(compared).toHaveLength(2);
	for (const gate of compared) expect(gate.verdict).not.toBe("fail");
});

test("calibrate says how large a change this machine can tell, and later runs use it", async () => {
	const folder = temporaryFolder();
	const file = scenario(folder, LOAD, { name: "calm", sla: "[lost == 0]" });
	const out = path.join(folder, "calibration");
	const ended = await run(["calibrate", file, "--runs", "12", "--out", out]);
	if (ended.code === EXIT.invalid && othersHadTheMachine(resultOf(out))) {
		process.stdout.write(`Others had the machine:\n${ended.out}\n`);
		return;
	}
	// Its copy in the cache belongs to a machine that tests: no later run may use it.
	const [, kept = ""] = /kept in (\S+calibrations),/.exec(ended.out) ?? [];
	expect(kept, ended.out + ended.err).not.toBe("");
	for (const name of readdirSync(kept)) {
		const copy = path.join(kept, name);
		if (readFileSync(copy, "utf8").includes('"calm"')) rmSync(copy);
	}
	process.stdout.write(`${ended.out}\n`);
	expect(ended.code).toBe(0);
	const { noise } = Calibration.parse(
		JSON.parse(readFileSync(path.join(out, "calibration.json"), "utf8")),
	);
	expect(noise.map((n) => n.metric)).toEqual(
		expect.arrayContaining(["response p50", "response p99"]),
	);
	for (const n of noise) {
		expect(n.runs).toBeGreaterThanOrEqual(6);
		expect(n.detectable).toBeGreaterThanOrEqual(0);
	}
});
