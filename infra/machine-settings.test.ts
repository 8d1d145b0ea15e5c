import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test, vi } from "vitest";
import { settingTexts } from "../runner/model/machine-settings.ts";
import { settingsBelow } from "./machine-settings.ts";
import { testFolder } from "./test-folder.fake.ts";

/** A root with these files, and an ethtool that says that of each card. */
function made(files: Readonly<Record<string, string>>, ethtool?: string) {
	const root = testFolder();
	for (const [name, text] of Object.entries(files)) {
		const file = path.join(root, name.startsWith("proc/") ? "" : "sys", name);
		mkdirSync(path.dirname(file), { recursive: true });
		writeFileSync(file, text);
	}
	if (ethtool !== undefined) {
		const program = path.join(root, "ethtool");
		writeFileSync(program, `#!/bin/sh\n${ethtool}\n`);
		chmodSync(program, 0o755);
	}
	vi.stubEnv("PATH", `${root}:${process.env.PATH}`);
	return root;
}

const CPU = "devices/system/cpu";
const STATES = ["POLL", "C1", "C1E", "C6"];
/** Idle states of cores, each with what stands in its `disable`. */
const cores = (...disabled: readonly (readonly number[])[]) =>
	Object.fromEntries(
		disabled.flatMap((states, core) =>
			states.flatMap((off, i) => [
				[`${CPU}/cpu${core}/cpuidle/state${i}/name`, `${STATES[i]}\n`],
				[`${CPU}/cpu${core}/cpuidle/state${i}/disable`, `${off}\n`],
			]),
		),
	);
const saysOfEns5 = (text: string) =>
	`[ "$1 $2" = "-c ens5" ] || exit 81\ncat <<END\nCoalesce parameters for ens5:\n${text}\nEND`;
const ADAPTIVE =
	"Adaptive RX: on  TX: n/a\nstats-block-usecs:\tn/a\nrx-usecs:\t20\nrx-frames:\tn/a\ntx-usecs:\t64\ntx-frames:\tn/a";

describe.skipIf(process.platform !== "linux")("settings of a machine", () => {
	test("are what its kernel and its card say", async () => {
		const root = made(
			{
				...cores([0, 0, 0, 0], [0, 0, 0, 0]),
				[`${CPU}/cpuidle/current_driver`]: "intel_idle\n",
				"module/intel_idle/parameters/max_cstate": "9\n",
				[`${CPU}/smt/control`]: "on\n",
				[`${CPU}/cpu0/cpufreq/scaling_governor`]: "powersave\n",
				[`${CPU}/cpu1/cpufreq/scaling_governor`]: "performance\n",
				"class/net/ens5/device/vendor": "",
				"class/net/lo/mtu": "",
			},
			saysOfEns5(ADAPTIVE),
		);
		const found = await settingsBelow(root);
		expect(found).toEqual({
			idleDriver: "intel_idle",
			bootMaxCState: 9,
			cStates: "POLL, C1, C1E, C6",
			maxCState: 3,
			smt: "on",
			interruptModeration: "adaptive-rx on, tx-usecs 64",
			governor: "performance, powersave",
		});
		expect(settingTexts(found)).toEqual({
			"C-states": "POLL, C1, C1E, C6 (intel_idle, max_cstate 9)",
			SMT: "on",
			"interrupt moderation": "adaptive-rx on, tx-usecs 64",
			"CPU governor": "performance, powersave",
		});
	});

	test("have a C-state as long as one core may enter it", async () => {
		const off = cores([0, 0, 1, 1], [0, 0, 1, 1]);
		const [all, one] = [off, { ...off, ...cores([0, 0, 1, 1], [0, 0, 0, 1]) }];
		expect(await settingsBelow(made(all))).toMatchObject({ cStates: "POLL, C1", maxCState: 1 });
		expect(await settingsBelow(made(one))).toMatchObject({
			cStates: "POLL, C1, C1E",
			maxCState: 2,
		});
	});

	test("say what a card does that moderates nothing", async () => {
		const quiet = "Adaptive RX: off  TX: off\nrx-usecs:\t0\ntx-usecs:\t0";
		const card = { "class/net/ens5/device/vendor": "" };
		expect(await settingsBelow(made(card, saysOfEns5(quiet)))).toMatchObject({
			interruptModeration: "adaptive-rx off, adaptive-tx off, rx-usecs 0, tx-usecs 0",
		});
	});

	test("are null where nothing can be read", async () => {
		const nothing = {
			idleDriver: null,
			bootMaxCState: null,
			cStates: null,
			maxCState: null,
			smt: null,
			governor: null,
			interruptModeration: null,
		};
		expect(await settingsBelow(made({}))).toEqual(nothing);
		const card = { "class/net/ens5/device/vendor": "" };
		expect(await settingsBelow(made(card, "exit 81"))).toEqual(nothing);
		expect(new Set(Object.values(settingTexts(nothing)))).toEqual(new Set([null]));
	});

	test("of a guest whose host decides are its driver alone", async () => {
		const root = made({ [`${CPU}/cpuidle/current_driver`]: "none\n" });
		expect(settingTexts(await settingsBelow(root))["C-states"]).toBe("not to be seen (none)");
	});

	test.each([
		["0-7", "all"],
		["2-3", "2-3 of 0-7"],
	])("where it may run on the cores %s, that is %s of them", async (allowed, text) => {
		const found = await settingsBelow(
			made({
				"proc/self/status": `Name:\tsh\nCpus_allowed_list:\t${allowed}\n`,
				[`${CPU}/online`]: "0-7\n",
			}),
		);
		expect(found.allowedCores).toBe(text);
		expect(settingTexts(found)["cores to run on"]).toBe(text);
	});
});
