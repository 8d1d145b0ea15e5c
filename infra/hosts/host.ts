import { z } from "zod";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { readClock } from "../clients/clock.ts";
import { machineName, platformName } from "../clients/machine.ts";
import { type SshHost, sshName } from "../clients/ssh-host.ts";
import { codeOf, type Link } from "../clients/ssh-link.ts";
import { noShell, unfit } from "../clients/ssh-trouble.ts";
import { type Flush, parseFlush } from "../docker/flush.ts";
import { type Bundle, bring } from "./bring.ts";
import { sweepFolders } from "./folders.ts";
import { openSetUp } from "./set-up.ts";

/** A host that runs a node of a broker, connected and prepared. */
export interface BrokerHost {
	readonly ssh: SshHost;
	/** "bench@10.0.0.5". */
	readonly name: string;
	readonly link: Link;
	readonly facts: HostFacts;
	/** Programs for its system and processor, here. */
	readonly binaries: Binaries;
	/** Path of guard there. */
	readonly guard: string;
	/** Its clock minus ours, ns. */
	readonly aheadNs: number;
	/** How long a flush takes on the disk of a folder there; asked once. null: it cannot be asked. */
	flush(folder: string): Promise<Flush | null>;
	/** Brings a bundle there once, and returns its path. */
	bring(bundle: Bundle): Promise<string>;
}

export interface HostFacts {
	/** "linux/amd64". */
	readonly platform: string;
	/** "linux amd64, 6.1.0-18, 16 cores, governor performance, disk Amazon EC2 NVMe Instance Storage (xfs)": what is known of it. */
	readonly machine: string;
	/** CPUs that its user may use, in the manner of taskset; "" when that is not known. */
	readonly cpus: string;
	/** Path of taskset there; "" where there is none. */
	readonly taskset: string;
}

export interface HostOptions {
	readonly world: World;
	readonly binaries: Binaries;
	/** A file or folder of this machine, read once. */
	bundle(name: string, from: string): Promise<Bundle>;
	/** Told of what takes long: a line for people, without its end. */
	say(line: string): void;
}

/** Connects to a host, and makes sure that a broker can be run there. Leaves no connection when it fails. */
export async function prepareHost(
	ssh: SshHost,
	options: HostOptions,
	stop: AbortSignal,
): Promise<BrokerHost> {
	const { world, say } = options;
	const link = await openSetUp(
		ssh,
		{ guard: options.binaries.guard, world, say },
		stop,
	);
	const close = () => void link.close();
	// Whatever it is doing then ends with the connection.
	stop.addEventListener("abort", close, { once: true });
	try {
		const facts = await readFacts(ssh, link);
		const binaries = await options.binaries.on(facts.platform, sshName(ssh));
		const brought = new Map<Bundle, Promise<string>>();
		const once = (bundle: Bundle) => {
			const path =
				brought.get(bundle) ??
				bring(ssh, link, bundle, { say, stop: world.stop });
			brought.set(bundle, path);
			path.catch(() => brought.delete(bundle));
			return path;
		};
		const guard = await once(await options.bundle("guard", binaries.guard));
		const aheadNs = await askClock(ssh, link, guard);
		await sweepFolders(link);
		let flushed: Promise<Flush | null> | null = null;
		return {
			ssh,
			name: sshName(ssh),
			link,
			facts,
			binaries,
			guard,
			aheadNs,
			flush(folder) {
				flushed ??= measureFlush(link, guard, folder);
				return flushed;
			},
			bring: once,
		};
	} catch (error) {
		await link.close();
		throw error;
	} finally {
		stop.removeEventListener("abort", close);
	}
}

// --- internal ---

const FACTS =
	'echo; for fact in "system=$(uname -s)" "processor=$(uname -m)" "kernel=$(uname -r)" "cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)" "sum=$(command -v sha256sum)" "tar=$(command -v tar)" "taskset=$(command -v taskset)" "cpus=$(grep ^Cpus_allowed_list: /proc/self/status 2>/dev/null | tr -dc 0-9,-)" "setup=$(tr -d "\\n" 2>/dev/null </var/lib/mqbench/facts.json)"; do echo "mqbench:$fact"; done';

async function readFacts(ssh: SshHost, link: Link): Promise<HostFacts> {
	const { values, err } = await link.run(FACTS);
	const { system = "", processor = "", kernel = "" } = values;
	const cores = Number(values.cores);
	if (system === "" || !(cores > 0)) throw noShell(ssh, err);
	const platform = platformName(system, processor);
	if (!values.sum)
		throw unfit(
			ssh,
			"there is no sha256sum, which checks what is copied",
			"Install it (package coreutils of its distribution)",
		);
	if (!values.tar)
		throw unfit(
			ssh,
			"there is no tar, which unpacks what is copied",
			"Install it (package tar of its distribution)",
		);
	return {
		platform,
		machine: [
			machineName(platform, { kernel, cores }),
			...setUpWords(values.setup ?? ""),
		].join(", "),
		cpus: values.cpus ?? "",
		taskset: values.taskset ?? "",
	};
}

/** Of facts.json, which mqbench's set-up has written: what figures depend on. */
const SetUp = z.object({
	governor: z.string().min(1).nullish().catch(null),
	disk: z
		.object({
			model: z.string().min(1).nullish().catch(null),
			fs: z.string().min(1).nullish().catch(null),
		})
		.nullish()
		.catch(null),
	/** What is not as it was asked for, a sentence each. */
	remarks: z.array(z.string()).catch([]),
});

function setUpWords(text: string): string[] {
	let known: z.infer<typeof SetUp>;
	try {
		known = SetUp.parse(JSON.parse(text));
	} catch {
		return [];
	}
	const { governor, disk, remarks } = known;
	return [
		...(governor ? [`governor ${governor}`] : []),
		...(disk?.model
			? [`disk ${disk.model}${disk.fs ? ` (${disk.fs})` : ""}`]
			: []),
		...remarks,
	];
}

async function askClock(
	ssh: SshHost,
	link: Link,
	guard: string,
): Promise<number> {
	const one = link.spawn('echo; exec "$1" -clock', [guard]);
	let err = "";
	one.stderr.setEncoding("utf8").on("data", (text) => {
		err += text;
	});
	const ended = codeOf(one);
	try {
		return (await readClock(one)).offsetNs;
	} catch {
		if (!link.alive()) throw await link.lost(err);
		throw unfit(
			ssh,
			`programs in ~/.cache/mqbench do not run there (exit code ${await ended}${err ? `: ${err.trim().split("\n").at(-1)}` : ""})`,
			"Is its file system mounted with noexec? Name a user whose home allows programs",
		);
	} finally {
		one.stdin.end();
		await ended;
	}
}

/** What cannot be measured is unknown, and no reason not to measure the rest. */
async function measureFlush(
	link: Link,
	guard: string,
	folder: string,
): Promise<Flush | null> {
	const answer = await link.run(
		'echo; echo "mqbench:flush=$("$1" -flush "$2" </dev/null)"',
		[guard, folder],
	);
	return parseFlush(answer.values.flush ?? "");
}
