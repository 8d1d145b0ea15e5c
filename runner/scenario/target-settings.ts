import type { SystemOptions } from "../brokers/index.ts";
import {
	SYSTEM_SETTINGS,
	type SystemSetting,
	type TargetName,
	targetsThat,
	targetTraits,
} from "../model/targets.ts";

/**
 * Settings of a system that stand on a target without them, each with a sentence: where they belong, and what to do. The first
 * word of a scenario that is moved from one target to another.
 */
export function misplacedSettings(
	options: SystemOptions,
	target: TargetName,
): { key: string; message: string }[] {
	const common = {
		...options,
		tls: "tls" in options ? options.tls : undefined,
	};
	return SYSTEM_SETTINGS.flatMap((key) => {
		const instead = targetTraits(target).without[key];
		const value = common[key];
		if (instead === undefined || value === undefined) return [];
		if (value === DEFAULTS[key]) return [];
		const on = targetsThat(({ without }) => without[key] === undefined);
		return [
			{ key, message: `${key} is for target ${on}${WHY[key]}; ${instead}` },
		];
	});
}

// --- internal ---

/** Written or not, it is the same. */
const DEFAULTS: Readonly<Partial<Record<SystemSetting, unknown>>> = {
	create: true,
	tls: false,
};

const STARTS = ", where mqbench starts the broker";
const CONTAINERS = ", where brokers are containers";
const YOURS = ", where brokers are yours";

/** Why only those targets have it. */
const WHY: Readonly<Record<SystemSetting, string>> = {
	port: STARTS,
	version: STARTS,
	binary: STARTS,
	config: STARTS,
	nodes: STARTS,
	pin: STARTS,
	image: CONTAINERS,
	cpus: CONTAINERS,
	memory: CONTAINERS,
	url: "",
	tls: "",
	create: YOURS,
	topics: YOURS,
};
