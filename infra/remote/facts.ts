import type { MachineSettings } from "../../runner/model/machine-settings.ts";
import { formatBytes } from "../../runner/units.ts";
import { settingQuestions, settingsOf } from "../machine-settings.ts";
import { identityOf, machineName, platformName } from "../platform.ts";
import type { RemoteHost } from "./host.ts";
import type { Link } from "./link.ts";
import { noShell, unfit } from "./trouble.ts";

/** Facts about a host. */
export interface Facts {
	/** "linux/amd64". */
	readonly platform: string;
	readonly kernel: string;
	readonly cores: number;
	/** "linux amd64, 6.1.0-18, 16 cores, AMD EPYC 9R14, 32GiB", as far as known. */
	readonly machine: string;
	/** Identifies the machine; null: not known. */
	readonly identity: string | null;
	/** Its own, to which we are connected: other hosts of its network reach it there. */
	readonly address?: string;
	readonly settings: MachineSettings;
	/** Answers to additional questions, by name; "" if the host has no answer. */
	readonly more: Readonly<Record<string, string>>;
}

/** Asks a host for its facts; `more` has additional questions, words of sh such as `tar=$(command -v tar)`. Fails if mqbench cannot work there. */
export async function askFacts(
	host: RemoteHost,
	link: Link,
	more: readonly string[] = [],
): Promise<Facts> {
	const { values, err } = await link.run(
		`echo; for fact in ${[...FACTS, ...settingQuestions(), ...more].map((one) => `"${one}"`).join(" ")}; do echo "mqbench:$fact"; done`,
	);
	const { system = "", processor = "", kernel = "", sum = "" } = values;
	const cores = Math.min(Number(values.cores), host.container?.cpus ?? Number.POSITIVE_INFINITY);
	if (system === "" || !(cores > 0)) throw noShell(host, err);
	if (sum === "")
		throw unfit(
			host,
			"sha256sum, which checks copies, is missing",
			"Install it (package coreutils of its distribution)",
		);
	const platform = platformName(system, processor);
	const memory = Number(values.memory) * 1024;
	return {
		platform,
		kernel,
		cores,
		machine: [
			machineName(platform, { kernel, cores }),
			...[values.cpu || values.model || ""].filter(Boolean),
			...(memory > 0 ? [formatBytes(memory)] : []),
		].join(", "),
		// Containers of one machine have process tables of their own.
		identity: identityOf(values.boot ?? "", host.container ? "container" : (values.space ?? "")),
		...(values.address ? { address: values.address } : {}),
		settings: settingsOf(values),
		more: values,
	};
}

// --- internal ---

/** On arm64 only lscpu knows the processor's name. */
const FACTS = [
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
	// What sshd says of the connection: the client's address and port, its own address and port.
	"address=$(echo $SSH_CONNECTION | cut -d ' ' -f 3)",
];
