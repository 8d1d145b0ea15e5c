import { randomBytes } from "node:crypto";
import { failure } from "../errors.ts";
import { texts } from "./config.ts";
import type { Ask, BrokerProcess, Described, NodeDescription, Setup, Site } from "./process.ts";

/** The server of a broker: how it is run, and where it comes from. */
export interface Server {
	/** null: it has no process, and then no image and no installation. */
	readonly process: BrokerProcess | null;
	readonly image: OfficialImage | null;
	/** Program of Go that mqbench builds for it; null: none. */
	readonly program: BuiltProgram | null;
	readonly install: BrokerInstall | null;
	/** What Maven fetches for it. Left out: nothing. */
	readonly jars?: readonly Jars[];
	/** Why it has no other `version` on this machine, and what to do. Left out: it has. */
	readonly onlyVersion?: string | undefined;
}

/**
 * The official image: the version that a scenario gets when it names none, and what stands around it in the tag. It is pinned: a run of next
 * year measures the same server, unless the scenario says otherwise.
 */
export interface OfficialImage {
	readonly name: string;
	readonly version: string;
	readonly suffix?: string;
}

/** A server on a JVM, as jars that Maven fetches: a folder below `runner/brokers/` has the pom, and the sha256 of the jars of some versions. */
export interface Jars {
	/** For people: "Kafka". */
	readonly title: string;
	/** The property of the pom that is the version, and what the cache calls them. */
	readonly name: string;
	readonly folder: string;
	/** The version that the pom names. */
	readonly version: string;
	/** How an installation of it looks, which `binary` may name: a folder, and what a jar there begins with. Left out: it may not. */
	readonly installed?: { readonly folder: string; readonly jar: string };
}

/** A program of Go: a module below `extensions/`, which pins all that goes into it, the package that is built, and its file's name. */
export interface BuiltProgram {
	readonly name: string;
	readonly module: string;
	readonly package: string;
	/** Build tags. Left out: none. */
	readonly tags?: string;
	/** It is built when a broker first asks for it. Left out: with k6, before the first run. */
	readonly whenNeeded?: true;
}

/** Whether a broker can be started on this machine (target local), and how it gets there. */
export interface BrokerInstall {
	/** Where it comes from, for tables. */
	readonly from: string;
	/** What of it is here. `here`: a run could start it; what was found in short, and what that means in one sentence. */
	look(machine: InstallMachine): Promise<{
		readonly here: boolean;
		readonly figure: string;
		readonly sentence: string;
	}>;
}

/** What is read of a machine; what cannot be read is null, never a guess. */
export interface InstallMachine {
	/** What a command prints on stdout and stderr. */
	run(program: string, ...args: string[]): Promise<string | null>;
	/** Where a program lies. */
	which(program: string): Promise<string | null>;
}

/** A server, by what differs from others. */
export interface Parts<Options> {
	readonly image: OfficialImage | null;
	/** The port of its only kind, or all of them. */
	readonly ports: number | BrokerProcess["ports"];
	/** Left out: images keep data in /data. */
	readonly container?: BrokerProcess["container"];
	launch(setup: Setup, options: Options): Promise<Launch> | Launch;
}

/** What a server is started with, and how it tells that it is up. */
export interface Launch extends Pick<Described, "healthy"> {
	readonly url: string;
	readonly log: Log;
	/** As reports show them. */
	readonly settings: Readonly<Record<string, unknown>>;
	/** Left out: on disk. */
	readonly data?: Described["data"];
	/** What it keeps waits for a disk. Left out: it does not. */
	readonly flushes?: boolean;
	/** Left out: 30 s to come up, 5 s to go down. */
	readonly startMs?: number;
	readonly stopMs?: number;
	/** `argv`: behind the program. */
	node(site: Site, index: number): Node | Promise<Node>;
}
type Node = Partial<NodeDescription> & Pick<NodeDescription, "argv">;

/** What a server logs while it starts. */
interface Log {
	/** What stands before its version in reports. */
	readonly name: string | ((line: RegExpExecArray) => string);
	/** The line with it, which is the last group. */
	readonly version: RegExp;
	/** The line by which it takes connections (left out: that one), and how many of them each node has (one). */
	readonly up?: RegExp;
	readonly times?: number;
}

type Command = (setup: Setup, node: Site, index: number) => Promise<readonly string[]>;

/** How a server is run, and how the program of a node is got. The scenario's word chose the file that says so: the options are its own. */
export function processOf<Options>(
	{ ports, container = { data: "/data" }, launch }: Parts<Options>,
	how: Pick<BrokerProcess, "prepare" | "packages" | "onHosts"> & {
		readonly command: Command;
	},
): BrokerProcess {
	const { command, ...process } = how;
	return {
		...process,
		container,
		ports: typeof ports === "number" ? () => [{ number: ports, from: "clients" }] : ports,
		async describe(setup) {
			const made = await launch(setup, setup.system.options as Options);
			const { node, settings, url, log, ...more } = made;
			return {
				data: "disk",
				flushes: false,
				startMs: 30_000,
				stopMs: 5_000,
				...more,
				...signsOf(log),
				url: () => url,
				settings: texts(settings),
				nodes: await Promise.all(
					setup.nodes.map(async (site, i) => {
						const [first, described] = [await command(setup, site, i), await node(site, i)];
						return { files: {}, ...described, argv: [...first, ...described.argv] };
					}),
				),
			};
		},
	};
}

