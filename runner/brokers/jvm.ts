import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { failure } from "../errors.ts";
import { bytes } from "../model/field.ts";
import { packageFolder } from "../package.ts";
import { formatBytes } from "../units.ts";
import type { SystemOptionsOfAnyBroker } from "./fields.ts";
import type { BrokerProcess, Setup, Site } from "./process.ts";
import {
	type Jars,
	type Launch,
	type OfficialImage,
	type Parts,
	processOf,
	type Server,
} from "./server.ts";

const OLDEST_JAVA = 17;
/** Small because a laptop runs the load generator as well. */
const HEAP_BYTES = 512 * 1024 ** 2;

export const heapField = {
	heap: bytes(
		"Heap of each Java process that mqbench starts; less than the brokers' own scripts give. Default: 512MiB, or 16 messages if that is more.",
		["1GiB"],
		128 * 1024 ** 2,
		256 * 1024 ** 3,
	).optional(),
} as const;

export function pomOf(jars: Jars): string {
	return path.join(folderOf(jars), "pom.xml");
}

/** May not exist; `npm run pins -- <name>` writes it. */
export function pinsOf(jars: Jars, version: string = jars.version): string {
	return path.join(folderOf(jars), `jars-${version}.sha256`);
}

export function pinned(jars: Jars, version: string = jars.version): string | null {
	const file = pinsOf(jars, version);
	return existsSync(file) ? file : null;
}

interface JvmParts<Options> extends Omit<Parts<Options>, "launch"> {
	readonly image: OfficialImage;
	/** One for each possible server, the usual one first. */
	readonly jars: readonly Jars[];
	which?(options: Options): Jars;
	readonly megabytes: number;
	readonly remark: string;
	/** "up to 1.9 GB of memory" */
	readonly needs?: string;
	readonly flags?: readonly string[];
	/** Further Log4j 2 configuration if it logs with that. Times are UTC, like mqbench's own in broker.log. */
	readonly logging?: string;
	defines?(node: Site): readonly string[];
	/** Folder of the jars in images; `more` are subfolders with jars. */
	readonly inImage: string;
	readonly more?: readonly string[];
	/** `run` makes a node's command. Defaults: 60 s to start, 10 s to stop. */
	launch(setup: Setup, options: Options, run: Run): Promise<Launch> | Launch;
}
/** `flags` replace the server's. */
type Run = (node: Site, main: readonly string[], flags?: readonly string[]) => string[];

export function jvmServer<Options>(
	parts: JvmParts<Options>,
): Server & { readonly process: BrokerProcess } {
	const { jars, image, logging, megabytes, needs } = parts;
	const [usual] = jars as readonly [Jars];
	const { title } = usual;
	const { which = () => usual } = parts;
	const jarsOf = (options: SystemOptionsOfAnyBroker) => which(options as Options);
	return {
		image,
		program: null,
		jars,
		install: {
			from: `Java ${OLDEST_JAVA} or newer, and Maven${parts.remark}`,
			async look({ run, which }) {
				const java = versionIn(await run("java", "-version"));
				const maven = (await which("mvn")) !== null;
				const here = java !== null && java.major >= OLDEST_JAVA && maven;
				return {
					here,
					figure: `${java ? `Java ${java.text}` : "no Java"}, ${maven ? "Maven" : "no Maven"}`,
					sentence: here
						? `The first run downloads ${title} with Maven, ${megabytes} MB once.${needs ? ` It needs ${needs}.` : ""}`
						: `${title} needs Java ${OLDEST_JAVA} or newer, and Maven on PATH (which fetches it once).`,
				};
			},
		},
		process: processOf<Options>(
			{
				...parts,
				async launch(setup, options) {
					const jvm = await onJvm(setup, which(options), parts);
					const made = await parts.launch(setup, options, jvm.run);
					const settings = { ...made.settings, ...jvm.settings };
					const log = logging === undefined ? {} : { [LOG4J]: TO_OUTPUT + logging };
					const node: Launch["node"] = async (site, i) => {
						const { files, ...others } = await made.node(site, i);
						return { ...others, files: { ...files, ...log } };
					};
					return { startMs: 60_000, stopMs: 10_000, ...made, settings, node };
				},
			},
			{
				packages: ["default-jre-headless"],
				onHosts: {
					text(options) {
						const { title, version } = jarsOf(options);
						return `${title} ${options.version ?? version}, copied, on the host's Java`;
					},
					anyVersion: true,
				},
				prepare: (setup) => findJars(setup, jarsOf(setup.system.options)),
				command: async () => [],
			},
		),
	};
}

// --- internal ---

const LOG4J = "log4j2.properties";
export const TO_OUTPUT = `rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{yyyy-MM-dd'T'HH:mm:ss.SSS'Z'}{UTC} %p %c{1} %m%n
`;

