import { readFileSync, statSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { hasProcess } from "../brokers/index.ts";
import { failure } from "../errors.ts";
import { reasonOf } from "../reason.ts";
import { tell } from "../text/tell.ts";
import { writeNew } from "../whole-file.ts";
import type { GivenRig } from "./problem.ts";
import { parseRig, RigFile, type RigFileInput } from "./rig-file.ts";
import type { Scenario, System } from "./scenario.ts";

type Rig = Pick<RigFile, "brokers"> | null | undefined;

export function rigBroker(rig: Rig, key: string) {
	return rig?.brokers.find(({ system }) => system === key);
}

/** Does mqbench start the system's broker on this rig's hosts for each run? */
export function onHosts(rig: Rig, key: string): boolean {
	return (rigBroker(rig, key)?.hosts.length ?? 0) > 0;
}

export function hasHosts(rig: Rig): boolean {
	return rig?.brokers.some(({ hosts }) => hosts.length > 0) ?? false;
}

/** Warns in reports that the system's broker was already running before the run. */
export function notFresh(
	{ rig }: Pick<Scenario, "rig">,
	system: Pick<System, "key" | "options">,
): string[] {
	return rig === null || !hasProcess(system.options) || onHosts(rig, system.key)
		? []
		: [tell("broker-not-fresh", { rig: rig.id })];
}

/** `shown` is the command line's form, `path` is absolute. */
export interface RigPlace {
	readonly shown: string;
	readonly path: string;
}

/** Returns null if the file does not exist. */
export async function readRig({ shown, path: file }: RigPlace): Promise<RigFile | null> {
	let text: string;
	try {
		text = await readFile(file, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw failure("rig-unreadable", { path: shown, reason: reasonOf(error) });
	}
	const parsed = parseRig(text);
	if ("wrong" in parsed) throw failure("rig-invalid", { path: shown, wrong: parsed.wrong });
	return parsed.rig;
}

/** Only its owner may read it, because URLs may hold passwords. Never overwrites. */
export async function writeRig({ shown, path: file }: RigPlace, rig: RigFileInput): Promise<void> {
	const text = `${JSON.stringify(RigFile.parse(rig), null, "\t")}\n`;
	try {
		writeNew(file, text, 0o600);
	} catch (error) {
		throw (error as NodeJS.ErrnoException).code === "EEXIST"
			? failure("rig-exists", { path: shown })
			: failure("rig-unwritable", { path: shown, reason: reasonOf(error) });
	}
}

/** Keeps another rig's file; ignores a missing one. */
export async function removeRig(place: RigPlace, id: string): Promise<void> {
	if ((await rigAt(place)) === id) await rm(place.path, { force: true });
}

/** The rig's id, null without a file, or undefined if it is unreadable. */
export async function rigAt(place: RigPlace): Promise<string | null | undefined> {
	try {
		return (await readRig(place))?.id ?? null;
	} catch {
		return undefined;
	}
}

/** Reads the file of `--rig`; paths in it count from its folder. */
export async function givenRig(shown: string, cwd: string): Promise<GivenRig> {
	const rig = await readRig({ shown, path: path.resolve(cwd, shown) });
	if (rig === null) throw failure("rig-unreadable", { path: shown, reason: tell("no-such-file") });
	const folder = path.dirname(path.resolve(cwd, shown));
	// ssh expands ~ itself.
	const from = (file: string | undefined) =>
		file === undefined || file.startsWith("~") ? file : path.resolve(folder, file);
	const there = <Host extends RigFile["clients"][number]>(host: Host): Host => {
		const knownHosts = from(host.knownHosts);
		if (knownHosts !== undefined && !host.hostKeyKnown && !keepsHosts(knownHosts))
			throw failure("rig-invalid", {
				path: shown,
				wrong: [tell("rig-known-hosts", { file: knownHosts })],
			});
		return { ...host, identity: from(host.identity), knownHosts };
	};
	return {
		path: shown,
		rig: {
			...rig,
			clients: rig.clients.map(there),
			brokers: rig.brokers.map((broker) => ({ ...broker, hosts: broker.hosts.map(there) })),
		},
	};
}

/** May ssh write here? A foreign rig.json could name a script, where a line is a command: only files of known hosts pass. */
export function keepsHosts(file: string): boolean {
	const where = file.replace(/^~(?=\/)/, homedir());
	const about = statSync(where, { throwIfNoEntry: false });
	if (about === undefined) return /^known/.test(path.basename(where));
	return (
		about.isFile() &&
		readFileSync(where, "utf8")
			.split("\n")
			.every((line) => /^\s*(?:#.*|(?:@\S+\s+)?\S+\s+[\w.@-]+\s+AAAA\S*.*)?$/.test(line))
	);
}
