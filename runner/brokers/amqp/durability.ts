import type { Level } from "../../model/plan.ts";
import { type Durability, declared } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";
import type { Server } from "./image.ts";

type Config = NonNullable<SystemOptionsOfAnyBroker["config"]>;

type Settings = SystemOptionsOfAnyBroker & {
	readonly server: Server;
	readonly destination: string;
	readonly settled: boolean;
};

/** The setting of each server that says when it flushes. */
const SYNC = { artemis: "journal-datasync", classic: "kahaDB.journalDiskSyncStrategy" } as const;

/** What each server is set to for a level; at `memory` messages are not durable, which is the driver's to say. */
const LEVELS: Readonly<Record<Server, Partial<Record<Level, string | boolean>>>> = {
	artemis: { os: false, fsync: true },
	classic: { os: "NEVER", interval: "PERIODIC", fsync: "ALWAYS" },
};

/** Durability and `config`. Without a level as `fsync`, which is both servers' own. */
export function amqpSettings(
	server: Server,
	level: Level | null,
	config: SystemOptionsOfAnyBroker["config"] = {},
): Config {
	return {
		[SYNC[server]]: LEVELS[server][level ?? "fsync"] ?? LEVELS[server].fsync ?? "",
		...config,
	};
}

/** Of queues. */
export function amqpDurability(
	{ server, destination, settled, durability, config = {} }: Settings,
	ours: boolean,
): Durability {
	const none = storesNothing({ destination, settled });
	if (none !== null) return { level: null, text: `none, ${none}`, by: [] };
	if (!ours)
		return durability === undefined
			? { level: null, text: "durable messages; more is not known (your server)", by: [] }
			: declared(durability, levelTexts(server)[durability] ?? "");
	if (durability === "memory") return { level: "memory", text: `${NOT_DURABLE} (memory)`, by: [] };
	const key = SYNC[server];
	const by = Object.keys(config).filter((one) => one === key);
	const value = amqpSettings(server, durability ?? null, config)[key];
	const level =
		(Object.entries(LEVELS[server]).find(([, one]) => String(one) === String(value))?.[0] as
			| Level
			| undefined) ?? null;
	const text = `${key}: ${value}`;
	if (durability === undefined && by.length === 0) return { level, text: ownText(server), by };
	return { level, text: level === null ? text : `${text} (${level})`, by };
}

/** By level, for people. */
export function levelTexts(server: Server): Partial<Record<Level, string>> {
	return {
		memory: NOT_DURABLE,
		...Object.fromEntries(
			Object.entries(LEVELS[server]).map(([level, value]) => [level, `${SYNC[server]}: ${value}`]),
		),
	};
}

export function ownText(server: Server): string {
	return `fsync (${SYNC[server]}: ${LEVELS[server].fsync}, its default)`;
}

/** Why nothing that is acknowledged waits anywhere; null: it does. */
export function storesNothing({
	destination,
	settled,
}: Pick<Settings, "destination" | "settled">): string | null {
	if (destination === "topic") return "a topic keeps nothing";
	return settled ? "messages are sent settled, and nobody acknowledges them" : null;
}

// --- internal ---

const NOT_DURABLE = "messages that are not durable";
