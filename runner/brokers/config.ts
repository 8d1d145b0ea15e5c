import { settingMistakes } from "../text/settings.ts";

/** What a scenario may write in `config`: lines of the broker's own file, beside those that mqbench writes. */
interface ConfigRules {
	/** Name of that file, for people. */
	readonly file: string;
	/**
	 * Keys that mqbench sets itself, in small letters: addresses, folders, names, and what it reads or logs in by. One that ends with `.*` stands for
	 * all within it. What is written instead, if anything.
	 */
	readonly reserved: Readonly<Record<string, string | null>>;
}

/** Mistakes in `config`. Text is not quoted: it may be a secret. */
export function configProblems(
	config: Readonly<Record<string, string | number | boolean>> | undefined,
	{ file, reserved }: ConfigRules,
): { key: string; message: string }[] {
	return Object.entries(config ?? {}).flatMap(([key, value]) => {
		const taken = Object.keys(reserved).find((one) => holds(one, key));
		const message =
			taken !== undefined
				? `mqbench sets ${key} itself; ${reserved[taken] ?? "remove it"}`
				: !/^[\w.-]+$/.test(key) || /\p{Cc}|\p{Zl}|\p{Zp}/u.test(String(value))
					? settingMistakes["config-line"]({ key, file })
					: null;
		return message === null ? [] : [{ key: "config", message }];
	});
}

/** Each of them, to be removed. */
export function reserved(
	...keys: readonly string[]
): Readonly<Record<string, null>> {
	return Object.fromEntries(keys.map((key) => [key, null]));
}

// --- internal ---

function holds(one: string, written: string): boolean {
	const key = written.toLowerCase();
	const whole = one.endsWith(".*") ? one.slice(0, -2) : one;
	return key === whole || (one !== whole && key.startsWith(`${whole}.`));
}
