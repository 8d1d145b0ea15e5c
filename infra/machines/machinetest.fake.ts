import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { hostPlace } from "../hosts/place.ts";
import type { HostSite } from "../hosts/sites.ts";
import type { NodeProcess, Place } from "../nodes/place.ts";
import { commandLines, descendants } from "../processes.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { bundleOf, push } from "./bundle.ts";
import { fetchFile, putFile } from "./files.ts";
import { makeFolders, type RunFolders } from "./folders.ts";
import type { RemoteHost } from "./host.ts";
import { connectMachine, type MachineOptions, type RemoteMachine } from "./machine.ts";

/** For tests: one mqbench that uses a machine. */
export interface Owner {
	/** For one more process. */
	place(): Place;
	close(): Promise<void>;
}

/** One that has connected to the machine. */
export interface ConnectedOwner extends Owner {
	readonly machine: RemoteMachine;
	readonly folders: RunFolders;
	/** The effect of its kill -9 on its connection. */
	die(): void;
}

export interface Connection {
	readonly options: Omit<MachineOptions, "say">;
	/** Default: kills the programs here that are its connection. */
	readonly die?: () => void;
	/** Where its processes run. Default: on the machine itself. */
	place?(site: HostSite): Promise<(number: number) => Place>;
}

/** For tests: how long a process may take to end before it is killed. */
export const STOP_MS = 500;

/** For tests: connects to a machine as one more mqbench. */
export async function connectOwner(
	host: RemoteHost,
	{ options, die, place }: Connection,
): Promise<ConnectedOwner> {
	const carriers = new Set<number>();
	const noting = async <T>(action: () => Promise<T>): Promise<T> => {
		const before = descendants(process.pid).map(({ pid }) => pid);
		const done = await action();
		for (const { pid, name } of descendants(process.pid))
			if (name !== "agent" && !before.includes(pid)) carriers.add(pid);
		return done;
	};
	const connect: RemoteHost["connect"] = (...how) => noting(() => host.connect(...how));
	const stop = new AbortController().signal;
	const machine = await connectMachine({ ...host, connect }, { ...options, say() {} }, stop);
	const { remote, link, facts } = machine;
	const folders = await makeFolders(remote, link, facts.store);
	// As far as places of shell need it.
	const site = { host: machine, folders, folder: "/files", data: "/data" } as HostSite;
	const nothing = async () => {};
	const plain = { site, cpus: null, stopMs: STOP_MS, prepare: nothing, fetchSamples: nothing };
	const placed = (await place?.(site)) ?? ((number: number) => hostPlace({ ...plain, number }));
	let places = 0;
	return {
		machine,
		folders,
		place() {
			places++;
			const made = placed(places);
			return { ...made, start: (...how) => noting(() => made.start(...how)) };
		},
		die() {
			if (die) return die();
			for (const pid of carriers)
				try {
					process.kill(pid, "SIGKILL");
				} catch {
					// It has ended with another one.
				}
		},
		async close() {
			if (link.alive()) await folders.remove().catch(nothing);
			await link.close();
		},
	};
}

/** For tests: properties of processes wherever they run. */
export function processTest(own: () => Promise<Owner>): void {
	test("a process ends as it ends, and its last words come", async () => {
		const owner = await opened(own);
		for (const [end, how] of [
			["exit 0", "exit code 0"],
			["exit 3", "exit code 3"],
			// ssh's own for a lost connection, and those next to signals.
			["exit 255", "exit code 255"],
			["exit 107", "exit code 107"],
			["kill -KILL $$", "SIGKILL"],
			["kill -SEGV $$", "SIGSEGV"],
			["kill -TERM $$", "SIGTERM"],
		] as const) {
			const { ended, words } = await started(owner, `echo first >&2; printf last; ${end}`);
			expect(await ended, end).toEqual({ how, well: how === "exit code 0", lost: false });
			await expect.poll(() => words.toSorted(), LONG).toEqual(["first", "last"]);
		}
	});

	test("signals reach all generations of it", async () => {
		const all = await generations(await opened(own));
		expect(await all.signal("STOP")).toBeGreaterThan(0);
		// Lines on their way arrive.
		await sleep(1_000);
		all.words.length = 0;
		await sleep(500);
		expect(all.words).toEqual([]);
		await all.signal("CONT");
		await all.speak();
		await all.signal("KILL");
		expect(await all.ended).toMatchObject({ how: "SIGKILL", lost: false });
		await nothingOf(all);
	});
}

