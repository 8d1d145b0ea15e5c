import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { Plan } from "../model/plan.ts";
import type { RunFileInput } from "../model/run-file.ts";
import { floors } from "../plan/floor.ts";
import { plansOf } from "../plan/plans.fake.ts";
import { fakeWorld } from "../world.fake.ts";
import { readEnvironment } from "./environment.ts";
import {
	lockRunFolder,
	makeRunFolder,
	runPath,
	writeCommand,
	writeEnvironment,
	writeRunFile,
} from "./folder.ts";

const TEXT = "system: nats\nrepeat: 2\nworkload: {rate: 10/s, message: 256B, duration: 1s}\n";
const plans = plansOf(TEXT);

describe("the folder of a command", () => {
	test("holds the scenario as it was written, and plan and script of each run, before the first one", () => {
		const folder = path.join(testFolder(), "reports", "run");
		makeRunFolder(folder, TEXT, plans, floors(plans));
		expect(readFileSync(path.join(folder, "scenario.yaml"), "utf8")).toBe(TEXT);
		expect(readdirSync(path.join(folder, "runs")).sort()).toEqual([
			"01-nats-256B-10-s-1",
			"02-nats-256B-10-s-2",
		]);
		expect(readdirSync(path.join(folder, "floors"))).toEqual(["01-256B-10-s"]);
		for (const plan of plans) {
			const run = runPath(folder, plan);
			const json = readFileSync(path.join(run, "plan.json"), "utf8");
			expect(Plan.parse(JSON.parse(json))).toEqual(plan);
			expect(readdirSync(run).sort()).toEqual(["plan.json", "script.js"]);
		}
	});

	test("is never one that exists", () => {
		const folder = path.join(testFolder(), "run");
		mkdirSync(folder);
		writeFileSync(path.join(folder, "kept"), "");
		expect(() => makeRunFolder(folder, TEXT, plans, [])).toThrow(
			expect.objectContaining({ code: "output-exists", exit: 2 }),
		);
		expect(readdirSync(folder)).toEqual(["kept"]);
	});

	test("that cannot be made is one sentence with the reason", () => {
		const file = path.join(testFolder(), "file");
		writeFileSync(file, "");
		const folder = path.join(file, "below", "run");
		expect(() => makeRunFolder(folder, TEXT, plans, [])).toThrow(
			expect.objectContaining({
				code: "output-unwritable",
				exit: 3,
				message: `${folder}: results cannot be written there (a part of the path is a file). Free some space, allow writing there, or choose another folder with --out.`,
			}),
		);
	});

	test("is one command's at a time", async () => {
		const folder = testFolder();
		const first = await lockRunFolder(folder);
		await expect(lockRunFolder(folder)).rejects.toMatchObject({
			code: "output-in-use",
			exit: 2,
			message: `${folder}: another mqbench (process ${process.pid}) is measuring into it. Wait for it to end, or stop it there with Ctrl-C.`,
		});
		await first.release();
		await (await lockRunFolder(folder)).release();
		expect(readdirSync(folder)).toEqual([]);
	});
});

test("a file that cannot be written is one sentence with its path", () => {
	const folder = testFolder();
	mkdirSync(path.join(folder, "environment.json"));
	const file = readEnvironment(new Date(fakeWorld().clock.nowMs()).toISOString());
	expect(() => writeEnvironment(folder, file)).toThrow(
		expect.objectContaining({
			code: "output-unwritable",
			message: expect.stringContaining(
				`${path.join(folder, "environment.json")}: results cannot be written there (it is a folder)`,
			),
		}),
	);
	expect(readdirSync(folder)).toEqual(["environment.json"]);
});

test("a run that cannot be written is lost, and the others are gone on with", () => {
	const folder = path.join(testFolder(), "run");
	makeRunFolder(folder, TEXT, plans, []);
	const [plan] = plans as [Plan];
	mkdirSync(path.join(runPath(folder, plan), "run.json"));
	expect(() => writeRunFile(folder, plan, {} as RunFileInput)).toThrow(
		expect.objectContaining({
			code: "run-unwritable",
			exit: 3,
			message: expect.stringMatching(
				/ so this run is lost\. .*: npx mqbench <scenario> --resume .*run$/,
			),
		}),
	);
	const lost = expect.objectContaining({
		code: "output-unwritable",
		message: expect.not.stringContaining("--resume"),
	});
	// A search cannot be resumed.
	const probe: Plan = { ...plan, search: { role: "probe", of: plan.case } };
	expect(() => writeRunFile(folder, probe, {} as RunFileInput)).toThrow(lost);
	// Neither can a run of a fixed rate in a scenario whose search is still to come.
	const args = ["run", "s.yaml"];
	writeCommand(folder, { schema: 1, scenario: "s.yaml", args, file: null, resumable: false });
	expect(() => writeRunFile(folder, plan, {} as RunFileInput)).toThrow(lost);
});
