import { maskScenario, secretsIn, soundsSecret } from "../secrets.ts";
import { tell } from "../text/tell.ts";
import type { Config } from "./fields.ts";

/** Which keys of the broker's own file a scenario may not set in `config`. */
export interface ConfigRules {
	readonly file: string;
	/** Lowercase keys that mqbench sets itself, separated by spaces; `a.*` covers all keys within a. */
	readonly reserved: string;
	/** Reserved keys with the scenario option to write instead. */
	readonly options?: Readonly<Record<string, string>>;
}

/** Messages do not quote values, which may be secret. */
export function configProblems(
	config: Config | undefined,
	{ file, reserved, options = {} }: ConfigRules,
): { key: string; message: string }[] {
	const taken = [...Object.keys(options), ...reserved.split(/\s+/)];
	return Object.entries(config ?? {}).flatMap(([key, value]) => {
		const found = taken.find((one) => holds(one, key));
		const option = found && options[found];
		const message =
			found !== undefined
				? tell("config-reserved", {
						key,
						instead: option ? `write ${option} beside config` : "remove it",
					})
				: !/^[\w.-]+$/.test(key) || /\p{Cc}|\p{Zl}|\p{Zp}/u.test(String(value))
					? tell("config-line", { key: JSON.stringify(key), file })
					: null;
		return message === null ? [] : [{ key: "config", message }];
	});
}

/** Values of keys that sound secret, and secrets within values, such as the password in `sasl.jaas.config`. */
export function secretsOf(config: Config = {}): string[] {
	return Object.entries(config).flatMap(([key, value]) => [
		...(soundsSecret(key) ? [String(value)] : []),
		...(typeof value === "string" ? secretsIn(value) : []),
	]);
}

export function hideSecrets<Value>(
	settings: Readonly<Record<string, Value>>,
	secrets: readonly string[] = [],
): Record<string, Value | string> {
	return Object.fromEntries(
		Object.entries(settings).map(([key, value]) => [
			key,
			soundsSecret(key) ? "***" : typeof value === "string" ? maskScenario(value, secrets) : value,
		]),
	);
}

export function inLowercase(all: Config): Config {
	return Object.fromEntries(Object.entries(all).map(([key, value]) => [key.toLowerCase(), value]));
}

export function texts(all: Readonly<Record<string, unknown>>): Record<string, string> {
	return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, String(value)]));
}

export function lines(
	all: Readonly<Record<string, unknown>>,
	between: string,
	text: (value: unknown) => string = String,
): string {
	return Object.entries(all)
		.map(([key, value]) => `${key}${between}${text(value)}\n`)
		.join("");
}

export type Value = string | number | boolean | readonly string[];

/** The format of NATS; "jetstream.sync_interval" is a key within a block. */
export function inBlocks(all: Readonly<Record<string, Value>>, indent = ""): string {
	const blocks = new Map<string, Record<string, Value>>();
	const lines: string[] = [];
	for (const [key, value] of Object.entries(all)) {
		const [name = "", ...within] = key.split(".");
		if (within.length === 0) lines.push(`${indent}${name}: ${text(value)}\n`);
		else blocks.set(name, { ...blocks.get(name), [within.join(".")]: value });
	}
	for (const [name, block] of blocks)
		lines.push(`${indent}${name} {\n${inBlocks(block, `${indent}  `)}${indent}}\n`);
	return lines.join("");
}

/** As NATS, NATS Streaming and Redis read sizes: K, M and G are powers of 1000, KB and KiB of 1024. */
export function sizeInConfig(written: unknown): number | null {
	const [, digits, unit = "", bytes] = /^(\d+)([KMG]?)(i?B)?$/i.exec(String(written ?? "")) ?? [];
	if (digits === undefined) return null;
	const power = ["", "K", "M", "G"].indexOf(unit.toUpperCase());
	return Number(digits) * (bytes ? 1024 : 1000) ** power;
}

/** Largest payload within a limit that includes an overhead, which grows with the payload. */
export function largestPayload(
	limitBytes: number,
	besideBytes: (payloadBytes: number) => number,
): number {
	let most = limitBytes - besideBytes(limitBytes);
	while (most + 1 + besideBytes(most + 1) <= limitBytes) most++;
	return most;
}

/** Length of a varint (seven bits per byte). */
export function varintBytes(value: number): number {
	let bytes = 1;
	for (let rest = value; rest >= 128; rest /= 128) bytes++;
	return bytes;
}

// --- internal ---

function holds(one: string, written: string): boolean {
	const key = written.toLowerCase();
	const whole = one.endsWith(".*") ? one.slice(0, -2) : one;
	return key === whole || (one !== whole && key.startsWith(`${whole}.`));
}

/** Sizes ("8MB") are unquoted, durations ("1m") quoted: the server reads an unquoted 1m as a million. */
function text(value: Value): string {
	if (Array.isArray(value)) return JSON.stringify(value);
	if (typeof value === "string" && /^\d+([KMGT]|[KMGT]i?B)$/i.test(value))
		return /^\d+[kmgt]$/.test(value) ? JSON.stringify(value) : value;
	return JSON.stringify(value);
}
