import { maskScenario, secretsIn, soundsSecret } from "../secrets.ts";
import { tell } from "../text/tell.ts";
import type { Config } from "./fields.ts";

/** What a scenario may write in `config`: lines of the broker's own file, beside those that mqbench writes. */
export interface ConfigRules {
	/** Name of that file, for people. */
	readonly file: string;
	/**
	 * Keys that mqbench sets itself, in small letters and with spaces between them: addresses, folders, names, and what it reads or logs in by.
	 * One that ends with `.*` stands for all within it.
	 */
	readonly reserved: string;
	/** And those that are options of the system: their names. */
	readonly options?: Readonly<Record<string, string>>;
}

/** Mistakes in `config`. Text is not quoted: it may be a secret. */
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

/** The values of keys that sound like a secret, and what is secret within others: `sasl.jaas.config` is a line with a password in it. */
export function secretsOf(config: Config = {}): string[] {
	return Object.entries(config).flatMap(([key, value]) => [
		...(soundsSecret(key) ? [String(value)] : []),
		...(typeof value === "string" ? secretsIn(value) : []),
	]);
}

/** Settings as reports show them. */
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

/** Settings as text. */
export function texts(all: Readonly<Record<string, unknown>>): Record<string, string> {
	return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, String(value)]));
}

/** A file with a line for each setting. */
export function lines(
	all: Readonly<Record<string, unknown>>,
	between: string,
	text: (value: unknown) => string = String,
): string {
	return Object.entries(all)
		.map(([key, value]) => `${key}${between}${text(value)}\n`)
		.join("");
}

/** A setting as a configuration of keys and blocks takes it. */
export type Value = string | number | boolean | readonly string[];

/** A configuration of keys and blocks in braces, as NATS and its kin read it; "jetstream.sync_interval" is a key within a block. */
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

/** A size in `config` as NATS, its kin and Redis read it: K, M and G are 1000, KB and KiB 1024. null: it is not a size. */
export function sizeInConfig(written: unknown): number | null {
	const [, digits, unit = "", bytes] = /^(\d+)([KMG]?)(i?B)?$/i.exec(String(written ?? "")) ?? [];
	if (digits === undefined) return null;
	const power = ["", "K", "M", "G"].indexOf(unit.toUpperCase());
	return Number(digits) * (bytes ? 1024 : 1000) ** power;
}

/** The largest payload with which a message is within a limit, where what is beside the payload counts and grows with it. */
export function largestPayload(
	limitBytes: number,
	besideBytes: (payloadBytes: number) => number,
): number {
	let most = limitBytes - besideBytes(limitBytes);
	while (most + 1 + besideBytes(most + 1) <= limitBytes) most++;
	return most;
}

/** Bytes of a number in which each byte has seven bits of it (varint). */
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

/** Sizes ("8MB") stand without quotes, durations ("1m") must not: the server reads 1m without quotes as a million. */
function text(value: Value): string {
	if (Array.isArray(value)) return JSON.stringify(value);
	if (typeof value === "string" && /^\d+([KMGT]|[KMGT]i?B)$/i.test(value))
		return /^\d+[kmgt]$/.test(value) ? JSON.stringify(value) : value;
	return JSON.stringify(value);
}
