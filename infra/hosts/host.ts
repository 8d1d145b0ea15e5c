import { isIP, isIPv6 } from "node:net";
import { z } from "zod";
import type { MachineSettings } from "../../runner/model/machine-settings.ts";
import { tell } from "../../runner/text/tell.ts";
import { plural } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { readClock } from "../clients/clock.ts";
import { type Flush, parseFlush } from "../docker/flush.ts";
import { askFacts } from "../remote/facts.ts";
import type { RemoteHost } from "../remote/host.ts";
import type { Link } from "../remote/link.ts";
import { unfit } from "../remote/trouble.ts";
import { type Bundle, bring } from "./bring.ts";
import { PREPARED, sweepFolders } from "./folders.ts";

/** A host for a node of a broker, connected and prepared. */
export interface BrokerHost {
	readonly remote: RemoteHost;
	/** "bench@10.0.0.5". */
	readonly name: string;
	readonly link: Link;
	readonly facts: HostFacts;
	/** Programs for its system and processor, on this machine. */
	readonly binaries: Binaries;
	/** Path of agent there. */
	readonly agent: string;
	/** Its clock minus ours, ns. */
	readonly aheadNs: number;
	/** How long a flush takes on the disk of a folder there; measured once. null: it cannot be measured. */
	flush(folder: string): Promise<Flush | null>;
	/** Copies a bundle there once, and returns its path. */
	bring(bundle: Bundle): Promise<string>;
}

export interface HostFacts {
	/** "linux/amd64". */
	readonly platform: string;
	/** "linux amd64, 6.1.0-18, 16 cores, AMD EPYC 9R14, 32GiB, governor performance, disk Amazon EC2 NVMe Instance Storage (xfs)", as far as known. */
	readonly machine: string;
	readonly settings: MachineSettings;
	/** CPUs that its user may use, in the manner of taskset; "" if not known. */
	readonly cpus: string;
	/** Path of taskset there; "" if it is missing. */
	readonly taskset: string;
	/** Identifies the machine; null: not known. */
	readonly identity: string | null;
	/** The folder there for stores, and the same for people: with its file system, without the user's home. */
	readonly store: string;
	readonly storeText: string;
	/** Its own addresses, as `plainAddress` writes them, loopback included; null: not known. */
	readonly addresses: readonly string[] | null;
}

export interface HostOptions {
	readonly world: World;
	readonly binaries: Binaries;
	/** A file or folder of this machine, read once. */
	bundle(name: string, from: string): Promise<Bundle>;
	/** Called with a line for people when something takes long. */
	say(line: string): void;
}

/** One of the forms of an address. */
export function plainAddress(ip: string): string {
	return isIPv6(ip) ? new URL(`http://[${ip}]`).hostname.slice(1, -1) : ip;
}

