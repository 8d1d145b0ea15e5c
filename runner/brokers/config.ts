import { maskScenario, secretsIn, soundsSecret } from "../secrets.ts";
import { tell } from "../text/tell.ts";
import type { SystemOptionsOfAnyBroker } from "./fields.ts";

type Config = NonNullable<SystemOptionsOfAnyBroker["config"]>;

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

// --- internal ---

function holds(one: string, written: string): boolean {
	const key = written.toLowerCase();
	const whole = one.endsWith(".*") ? one.slice(0, -2) : one;
	return key === whole || (one !== whole && key.startsWith(`${whole}.`));
}