/** For tests: properties of every machine that mqbench connects to. */
export function machineTest(own: () => Promise<ConnectedOwner>): void {
	processTest(own);

	test("kill -9 of mqbench leaves nothing running there", async () => {
		const owner = await opened(own);
		const all = await generations(owner);
		owner.die();
		expect(await all.ended).toMatchObject({ lost: true });
		await nothingOf(all);
	});

	test("what is brought there is whole, once, and comes again when it was harmed", async () => {
		const { machine, folders } = await opened(own);
		const { remote, link } = machine;
		const folder = testFolder();
		for (const name of ["a.jar", "b.jar"])
			writeFileSync(path.join(folder, name), randomBytes(100_000));
		const bundle = await bundleOf("jars", folder);
		const options = { say() {}, stop: new AbortController().signal };
		const bring = () => push(remote, link, bundle, options);
		const sums = "sha256sum $(find . -type f ! -name .sums | sort)";
		const whole = execFileSync("sh", ["-c", sums], { cwd: folder, encoding: "utf8" });
		const [there, other] = await Promise.all([bring(), bring()]);
		expect(other).toBe(there);
		const look = async (line: string) => (await link.run(`cd "$1" && ${line}`, [there])).out.trim();
		expect(await look('ls -d "$1"*')).toBe(there);
		const first = await look("ls -i a.jar");
		expect([await bring(), await look("ls -i a.jar")]).toEqual([there, first]);
		for (const harm of [":", "echo x >a.jar", "rm a.jar", "echo x >c.jar"]) {
			await look(harm);
			expect(await bring()).toBe(there);
			expect(`${await look(sums)}\n`, harm).toBe(whole);
		}
		await link.run('rm -r "$1"', [there]);
		// Single files, there and back.
		const local = testFolder();
		const files = [remote, link, folders.control, "a.jar"] as const;
		await putFile(...files, folder);
		expect(await fetchFile(...files, local)).toBe(true);
		expect(readFileSync(path.join(local, "a.jar"))).toEqual(
			readFileSync(path.join(folder, "a.jar")),
		);
		expect(await fetchFile(remote, link, folders.control, "none", local)).toBe(false);
	});

	test("two at once leave each other alone, and what a killed one has left goes with the next", async () => {
		const [living, dead] = [await opened(own), await opened(own)];
		const [stays, ends] = [await generations(living), await generations(dead)];
		const { link } = living.machine;
		// From before a restart: its process number belongs to another process.
		const older = living.folders.control.replace(/\+\w+@\d+@\w+$/, "+00000000@1@abcdef");
		await link.run('mkdir "$1"', [older]);
		dead.die();
		await nothingOf(ends);
		const holder = [String(dead.machine.link.holder)];
		await expect.poll(async () => (await link.run('[ -d "/proc/$1" ]', holder)).code, LONG).toBe(1);
		const next = await opened(own);
		const left = async (...folders: string[]) =>
			(await link.run('for d in "$@"; do [ ! -d "$d" ] || echo "$d"; done', folders)).out
				.split("\n")
				.filter(Boolean);
		const of = ({ folders: { control, store, memory } }: ConnectedOwner) => [
			control,
			store,
			...(memory ? [memory.folder] : []),
		];
		const kept = [...of(living), ...of(next)];
		expect(await left(...kept, ...of(dead), older)).toEqual(kept);
		await next.close();
		expect(await left(...kept)).toEqual(of(living));
		await stays.speak();
	});
}

/** For tests: properties with a network in between; `cut` cuts it and returns a function that mends it. */
export function cutTest(own: () => Promise<ConnectedOwner>, cut: () => () => unknown): void {
	test("a connection that is cut ends what runs there within its lease, and is one error here", async () => {
		const owner = await opened(own);
		const { name, link } = owner.machine;
		const all = await generations(owner);
		const mend = cut();
		try {
			await nothingOf(all);
			expect(await all.ended).toMatchObject({ lost: true });
			await expect(link.run("true")).rejects.toThrow(name);
			expect(link.alive()).toBe(false);
		} finally {
			await mend();
		}
		const { ended } = await started(await opened(own), "exit 3");
		expect(await ended).toMatchObject({ how: "exit code 3" });
	});
}

// --- internal ---

const LONG = { timeout: 40_000, interval: 100 };

async function opened<T extends Owner>(own: () => Promise<T>): Promise<T> {
	const owner = await own();
	onTestFinished(() => owner.close());
	return owner;
}

interface Started extends NodeProcess {
	/** On the command line of all of its processes, and of those here that represent them. */
	readonly token: string;
	/** Lines that came. */
	readonly words: string[];
}

/** Starts a piece of sh. */
async function started(owner: Owner, body: string, ...args: string[]): Promise<Started> {
	const place = owner.place();
	onTestFinished(() => place.close());
	const token = `machinetest-${randomBytes(6).toString("hex")}`;
	const words: string[] = [];
	const node = { argv: ["sh", "-c", body, token, ...args], files: {} };
	await place.prepare(node);
	const process = await place.start(node, (line) => void (line && words.push(line)));
	return { ...process, token, words };
}

/** Each generation starts the next one, prints its number all the time, and ignores requests to end. */
const GENERATION =
	'trap "" INT TERM HUP; if [ "$1" != 3 ]; then sh -c "$2" "$0" $(($1 + 1)) "$2" & fi; while :; do echo "$1"; sleep 0.1; done';

/** Three generations; `speak` returns when all of them have spoken. */
async function generations(owner: Owner) {
	const all = await started(owner, GENERATION, "1", GENERATION);
	const speak = async () => {
		all.words.length = 0;
		await expect.poll(() => [...new Set(all.words)].sort(), LONG).toEqual(["1", "2", "3"]);
	};
	await speak();
	const own = `sh\0-c\0${GENERATION}\0${all.token}\0`;
	const seen = commandLines().filter((line) => line.startsWith(own));
	expect(seen.length).toBeGreaterThanOrEqual(3);
	return { ...all, speak };
}

/** Waits until nothing of it runs: all machines of these tests show their processes here. */
async function nothingOf({ token }: Started): Promise<void> {
	await expect.poll(() => commandLines().filter((line) => line.includes(token)), LONG).toEqual([]);
}