function folderOf({ folder }: Jars): string {
	return path.join(packageFolder, "runner", "brokers", folder);
}

/** The command for a main class, and the JVM's settings for reports. */
async function onJvm<Options>(
	setup: Setup,
	jars: Jars,
	{ flags = [], logging, defines, inImage, more = [] }: JvmParts<Options>,
) {
	const { system, messageBytes, image } = setup;
	const java = await findJava(setup, jars.title);
	const classes = image ? null : await findJars(setup, jars);
	const { heap = Math.max(HEAP_BYTES, 16 * messageBytes), version } =
		system.options as SystemOptionsOfAnyBroker & { readonly heap?: number };
	// Keeps the counters of jps and jstat in memory: as files in /tmp they stall the JVM.
	const all = [...flags, "-XX:+PerfDisableSharedMem", "-Djava.awt.headless=true"];
	const text = formatBytes(heap);
	const unpinned = classes !== null && system.binary === null && pinned(jars, version) === null;
	const run: Run = (node, main, own = [`-Xms${heap}`, `-Xmx${heap}`, ...all]) => {
		const folder = classes === null ? inImage : node.bring(jars.name, classes);
		const classPath = ["", ...more].map((below) => path.posix.join(folder, below, "*")).join(":");
		const log = logging === undefined ? [] : [`-Dlog4j2.configurationFile=${node.folder}/${LOG4J}`];
		return [java, ...own, ...log, ...(defines?.(node) ?? []), "-cp", classPath, ...main];
	};
	return {
		run,
		settings: {
			java: [`-Xms${text}`, `-Xmx${text}`, ...all].join(" "),
			...(unpinned && {
				jars: `checked by Maven's checksums only: mqbench has no sha256 of ${jars.title} ${version}`,
			}),
		},
	};
}

/** Fails with `broker-missing` unless every node has a java that is new enough. */
async function findJava({ system, tools, image, ask, nodes }: Setup, title: string) {
	if (image) return "java";
	const { JAVA_HOME } = tools.env;
	const own = JAVA_HOME ? tools.findOnPath("java", { PATH: path.join(JAVA_HOME, "bin") }) : null;
	const java = ask ? "java" : (own ?? tools.findOnPath("java"));
	const version = async (node: number) => {
		if (java === null) return null;
		if (ask) return versionIn((await ask(node, [java, "-version"])).said);
		const said = promisify(execFile)(java, ["-version"], { timeout: 20_000 });
		return versionIn((await said.catch(() => null))?.stderr);
	};
	for (const [i, { hostname }] of (ask ? nodes : nodes.slice(0, 1)).entries()) {
		const there = await version(i);
		if (there !== null && there.major >= OLDEST_JAVA) continue;
		const found = there === null ? "java is not on PATH" : `${java} is Java ${there.major}`;
		throw failure("broker-missing", {
			system: system.key,
			what: `${title} needs Java ${OLDEST_JAVA} or newer, and ${found}${ask ? ` on ${hostname}` : ""}`,
			remedy: `Install it${ask ? " there" : ""}: apt-get install default-jre-headless, dnf install java-21-openjdk-headless, or brew install openjdk${ask ? "" : "; or set JAVA_HOME"}`,
		});
	}
	return java ?? "java";
}

/** The jars of an installation, or of the cache, which Maven fills once per version. */
async function findJars(
	{ system, tools }: Pick<Setup, "system" | "tools">,
	jars: Jars,
): Promise<string> {
	const { title, name, installed } = jars;
	const { version } = system.options;
	const missing = (what: string, remedy: string) =>
		failure("broker-missing", { system: system.key, what, remedy });
	if (installed && system.binary !== null) {
		const folder = path.resolve(system.binary, installed.folder);
		const found = await readdir(folder).catch(() => []);
		if (found.some((jar) => jar.startsWith(installed.jar) && jar.endsWith(".jar"))) return folder;
		throw missing(
			`${system.binary} (binary) is no installation of ${title}: there is no ${installed.folder}/${installed.jar}*.jar in it`,
			`Correct binary, or remove it to have Maven fetch ${title}`,
		);
	}
	const mvn = tools.findOnPath("mvn");
	if (mvn)
		return tools.jars({
			name,
			pom: pomOf(jars),
			properties: version === undefined ? {} : { [name]: version },
			sums: pinned(jars, version),
			mvn,
			system: system.key,
		});
	throw missing(
		`mqbench has Maven fetch ${title}, and mvn is not on PATH`,
		`Install it: apt-get install maven, dnf install maven, or brew install maven${installed ? `; or use a ${title} that you have: binary: /path/to/it` : ""}`,
	);
}

function versionIn(said: string | null | undefined) {
	const [, text, major] = /version "((?:1\.)?(\d+)[^"]*)"/.exec(said ?? "") ?? [];
	return text === undefined ? null : { text, major: Number(major) };
}
