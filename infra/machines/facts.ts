import { z } from "zod";
import type { MachineSettings } from "../../runner/model/machine-settings.ts";
import { formatBytes, plural } from "../../runner/units.ts";
import { settingQuestions, settingsOf } from "../machine-settings.ts";
import { identityOf, machineName, platformName } from "../platform.ts";
import { readOr } from "../read-or.ts";
import type { ClientFacts } from "../rig.ts";
import { PREPARED } from "./folders.ts";
import type { RemoteHost } from "./host.ts";
import type { Link } from "./link.ts";
import { noShell, unfit } from "./trouble.ts";

/**
 * Facts about a machine. `machine` is "linux amd64, 6.1.0-18, 16 cores, AMD EPYC 9R14, 32GiB", as far as known, and the remarks of
 * mqbench's set-up; `address` is its own, to which we are connected: other machines of its network reach it there.
 */
export interface Facts extends ClientFacts {
	/** "linux/amd64". */
	readonly platform: string;
	readonly identity: string | null;
	readonly settings: MachineSettings;
	/** CPUs that its user may use, in the manner of taskset; "" if unknown. */
	readonly cpus: string;
	/** The folder there for stores. */
	readonly store: string;
	/** The same for people: "/var/lib/mqbench/store (xfs, Amazon EC2 NVMe Instance Storage)", without the user's home. */
	readonly storeText: string;
}

/** Asks a machine for its facts. Fails if mqbench cannot work there. */
export async function askFacts(host: RemoteHost, link: Link): Promise<Facts> {
	const { values, err } = await link.run(
		`for fact in ${[...QUESTIONS, ...settingQuestions()].map((one) => `"${one}"`).join(" ")}; do echo "mqbench:$fact"; done`,
	);
	const { system = "", processor = "", kernel = "" } = values;
	const cores = Math.min(Number(values.cores), host.container?.cpus ?? Number.POSITIVE_INFINITY);
	if (system === "" || !(cores > 0)) throw noShell(host, err);
	for (const [program, use, name] of NEEDED)
		if (!values[program])
			throw unfit(
				host,
				`${name}, which ${use} copies, is missing`,
				`Install it (package ${program === "tar" ? "tar" : "coreutils"} of its distribution)`,
			);
	const prepared = values.prepared === "yes";
	if (host.setUp && host.broker !== undefined && !prepared)
		throw unfit(
			host,
			`mqbench's set-up has prepared it, and ${PREPARED}, the disk that is measured, does not belong to its user`,
			`Name the user who owns it (ls -ld ${PREPARED}), or give it to this one (sudo chown)`,
		);
	const none: z.infer<typeof SetUp> = { disk: null, remarks: [] };
	const { disk, remarks } = readOr(none, () => SetUp.parse(JSON.parse(values.setup ?? "")));
	const disks = prepared ? (disk?.disks ?? []) : [];
	const platform = platformName(system, processor);
	const memory = Number(values.memory) * 1024;
	const behind = [
		values.fs,
		prepared && disk?.model,
		disks.length > 1 && `RAID 0 of ${plural(disks.length, "disk")}: ${disks.join(", ")}`,
	].filter(Boolean);
	return {
		platform,
		kernel,
		cores,
		machine: [
			machineName(platform, { kernel, cores }),
			...[values.cpu || values.model || ""].filter(Boolean),
			...(memory > 0 ? [formatBytes(memory)] : []),
			...remarks,
		].join(", "),
		// Containers of one machine have separate process tables.
		identity: identityOf(values.boot ?? "", host.container ? "container" : (values.space ?? "")),
		...(values.address ? { address: values.address } : {}),
		settings: settingsOf(values),
		cpus: values.allowed ?? "",
		store: prepared ? PREPARED : `${values.home}/.cache/mqbench/store`,
		storeText: `${prepared ? PREPARED : "~/.cache/mqbench/store"}${behind.length > 0 ? ` (${behind.join(", ")})` : ""}`,
	};
}

// --- internal ---

const NEEDED = [
	["sum", "checks", "sha256sum"],
	["tar", "unpacks", "tar"],
] as const;

/** On arm64 only lscpu has the processor's name. The store's file system is the nearest existing folder's. */
const QUESTIONS = [
	"system=$(uname -s)",
	"processor=$(uname -m)",
	"kernel=$(uname -r)",
	"cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)",
	"cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)",
	"model=$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | head -n 1)",
	"memory=$(sed -n 's/^MemTotal: *//p' /proc/meminfo 2>/dev/null | tr -dc 0-9)",
	"boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)",
	"space=$(readlink /proc/self/ns/pid 2>/dev/null)",
	"sum=$(command -v sha256sum)",
	"tar=$(command -v tar)",
	// sshd's data about the connection: the client's address and port, its own address and port.
	"address=$(echo $SSH_CONNECTION | cut -d ' ' -f 3)",
	"setup=$(tr -d '\\n' 2>/dev/null </var/lib/mqbench/facts.json)",
	`prepared=$([ -d ${PREPARED} ] && [ -O ${PREPARED} ] && [ -w ${PREPARED} ] && echo yes)`,
	"home=$(cd && pwd)",
	`fs=$(cd; for d in ${PREPARED} .cache/mqbench/store .cache/mqbench .cache .; do if [ "$d" = ${PREPARED} ]; then [ -O "$d" ] && [ -w "$d" ] || continue; fi; [ -d "$d" ] && stat -f -c %T "$d" 2>/dev/null && break; done)`,
];

/** Parts of facts.json from mqbench's set-up that affect figures. */
const SetUp = z.object({
	disk: z
		.object({
			model: z.string().nullish().catch(null),
			/** "nvme1n1", ...; several are joined. */
			disks: z.array(z.string()).catch([]),
		})
		.nullish()
		.catch(null),
	/** Differences from the request, one sentence each. */
	remarks: z.array(z.string()).catch([]),
});
