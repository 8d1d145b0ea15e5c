import type { Level } from "../../model/plan.ts";
import { type Durability, declared } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";

type Config = NonNullable<SystemOptionsOfAnyBroker["config"]>;

/** The server's part of each level: how often the file store is flushed. In memory there is nothing to flush. */
export const SYNC: Readonly<Record<Exclude<Level, "memory">, string>> = {
	os: "24h",
	interval: "1s",
	fsync: "always",
};

export const SYNC_KEY = "jetstream.sync_interval";

/** As the server reads keys: in small letters, and one word for each thing. */
export function inServersWords(config: Config = {}): Config {
	return Object.fromEntries(Object.entries(config).map(([key, value]) => [wordOf(key), value]));
}

/** Of streams. */
export function natsDurability(
	options: SystemOptionsOfAnyBroker,
	storage: "memory" | "file",
	ours: boolean,
): Durability {
	const { durability, config = {} } = options;
	if (storage === "memory")
		return {
			level: "memory",
			text: durability === undefined ? "memory (storage: memory)" : `${levelTexts.memory} (memory)`,
			by: [],
		};
	if (!ours)
		return durability === undefined
			? { level: null, text: "not known (storage: file, your server)", by: [] }
			: declared(durability, levelTexts[durability]);
	const by = Object.keys(config).filter((key) => wordOf(key) === SYNC_KEY);
	const own = durability === undefined || durability === "memory" ? null : SYNC[durability];
	const sync = inServersWords(config)[SYNC_KEY] ?? own;
	if (sync === null) return { level: "interval", text: OWN, by };
	const level = levelOf(sync);
	const text = `storage: file, sync_interval: ${sync}`;
	return { level, text: level === null ? text : `${text} (${level})`, by };
}

export const levelTexts: Readonly<Record<Level, string>> = {
	memory: "storage: memory",
	os: `storage: file, sync_interval: ${SYNC.os}`,
	interval: `storage: file, sync_interval: ${SYNC.interval}`,
	fsync: `storage: file, sync_interval: ${SYNC.fsync}`,
};

export const OWN = "interval 2m (default)";

// --- internal ---

function wordOf(key: string): string {
	const small = key.toLowerCase();
	return small === "jetstream.sync" ? SYNC_KEY : small;
}

/** A day and more is never, in a run. A number stands for seconds. null: the server will refuse it. */
function levelOf(sync: string | number | boolean): Level | null {
	if (String(sync).toLowerCase() === "always") return "fsync";
	const seconds = typeof sync === "number" ? sync : secondsOf(String(sync));
	if (seconds === null) return null;
	return seconds >= 24 * 3600 ? "os" : "interval";
}

/** "1h30m", as Go reads it. */
function secondsOf(text: string): number | null {
	const UNITS = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 };
	if (!/^(\d+(\.\d+)?(h|ms|m|s|us|ns))+$/.test(text)) return null;
	return [...text.matchAll(/([\d.]+)(h|ms|m|s|us|ns)/g)].reduce(
		(sum, [, value, unit]) => sum + Number(value) * UNITS[unit as keyof typeof UNITS],
		0,
	);
}
