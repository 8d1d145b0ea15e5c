import type { Level } from "../../model/plan.ts";
import { durabilityBy } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";

type Config = NonNullable<SystemOptionsOfAnyBroker["config"]>;

const STORE = "streaming.store";
const SYNC = "streaming.file_options.sync_on_flush";
const EVERY = "streaming.file_options.auto_sync";

/** The server's settings for each level, as its configuration file has them: it flushes before it acknowledges, and syncs with that or by the clock. */
export const streamingLevels: Readonly<Record<Level, Config>> = {
	memory: { [STORE]: "memory" },
	os: { [STORE]: "file", [SYNC]: false, [EVERY]: "0s" },
	interval: { [STORE]: "file", [SYNC]: false, [EVERY]: "1s" },
	fsync: { [STORE]: "file", [SYNC]: true, [EVERY]: "1m" },
};

/** Durability and `config`. Without a level as `memory`, which is the server's own. */
export function streamingSettings(
	level: Level | null,
	config: SystemOptionsOfAnyBroker["config"] = {},
): Config {
	const written = Object.fromEntries(
		Object.entries(config).map(([key, value]) => [key.toLowerCase(), value]),
	);
	const own =
		level === null && word(written[STORE]) === "file"
			? streamingLevels.fsync
			: streamingLevels[level ?? "memory"];
	return { ...own, ...written };
}

/** By level, for people. */
export const levelTexts = Object.fromEntries(
	Object.entries(streamingLevels).map(([level, set]) => [level, textOf(set)]),
) as Record<Level, string>;

export const OWN = "memory (store: memory, its default)";

/** Of channels. */
export const streamingDurability = durabilityBy({
	own: OWN,
	levels: levelTexts,
	decides: (key) => [STORE, SYNC, EVERY].includes(key.toLowerCase()),
	settings: streamingSettings,
	levelOf,
	textOf,
});

export function keepsFiles(settings: Config): boolean {
	return word(settings[STORE]) === "file";
}

// --- internal ---

function levelOf(settings: Config): Level {
	if (!keepsFiles(settings)) return "memory";
	if (word(settings[SYNC]) === "true") return "fsync";
	return /^[1-9]/.test(word(settings[EVERY])) ? "interval" : "os";
}

function textOf(settings: Config): string {
	if (!keepsFiles(settings)) return `store: ${word(settings[STORE])}`;
	return `store: file, sync_on_flush: ${settings[SYNC]}, auto_sync: ${settings[EVERY]}`;
}

function word(value: string | number | boolean | undefined): string {
	return String(value ?? "").toLowerCase();
}
