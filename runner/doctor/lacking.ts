import { existsSync } from "node:fs";
import path from "node:path";
import { brokerOf } from "../brokers/index.ts";
import type { Plan } from "../model/plan.ts";
import { targets } from "../model/targets.ts";
import type { Scenario, System } from "../scenario/scenario.ts";
import { buildChecks } from "./programs.ts";
import type { Machine } from "./this-machine.ts";

/**
 * What the runs of a scenario would miss on this machine, as sentences: files of `tls`, programs of the brokers that mqbench starts here, and
 * what the load generator is built with. Without a PATH nothing is known of programs.
 */
export async function lacking(
	{ systems, target, rig }: Pick<Scenario, "systems" | "target" | "rig">,
	plans: readonly Pick<Plan, "system">[],
	machine: Machine,
): Promise<string[]> {
	const used = systems.filter(({ key }) => plans.some(({ system }) => system === key));
	const files = used.flatMap(({ key, options: { tls } }) =>
		Object.entries(typeof tls === "object" ? tls : {}).flatMap(([name, file]) =>
			typeof file !== "string" || existsSync(file) ? [] : [`${key}: ${name}: ${file} is not there`],
		),
	);
	if (machine.env.PATH === undefined) return files;
	const ours = rig === null && targets[target].place === "process";
	const programs = await Promise.all(
		(ours ? used : []).map((system) => programOf(system, machine)),
	);
	const build = await Promise.all(buildChecks.map(({ look }) => look(machine)));
	return [
		...files,
		...programs.flatMap((missing) => missing ?? []),
		...build.flatMap(({ verdict, sentence, remedy }) =>
			verdict === "bad" ? [`${sentence} ${remedy}`] : [],
		),
	];
}

// --- internal ---

/** null: it is here. */
async function programOf(
	{ key, broker, binary }: System,
	machine: Machine,
): Promise<string | null> {
	if (binary !== null) {
		const there = path.isAbsolute(binary)
			? existsSync(binary)
			: (await machine.which(binary)) !== null;
		return there ? null : `${key}: binary: ${binary} is not there`;
	}
	const program = await brokerOf({ broker }).install?.look(machine);
	return program === undefined || program.here
		? null
		: `${key} cannot be started here (${program.figure}): ${program.sentence}`;
}
