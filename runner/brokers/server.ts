import { randomBytes } from "node:crypto";
import { failure } from "../errors.ts";
import { texts } from "./config.ts";
import type { Ask, BrokerProcess, Described, NodeDescription, Setup, Site } from "./process.ts";

export interface Server {
	/** Null without a process; then there is no image or installation either. */
	readonly process: BrokerProcess | null;
	readonly image: OfficialImage | null;
	readonly program: BuiltProgram | null;
	readonly install: BrokerInstall | null;
	readonly jars?: readonly Jars[];
	/** Why this machine has no other `version`, with the remedy. */
	readonly onlyVersion?: string | undefined;
}

/** Pinned to a default version: next year's runs measure the same server. */
export interface OfficialImage {
	readonly name: string;
	readonly version: string;
	readonly suffix?: string;
}

/** Jars that Maven fetches. Their folder below `runner/brokers/` has the pom, and the sha256s of some versions. */
export interface Jars {
	readonly title: string;
	/** The pom's property for the version, and the name in the cache. */
	readonly name: string;
	readonly folder: string;
	readonly version: string;
	/** Contents of an installation (`binary`): a folder, and the prefix of a jar there. */
	readonly installed?: { readonly folder: string; readonly jar: string };
}

/** A Go program: the module below `extensions/` that pins its dependencies, the package to build, and the file's name. */
export interface BuiltProgram {
	readonly name: string;
	readonly module: string;
	readonly package: string;
	readonly tags?: string;
	/** Built on first use instead of with k6. */
	readonly whenNeeded?: true;
}

/** Whether target local can start a broker, and how it gets there. */
export interface BrokerInstall {
	readonly from: string;
	/** `here`: a run could start it. The others describe the finding. */
	look(machine: InstallMachine): Promise<{
		readonly here: boolean;
		readonly figure: string;
		readonly sentence: string;
	}>;
}

/** Null for anything unreadable, never a guess. */
export interface InstallMachine {
	run(program: string, ...args: string[]): Promise<string | null>;
	which(program: string): Promise<string | null>;
}

export interface Parts<Options> {
	readonly image: OfficialImage | null;
	/** One port for clients, or all ports. */
	readonly ports: number | BrokerProcess["ports"];
	readonly container?: BrokerProcess["container"];
	launch(setup: Setup, options: Options): Promise<Launch> | Launch;
}

type Usual = "healthy" | "metrics" | "data" | "flushes" | "startMs" | "stopMs";

/** By default its data is on disk, without flushes, it comes up within 30 s and goes down within 5 s. */
export interface Launch extends Partial<Pick<Described, Usual>> {
	readonly url: string;
	readonly log: Log;
	readonly settings: Readonly<Record<string, unknown>>;
	/** `argv` follows the program. */
	node(site: Site, index: number): Node | Promise<Node>;
}
type Node = Partial<NodeDescription> & Pick<NodeDescription, "argv">;

interface Log {
	/** Prefix of its version in reports. */
	readonly name: string | ((line: RegExpExecArray) => string);
	/** The version is the last group. */
	readonly version: RegExp;
	/** Logged by each node that takes connections. Default: the version's line. */
	readonly up?: RegExp;
}

type Command = (setup: Setup, node: Site, index: number) => Promise<readonly string[]>;

/** The cast is safe: the options are of the broker whose file made these parts. */
export function processOf<Options>(
	{ ports, container = { data: "/data" }, launch }: Parts<Options>,
	how: Pick<BrokerProcess, "prepare" | "packages" | "onHosts"> & { readonly command: Command },
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

/** A server that mqbench builds unless the scenario names a binary or an image. */
export function goServer<Options>({
	program,
	image,
	bare = [],
	remark = "",
	...parts
}: Parts<Options> & {
	/** Its module is the folder of its name in `extensions/servers/`, unless it says another one. */
	readonly program: Omit<BuiltProgram, "module"> & Partial<BuiltProgram>;
	/** Command for an image without an entry point. */
	readonly bare?: readonly string[];
	readonly remark?: string;
}): Server & { readonly process: BrokerProcess } {
	const { name, whenNeeded } = program;
	const when = whenNeeded ? "on first use" : "with mqbench";
	return {
		image,
		program: { module: `servers/${name}`, ...program },
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

/** A server that the user or the host has installed. */
export function installedServer<Options>({
	name,
	from,
	install,
	flag,
	inImage = [],
	command,
	...parts
}: Parts<Options> & {
	/** Debian's package has the same name. */
	readonly name: string;
	readonly from: string;
	/** The end of "Install it: ...". */
	readonly install: string;
	readonly flag?: string;
	/** Follows an image's entry point. */
	readonly inImage?: readonly string[];
	/** Precedes a node's arguments. Default: the program from PATH, `binary` or the host. */
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
						"mqbench runs it next to others, on free ports and with its data in a temporary folder.",
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

/** Values that sh prints on a node's host as "mqbench:<name>=<value>". Fails with `broker-missing` without `program`. */
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

export function factsIn(said: string): Record<string, string> {
	return Object.fromEntries(
		[...said.matchAll(/^mqbench:(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value?.trim()]),
	);
}

export type Login = ReturnType<typeof newLogin>;

/**
 * A new login for each start because others may reach the broker's ports. It is only in private files, the broker's environment and the
 * load generator's URL: never on a command line, and masked in reports.
 */
export function newLogin() {
	const user = "mqbench";
	const password = randomBytes(12).toString("hex");
	return { user, password, inUrl: `${user}:${password}@` };
}

// --- internal ---

function signsOf({ name, version, up = version }: Log) {
	let says = "";
	return {
		ready(line: string) {
			const match = version.exec(line);
			if (match && says === "")
				says = `${typeof name === "string" ? name : name(match)} ${match.at(-1)}`;
			return up.test(line);
		},
		version: () => says,
	};
}
