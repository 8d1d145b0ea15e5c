import path from "node:path";
import { cacheFolder } from "../../infra/binaries/cache.ts";
import { formatBytes, formatCount, formatDuration } from "../units.ts";
import { bad, type Check, type Found, ok, unknown, warn } from "./finding.ts";
import type { Machine } from "./this-machine.ts";
import { timeAt, timesText } from "./times.ts";

/** Memory, files, disks and the way through loopback. */
export const roomChecks: readonly Check[] = [
	{ name: "loopback", alone: true, look: loopback },
	{ name: "swap", alone: false, look: swap },
	{ name: "open files", alone: false, look: openFiles },
	{ name: "disk", alone: false, look: disk },
];

// --- internal ---

const SLOW_NS = 2e6;

async function loopback(machine: Machine): Promise<Found> {
	const times = await machine.loopback();
	if (times.length === 0) return unknown("Nothing came back in time.");
	const figure = timesText(times);
	const what = `Round trip of 256 B over TCP within this process (${formatCount(times.length)} times), Node's event loop included.`;
	if (timeAt(times, 99) <= SLOW_NS) return ok(figure, what);
	return warn(
		figure,
		`${what} Above ${formatDuration(SLOW_NS)} at p99 a local broker cannot look fast.`,
		"Stop other programs, and look for a firewall or an agent that inspects loopback.",
	);
}

const SWAP_BYTES = 64 * 1024 ** 2;

async function swap(machine: Machine): Promise<Found> {
	const text = await machine.read("/proc/meminfo");
	const bytes = (name: string) =>
		Number(new RegExp(`^${name}: +(\\d+) kB$`, "m").exec(text ?? "")?.[1]) * 1024;
	const [all, free] = [bytes("SwapTotal"), bytes("SwapFree")];
	if (Number.isNaN(all) || Number.isNaN(free))
		return unknown("The kernel does not say how much is swapped out.");
	const figure = all === 0 ? "none" : `${formatBytes(all - free)} in use`;
	if (all - free <= SWAP_BYTES)
		return ok(figure, "No message waits for memory that was swapped to disk.");
	return warn(
		figure,
		"Memory was short; each page that comes back from disk during a run adds milliseconds of latency.",
		"Stop what uses the memory, then: sudo swapoff -a",
	);
}

/** The limit that counts is the hard one: programs in Go, k6 and nats-server among them, raise the soft one themselves. */
const ENOUGH_FILES = 4096;

async function openFiles(machine: Machine): Promise<Found> {
	const [soft, hard] = await Promise.all(
		["ulimit -S -n", "ulimit -H -n"].map((command) => machine.run("sh", "-c", command)),
	);
	if (!soft || !hard) return unknown("The shell does not say how many files may be open.");
	const amount = (text: string) => (text === "unlimited" ? text : formatCount(Number(text)));
	const figure = soft === hard ? amount(hard) : `${amount(soft)}, at most ${amount(hard)}`;
	if (hard === "unlimited" || Number(hard) >= ENOUGH_FILES)
		return ok(figure, "Enough for thousands of connections.");
	return warn(
		figure,
		"Each connection takes one in the load generator and one in the broker.",
		`Raise the hard limit to ${ENOUGH_FILES} or more (ulimit -Hn as root, /etc/security/limits.conf), or use fewer connections.`,
	);
}

const TIGHT_BYTES = 1024 ** 3;
const FULL_BYTES = 50 * 1024 ** 2;

/** Where builds, brokers' data and results go. */
async function disk(machine: Machine): Promise<Found[]> {
	const disks = [
		[
			"disk of the cache",
			cacheFolder(machine.env, process.platform),
			"the load generator and its tools",
			"MQBENCH_CACHE_DIR",
		],
		["disk for temporary files", machine.temporary, "the brokers' data", "TMPDIR"],
		["disk here", machine.cwd, "the results, in reports/", "--out"],
	] as const;
	return Promise.all(
		disks.map(async ([check, folder, holds, option]) => {
			const free = await machine.freeBytes(folder);
			const where = shorten(folder, machine);
			return { check, ...spaceOf(free, where, holds, option) };
		}),
	);
}

function spaceOf(free: number | null, folder: string, holds: string, option: string): Found {
	if (free === null) return unknown(`The free space of ${folder} cannot be read.`);
	const figure = `${formatBytes(free)} free`;
	const sentence = `${folder} holds ${holds}.`;
	if (free >= TIGHT_BYTES) return ok(figure, sentence);
	const remedy = `Free some space, or choose another folder with ${option}.`;
	return (free < FULL_BYTES ? bad : warn)(figure, sentence, remedy);
}

/** "~/.cache/mqbench": shorter, and fit to be shown to others. */
function shorten(folder: string, { env }: Machine): string {
	const home = env.HOME;
	if (!home || path.dirname(home) === home) return folder;
	return folder === home || folder.startsWith(`${home}${path.sep}`)
		? `~${folder.slice(home.length)}`
		: folder;
}
