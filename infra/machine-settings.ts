import type { MachineSettings } from "../runner/model/machine-settings.ts";
import { once } from "../runner/once.ts";
import { pairsIn } from "./pairs.ts";
import { answerOf } from "./program-answer.ts";

/** Questions for `sh`, each the words of one answer ("name=$(...)"), for use within double quotes. `root` is put before all paths, for tests. */
export function settingQuestions(root = ""): string[] {
	const cpu = `${root}/sys/devices/system/cpu`;
	return [
		`idle=$(cat ${cpu}/cpuidle/current_driver 2>/dev/null)`,
		// acpi_idle belongs to the module "processor".
		`idlemax=$(m=$(cat ${cpu}/cpuidle/current_driver 2>/dev/null); [ "$m" != acpi_idle ] || m=processor; cat "${root}/sys/module/$m/parameters/max_cstate" 2>/dev/null)`,
		// Hundreds of files, so no program for each. A state counts if one core may enter it.
		`cstates=$(cd ${cpu} 2>/dev/null && for d in cpu[0-9]*/cpuidle/state[0-9]*; do read -r off <"$d/disable" && [ "$off" = 0 ] && read -r name <"$d/name" && echo "\${d##*state} $name"; done 2>/dev/null | sort -nu | tr '\\n' ,)`,
		`allowed=$(grep ^Cpus_allowed_list: ${root}/proc/self/status 2>/dev/null | tr -dc 0-9,-)`,
		`online=$(cat ${cpu}/online 2>/dev/null)`,
		`smt=$(cat ${cpu}/smt/control 2>/dev/null)`,
		`governor=$(cat ${cpu}/cpu[0-9]*/cpufreq/scaling_governor 2>/dev/null | sort -u | tr '\\n' ,)`,
		// Only cards that are devices. Users' PATH lacks sbin. If moderation is adaptive, its current time is not a setting.
		`moderation=$(PATH=$PATH:/usr/sbin:/sbin; for d in ${root}/sys/class/net/*/device; do d=\${d%/device}; ethtool -c "\${d##*/}" 2>/dev/null; done | awk '/^Adaptive RX:/ { rx = $3; tx = $5; say("adaptive-rx", rx); say("adaptive-tx", tx) } /^rx-usecs:/ && rx != "on" || /^tx-usecs:/ && tx != "on" { sub(":", "", $1); say($1, $2) } function say(name, value) { if (value != "n/a" && !told[name value]++) printf "%s%s %s", comma, name, value; else return; comma = ", " }')`,
	];
}

/** From the answers, by name; "" or missing if there was none. */
export function settingsOf(answers: Readonly<Record<string, string>>): MachineSettings {
	const of = (name: string) => answers[name]?.trim() || null;
	const list = (name: string) => of(name)?.split(",").filter(Boolean) ?? [];
	const states = list("cstates").map((one) => one.split(" "));
	const deepest = states.at(-1)?.[0];
	const max = of("idlemax");
	const [allowed, online] = [of("allowed"), of("online")];
	return {
		idleDriver: of("idle"),
		bootMaxCState: max !== null && /^\d+$/.test(max) ? Number(max) : null,
		cStates: states.map(([, ...name]) => name.join(" ")).join(", ") || null,
		maxCState: deepest === undefined ? null : Number(deepest),
		smt: of("smt"),
		interruptModeration: of("moderation"),
		governor: list("governor").join(", ") || null,
		...(allowed === null || online === null
			? {}
			: { allowedCores: allowed === online ? "all" : `${allowed} of ${online}` }),
	};
}

/** For this machine, which is asked once. Never rejected. */
export const ownSettings: () => Promise<MachineSettings> = once(() => settingsBelow(""));

/** As `ownSettings`, for the files below `root`, read again each time. */
export async function settingsBelow(root: string): Promise<MachineSettings> {
	const script = settingQuestions(root).map((one) => `echo "${one}"`);
	// No sh, no such settings.
	const asked = { longestMs: 10_000 };
	const out = (await answerOf("sh", ["-c", script.join("\n")], asked)) ?? "";
	return settingsOf(pairsIn(out.split("\n")));
}
