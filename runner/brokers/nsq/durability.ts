import type { Level } from "../../model/plan.ts";
import { durabilityBy } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";

type Config = NonNullable<SystemOptionsOfAnyBroker["config"]>;

const IN_MEMORY = "mem-queue-size";
const EVERY = "sync-every";
const TIMEOUT = "sync-timeout";

/** nsqd's own. */
const OWN_SETTINGS: Config = { [IN_MEMORY]: 10_000, [EVERY]: 2500, [TIMEOUT]: "2s" };

/** More than any run sends. */
const NEVER: Config = { [EVERY]: 1_000_000_000_000, [TIMEOUT]: "24h" };

/** nsqd's flags for each level. There is no `fsync`: it acknowledges a message that it has written, and flushes after that. */
export const nsqLevels = {
	memory: { [IN_MEMORY]: 10_000 },
	os: { [IN_MEMORY]: 0, ...NEVER },
	interval: { [IN_MEMORY]: 0, [EVERY]: 2500, [TIMEOUT]: "1s" },
} satisfies Partial<Record<Level, Config>>;

/** Durability and `config`. Without a level nsqd is started as it comes. */
export function nsqSettings(
	level: Level | null,
	config: SystemOptionsOfAnyBroker["config"] = {},
): Config {
	return { ...(level === null ? {} : nsqLevels[level as keyof typeof nsqLevels]), ...config };
}

/** By level, for people. */
export const levelTexts = Object.fromEntries(
	Object.entries(nsqLevels).map(([level, set]) => [level, textOf(set)]),
) as Partial<Record<Level, string>>;

export const OWN = `memory (${textOf({})}, its default)`;

export const nsqDurability = durabilityBy({
	own: OWN,
	levels: levelTexts,
	decides: (key) => key in OWN_SETTINGS,
	settings: nsqSettings,
	levelOf,
	textOf,
});

/** Every message waits in a file, not in memory. */
export function keepsFiles(settings: Config): boolean {
	return Number({ ...OWN_SETTINGS, ...settings }[IN_MEMORY]) === 0;
}

// --- internal ---

/** As often as never: by number and by the clock. */
function levelOf(settings: Config): Level {
	if (!keepsFiles(settings)) return "memory";
	const { [EVERY]: every, [TIMEOUT]: timeout } = { ...OWN_SETTINGS, ...settings };
	return Number(every) >= Number(NEVER[EVERY]) && timeout === NEVER[TIMEOUT] ? "os" : "interval";
}

function textOf(settings: Config): string {
	const all = { ...OWN_SETTINGS, ...settings };
	if (!keepsFiles(settings)) return `${IN_MEMORY}: ${all[IN_MEMORY]}, what is more goes to files`;
	return levelOf(settings) === "os"
		? `${IN_MEMORY}: 0, never synced`
		: `${IN_MEMORY}: 0, ${EVERY}: ${all[EVERY]}, ${TIMEOUT}: ${all[TIMEOUT]}`;
}
