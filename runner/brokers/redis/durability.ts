import type { Level } from "../../model/plan.ts";
import { durabilityBy } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";

type Settings = Readonly<Record<string, string>>;

/** The server's settings for each level, as its configuration file has them. */
export const redisLevels: Readonly<Record<Level, Settings>> = {
	memory: { appendonly: "no" },
	os: { appendonly: "yes", appendfsync: "no" },
	interval: { appendonly: "yes", appendfsync: "everysec" },
	fsync: { appendonly: "yes", appendfsync: "always" },
};

const ON_REWRITE = "no-appendfsync-on-rewrite";

export const NO_SNAPSHOTS = '""';

/**
 * Durability and `config`. Without a level as `memory`. Snapshots are off in all of them: a fork in mid-run is a matter of
 * its own, and `config: { save: "3600 1" }` brings them back.
 */
export function redisSettings(
	level: Level | null,
	config: SystemOptionsOfAnyBroker["config"] = {},
): Record<string, string> {
	const settings: Record<string, string> = {
		save: NO_SNAPSHOTS,
		...redisLevels[level ?? "memory"],
	};
	if (settings.appendonly === "yes") settings[ON_REWRITE] = "no";
	for (const [key, value] of Object.entries(config)) {
		const text = String(value);
		settings[key.toLowerCase()] = text === "" ? '""' : text;
	}
	return settings;
}

/** By level, for people. */
export const levelTexts = Object.fromEntries(
	Object.entries(redisLevels).map(([level, set]) => [level, textOf(set)]),
) as Record<Level, string>;

export const OWN = "memory (appendonly no, no snapshots)";

/** Of a mode that stores. */
export const redisDurability = durabilityBy({
	own: OWN,
	levels: levelTexts,
	decides: (key) => ["appendonly", "appendfsync", ON_REWRITE, "save"].includes(key.toLowerCase()),
	settings: redisSettings,
	levelOf,
	textOf,
});

// --- internal ---

/** The least that a message has been through, at any time of a run. */
function levelOf(settings: Settings): Level {
	if (word(settings.appendonly) !== "yes") return "memory";
	const flush = word(settings.appendfsync ?? "everysec");
	if (flush === "no" || word(settings[ON_REWRITE]) === "yes") return "os";
	return flush === "always" ? "fsync" : "interval";
}

function textOf({
	appendonly = "",
	appendfsync = "everysec",
	save = NO_SNAPSHOTS,
	[ON_REWRITE]: onRewrite = "no",
}: Settings): string {
	const on = word(appendonly) === "yes";
	return [
		`appendonly ${word(appendonly)}`,
		...(on ? [`appendfsync ${word(appendfsync)}`] : []),
		...(on && word(onRewrite) === "yes" ? [`${ON_REWRITE} yes`] : []),
		...(word(save) === "" ? [] : [`save ${word(save)}`]),
	].join(", ");
}

/** As the server reads a word: quotes and case do not matter. */
function word(text = ""): string {
	return text
		.trim()
		.replace(/^(["'])(.*)\1$/, "$2")
		.toLowerCase();
}