/** A server that mqbench builds, where the scenario names no other. */
export function goServer<Options>({
	program,
	image,
	bare = [],
	remark = "",
	...parts
}: Parts<Options> & {
	readonly program: BuiltProgram;
	/** The program of an image that has no entry point. */
	readonly bare?: readonly string[];
	/** What people are to know of it. */
	readonly remark?: string;
}): Server & { readonly process: BrokerProcess } {
	const { name, whenNeeded } = program;
	const when = whenNeeded ? "by mqbench when it is first needed" : "with mqbench";
	return {
		image,
		program,
		onlyVersion: `mqbench brings one version of ${name}; for another one write binary: /path/to/${name}`,
		install: {
			from: `${name}, built ${when}; or \`binary: /path/to/${name}\``,
			look: async () => ({
				here: true,
				figure: whenNeeded ? "built when needed" : "built in",
				sentence: `mqbench brings ${name}${remark}; binary names another build.`,
			}),
		},
		process: processOf(
			{ image, ...parts },
			{
				packages: [],
				onHosts: {
					text: () =>
						image
							? `${name} ${image.version.replace(/^v/, "")}, copied`
							: `mqbench's ${name}, copied`,
				},
				async prepare({ system, tools }) {
					if (system.binary === null) await tools.built(name);
				},
				async command({ system, tools, image }, { bring }) {
					if (image) return image.entrypoint.length > 0 ? [] : bare;
					const { binary } = system;
					return [
						binary === null ? bring(name, await tools.built(name)) : tools.findProgram(system),
					];
				},
			},
		),
	};
}

/** A server that users and hosts have of their own. */
export function installedServer<Options>({
	name,
	from,
	install,
	flag,
	inImage = [],
	command,
	...parts
}: Parts<Options> & {
	/** Also Debian's package. */
	readonly name: string;
	/** Where it comes from, for tables. */
	readonly from: string;
	/** How people get it, as the end of "Install it: ...". */
	readonly install: string;
	/** The argument by which it prints its version. Left out: it has none. */
	readonly flag?: string;
	/** Behind an image's entry point. */
	readonly inImage?: readonly string[];
	/** What stands before a node's arguments. Left out: the program of PATH, of `binary` or of the host. */
	readonly command?: Command;
}): Server & { readonly process: BrokerProcess } {
	return {
		image: parts.image,
		program: null,
		onlyVersion: `mqbench runs the one that is there; for another one write binary: /path/to/${name}`,
		install: {
			from,
			async look({ run, which }) {
				const file = await which(name);
				if (file === null)
					return { here: false, figure: "not found", sentence: `It needs ${from}.` };
				const said = flag === undefined ? null : await run(name, flag);
				const version = /\d+\.\d[\w.-]*/.exec(said ?? "")?.[0];
				return {
					here: true,
					figure: version === undefined ? file : `${name} ${version}`,
					sentence:
						"mqbench runs it beside others, on free ports and with its data in a temporary folder.",
				};
			},
		},
		process: processOf(parts, {
			packages: [name],
			onHosts: { text: () => `the host's ${name}` },
			async command(setup, node, index) {
				const { system, tools, image, ask } = setup;
				if (command) return command(setup, node, index);
				if (image) return inImage;
				if (!ask) return [tools.findProgram(system, { name, install })];
				const line = `echo "mqbench:program=$(command -v ${name})"`;
				return [(await askHost({ ...setup, ask }, index, name, line)).program];
			},
		}),
	};
}

/**
 * What lines of sh print as "mqbench:<name>=<value>" on the host of a node (from 0), of which `program` must not be empty. Fails with
 * `broker-missing`, which names the host and Debian's package.
 */
export async function askHost(
	{ system, nodes, ask }: Setup & { readonly ask: Ask },
	node: number,
	name: string,
	lines: string,
): Promise<Readonly<Record<string, string>> & { readonly program: string }> {
	const { said } = await ask(node, [
		"sh",
		"-c",
		`PATH="$PATH:/usr/sbin:/usr/local/sbin"; ${lines}`,
	]);
	const facts = factsIn(said);
	if (facts.program) return { ...facts, program: facts.program };
	throw failure("broker-missing", {
		system: system.key,
		what: `${name} is not on ${nodes[node]?.hostname}`,
		remedy: `Install it there: apt-get install ${name}; mqbench starts it, so that its own service can be stopped`,
	});
}

/** What such lines have printed. */
export function factsIn(said: string): Record<string, string> {
	return Object.fromEntries(
		[...said.matchAll(/^mqbench:(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value?.trim()]),
	);
}

/** Who may use a broker that mqbench starts. */
export interface Login {
	readonly user: string;
	readonly password: string;
	/** As a URL has them, in front of the address. */
	readonly inUrl: string;
}

/**
 * A new one for each start: whoever else is on the machine, in the cluster or on the network reaches the broker's ports, too. It stands in files
 * that only the broker's user may read, or in its environment, and in the URL that the load generator gets; on no command line, and reports
 * hide it as they hide everybody's.
 */
export function newLogin(): Login {
	const user = "mqbench";
	const password = randomBytes(12).toString("hex");
	return { user, password, inUrl: `${user}:${password}@` };
}

// --- internal ---

function signsOf({
	name,
	version,
	up = version,
	times = 1,
}: Log): Pick<Described, "ready" | "version"> {
	let says = "";
	const lines = new Map<number, number>();
	return {
		ready(line, node) {
			const match = version.exec(line);
			if (match && says === "")
				says = `${typeof name === "string" ? name : name(match)} ${match.at(-1)}`;
			if (!up.test(line)) return false;
			lines.set(node, (lines.get(node) ?? 0) + 1);
			return (lines.get(node) ?? 0) >= times;
		},
		version: () => says,
	};
}
