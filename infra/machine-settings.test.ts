import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test, vi } from "vitest";
import { settingTexts } from "../runner/model/machine-settings.ts";
import { settingsBelow } from "./machine-settings.ts";
import { script, testFolder } from "./test-folder.fake.ts";

/** Settings of a machine with these files, and an ethtool that says that of its card. */
async function settings(files: Readonly<Record<string, string>>, ethtool = "exit 81") {
	const root = testFolder();
	for (const [name, text] of Object.entries(files)) {
		const file = path.join(root, name.startsWith("proc/") ? "" : "sys", name);
		mkdirSync(path.dirname(file), { recursive: true });
		writeFileSync(file, text);
	}
	script(path.join(root, "ethtool"), `[ "$1 $2" = "-c ens5" ] || exit 81\n${ethtool}`);
	vi.stubEnv("PATH", `${root}:${process.env.PATH}`);
	return settingsBelow(root);
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
const CARD = { "class/net/ens5/device/vendor": "" };
const coalesce = (text: string) => `cat <<END\nCoalesce parameters for ens5:\n${text}\nEND`;
const NOTHING = {
	idleDriver: null,
	bootMaxCState: null,
	cStates: null,
	maxCState: null,
	smt: null,
	governor: null,
	interruptModeration: null,
};

describe.skipIf(process.platform !== "linux")("settings of a machine", () => {
	test("are what its kernel and its card say", async () => {
		const found = await settings(
			{
				...cores([0, 0, 0, 0], [0, 0, 0, 0]),
				...CARD,
				[`${CPU}/cpuidle/current_driver`]: "intel_idle\n",
				"module/intel_idle/parameters/max_cstate": "9\n",
				[`${CPU}/smt/control`]: "on\n",
				[`${CPU}/cpu0/cpufreq/scaling_governor`]: "powersave\n",
				[`${CPU}/cpu1/cpufreq/scaling_governor`]: "performance\n",
				"class/net/lo/mtu": "",
			},
			coalesce(
				"Adaptive RX: on  TX: n/a\nstats-block-usecs:\tn/a\nrx-usecs:\t20\nrx-frames:\tn/a\ntx-usecs:\t64\ntx-frames:\tn/a",
			),
		);
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

	test.each([
		["a C-state that no core may enter", cores([0, 0, 1], [0, 0, 1]), { cStates: "POLL, C1" }],
		["one that a core may enter", cores([0, 0, 1], [0, 0, 0]), { cStates: "POLL, C1, C1E" }],
		["a card that says nothing", CARD, NOTHING],
		["nothing", {}, NOTHING],
	])("with %s are %o", async (_, files, wanted) => {
		expect(await settings(files)).toMatchObject(wanted);
	});

	test("say what a card does that moderates nothing, and what a guest sees whose host decides", async () => {
		const quiet = "Adaptive RX: off  TX: off\nrx-usecs:\t0\ntx-usecs:\t0";
		expect(await settings(CARD, coalesce(quiet))).toMatchObject({
			interruptModeration: "adaptive-rx off, adaptive-tx off, rx-usecs 0, tx-usecs 0",
		});
		const guest = await settings({ [`${CPU}/cpuidle/current_driver`]: "none\n" });
		expect(settingTexts(guest)["C-states"]).toBe("not to be seen (none)");
		expect(new Set(Object.values(settingTexts(NOTHING)))).toEqual(new Set([null]));
	});

	test.each([
		["0-7", "all"],
		["2-3", "2-3 of 0-7"],
	])("where it may run on the cores %s, that is %s of them", async (allowed, text) => {
		const found = await settings({
			"proc/self/status": `Name:\tsh\nCpus_allowed_list:\t${allowed}\n`,
			[`${CPU}/online`]: "0-7\n",
		});
		expect(found.allowedCores).toBe(text);
		expect(settingTexts(found)["cores to run on"]).toBe(text);
	});
});
