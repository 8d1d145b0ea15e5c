import type { SystemOptions } from "../brokers/index.ts";
import {
	SYSTEM_SETTINGS,
	type SystemSetting,
	type TargetName,
	targetsThat,
	targetTraits,
} from "../model/targets.ts";
import { tell } from "../text/tell.ts";

/**
 * Settings of a system that stand on a target without them, each with a sentence: where they belong, and what to do. The first
 * word of a scenario that is moved from one target to another.
 */
export function misplacedSettings(
	options: SystemOptions,
	target: TargetName,
): { key: string; message: string }[] {
	const common = { ...options, tls: "tls" in options ? options.tls : undefined };
	return SYSTEM_SETTINGS.flatMap((key) => {
		const instead = targetTraits(target).without[key];
		const value = common[key];
		if (instead === undefined || value === undefined) return [];
		if (value === DEFAULTS[key]) return [];
		const on = targetsThat(({ without }) => without[key] === undefined);
		return [{ key, message: tell("needs-target", { key, targets: on, target, instead }) }];
	});
}

// --- internal ---

/** Written or not, it is the same. */
const DEFAULTS: Readonly<Partial<Record<SystemSetting, unknown>>> = { create: true, tls: false };