/** Connects to a host, and makes sure that it can run a broker. Leaves no connection if it fails. */
export async function prepareHost(
	remote: RemoteHost,
	options: HostOptions,
	stop: AbortSignal,
): Promise<BrokerHost> {
	const { world, say } = options;
	const link = await remote.connect({ agent: options.binaries.agent, world, say }, stop, true);
	const close = () => void link.close();
	// Whatever is running there ends with the connection.
	stop.addEventListener("abort", close, { once: true });
	try {
		const facts = await readFacts(remote, link);
		const binaries = await options.binaries.on(facts.platform, remote.name);
		const brought = new Map<Bundle, Promise<string>>();
		const once = (bundle: Bundle) => {
			const path = brought.get(bundle) ?? bring(remote, link, bundle, { say, stop: world.stop });
			brought.set(bundle, path);
			path.catch(() => brought.delete(bundle));
			return path;
		};
		const agent = await once(await options.bundle("agent", binaries.agent));
		const aheadNs = await askClock(remote, link, agent);
		await sweepFolders(link);
		let flushed: Promise<Flush | null> | null = null;
		return {
			remote,
			name: remote.name,
			link,
			facts,
			binaries,
			agent,
			aheadNs,
			flush(folder) {
				flushed ??= measureFlush(link, agent, folder);
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

/** Results of mqbench's set-up. */
const SETUP_FACTS = "/var/lib/mqbench/facts.json";

/** The store's file system is that of the nearest existing folder. Addresses are the kernel's own, IPv4 and IPv6. */
const FACTS = [
	"tar=$(command -v tar)",
	"taskset=$(command -v taskset)",
	"cpus=$(grep ^Cpus_allowed_list: /proc/self/status 2>/dev/null | tr -dc 0-9,-)",
	`setup=$(tr -d '\\n' 2>/dev/null <${SETUP_FACTS})`,
	`prepared=$([ -d ${PREPARED} ] && [ -O ${PREPARED} ] && [ -w ${PREPARED} ] && echo yes)`,
	"home=$(cd && pwd)",
	`fs=$(cd; for d in ${PREPARED} .cache/mqbench/store .cache/mqbench .cache .; do if [ "$d" = ${PREPARED} ]; then [ -O "$d" ] && [ -w "$d" ] || continue; fi; [ -d "$d" ] && stat -f -c %T "$d" 2>/dev/null && break; done)`,
	"addresses=$(awk '/32 host LOCAL/ {print a} {a=$2}' /proc/net/fib_trie 2>/dev/null | sort -u | tr '\\n' ' ')",
	"addresses6=$(cut -c1-32 2>/dev/null </proc/net/if_inet6 | tr '\\n' ' ')",
];

async function readFacts(remote: RemoteHost, link: Link): Promise<HostFacts> {
	const { platform, machine, identity, settings, more } = await askFacts(remote, link, FACTS);
	if (!more.tar)
		throw unfit(
			remote,
			"tar, which unpacks copies, is missing",
			"Install it (package tar of its distribution)",
		);
	const prepared = more.prepared === "yes";
	if (remote.setUp && !prepared)
		throw unfit(
			remote,
			`mqbench's set-up has prepared it, and ${PREPARED}, the disk that is measured, does not belong to its user`,
			`Name the user who owns it (ls -ld ${PREPARED}), or give it to this one (sudo chown)`,
		);
	const setUp = setUpOf(more.setup ?? "");
	const disks = prepared ? (setUp?.disk?.disks ?? []) : [];
	const behind = [...(more.fs ? [more.fs] : []), ...disksText(disks)];
	return {
		platform,
		machine: [machine, ...setUpWords(setUp, prepared)].join(", "),
		identity,
		settings,
		cpus: more.cpus ?? "",
		taskset: more.taskset ?? "",
		store: prepared ? PREPARED : `${more.home ?? ""}/.cache/mqbench/store`,
		storeText: `${prepared ? PREPARED : "~/.cache/mqbench/store"}${behind.length > 0 ? ` (${behind.join(", ")})` : ""}`,
		addresses: addressesIn(more.addresses ?? "", more.addresses6 ?? ""),
	};
}

/** null: not known without /proc. */
function addressesIn(four: string, six: string): string[] | null {
	const all = [
		...four.split(" "),
		...six.split(" ").map((hex) => hex.replace(/(.{4})(?=.)/g, "$1:")),
	].filter((one) => isIP(one) !== 0);
	return all.length === 0 ? null : all.map(plainAddress);
}

/** Parts of facts.json from mqbench's set-up that affect figures. */
const SetUp = z.object({
	governor: z.string().min(1).nullish().catch(null),
	disk: z
		.object({
			model: z.string().min(1).nullish().catch(null),
			fs: z.string().min(1).nullish().catch(null),
			/** "nvme1n1", ...: those of several are joined. */
			disks: z.array(z.string().min(1)).catch([]),
		})
		.nullish()
		.catch(null),
	/** What differs from what was asked for, one sentence each. */
	remarks: z.array(z.string()).catch([]),
});

/** null: mqbench has not set it up. */
function setUpOf(text: string): z.infer<typeof SetUp> | null {
	try {
		return SetUp.parse(JSON.parse(text));
	} catch {
		return null;
	}
}

/** "RAID 0 of 2 disks: nvme1n1, nvme2n1" */
function disksText(disks: readonly string[]): string[] {
	if (disks.length === 0) return [];
	const count = plural(disks.length, "disk");
	return [`${disks.length > 1 ? "RAID 0 of " : ""}${count}: ${disks.join(", ")}`];
}

function setUpWords(known: ReturnType<typeof setUpOf>, prepared: boolean): string[] {
	if (known === null) return [];
	const { governor, disk, remarks } = known;
	return [
		...(governor ? [`governor ${governor}`] : []),
		// Another disk than the store's does not matter here.
		...(prepared && disk?.model ? [`disk ${disk.model}${disk.fs ? ` (${disk.fs})` : ""}`] : []),
		...remarks,
	];
}

async function askClock(remote: RemoteHost, link: Link, agent: string): Promise<number> {
	const child = link.spawn('echo; exec "$1" clock', [agent]);
	let err = "";
	child.stderr.setEncoding("utf8").on("data", (text) => {
		err += text;
	});
	const ended = child.code;
	try {
		return (await readClock(child)).offsetNs;
	} catch {
		if (!link.alive()) throw await link.lost(err);
		throw unfit(
			remote,
			`the programs do not run there (exit code ${await ended}${err ? `: ${err.trim().split("\n").at(-1)}` : ""})`,
			tell("noexec"),
		);
	} finally {
		child.stdin.end();
		await ended;
	}
}

/** What cannot be measured is unknown; measure the rest anyway. */
async function measureFlush(link: Link, agent: string, folder: string): Promise<Flush | null> {
	const answer = await link.run('echo; echo "mqbench:flush=$("$1" disk "$2" </dev/null)"', [
		agent,
		folder,
	]);
	return parseFlush(answer.values.flush ?? "");
}
