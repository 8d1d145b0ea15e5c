import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { failure } from "../errors.ts";
import { unit } from "../model/field.ts";
import { formatBytes } from "../units.ts";
import type { BrokerInstall } from "./install.ts";
import { type Jars, pinned, pomOf } from "./jars.ts";
import type { Program, Setup, Site } from "./process.ts";

// What servers on a JVM share: a java that is new enough, their jars, the heap, and a log on stdout.

export const OLDEST_JAVA = 17;

/** Heap where neither the scenario nor the messages ask for more; on a laptop the generator lives beside it. */
const HEAP_BYTES = 512 * 1024 ** 2;

/** `heap` of a system; `own` says what its own scripts give. */
export function heapField(own: string) {
	return {
		heap: unit(
			"size",
			{
				description: `Heap of each Java process that mqbench starts. Default: 512MiB, or 16 messages if that is more; ${own}.`,
				examples: ["1GiB"],
			},
			(bytes) =>
				bytes < 128 * 1024 ** 2 || bytes > 256 * 1024 ** 3 ? "must be 128MiB to 256GiB" : undefined,
		).optional(),
	} as const;
}

/** How a server on a JVM is run. */
interface OnJvm {
	/** Of the JVM, besides the heap. */
	readonly flags?: readonly string[];
	/** Properties of the server's. */
	defines(node: Site): readonly string[];
	/** Where images have the jars. */
	readonly inImage: string;
	/** Folders below the jars with more of them. Left out: none. */
	readonly more?: readonly string[];
}

/** The jars of a server, got before rented hosts wait for them; its nodes then say the whole command. */
export function jvmProgram(jarsOf: (options: Setup["system"]["options"]) => Jars): Program {
	return {
		prepare: (setup) => findJars(setup, jarsOf(setup.system.options)),
		command: async () => [],
	};
}

/** The command by which a node runs a main class, and the JVM as reports show it. */
export async function onJvm(
	setup: Setup,
	jars: Jars,
	{ flags = [], defines, inImage, more = [] }: OnJvm,
) {
	const { system, messageBytes, image } = setup;
	const java = await findJava(setup, jars.title);
	const classes = image ? null : await findJars(setup, jars);
	const { heap = Math.max(HEAP_BYTES, 16 * messageBytes), version } = system.options as {
		readonly heap?: number;
		readonly version?: string;
	};
	// jps and jstat's counters stay in memory of the process: as files in /tmp they stall it.
	const all = [...flags, "-XX:+PerfDisableSharedMem", "-Djava.awt.headless=true"];
	const text = formatBytes(heap);
	const unpinned = version !== undefined && pinned(jars, version) === null;
	return {
		settings: {
			java: [`-Xms${text}`, `-Xmx${text}`, ...all].join(" "),
			...(classes !== null && system.binary === null && unpinned
				? {
						jars: `checked by Maven's checksums only: mqbench has no sha256 of ${jars.title} ${version}`,
					}
				: {}),
		},
		run(node: Site, main: readonly string[], own: readonly string[] | null = null): string[] {
			const folder = classes === null ? inImage : node.bring(jars.name, classes);
			return [
				java,
				...(own ?? [`-Xms${heap}`, `-Xmx${heap}`, ...all]),
				...defines(node),
				"-cp",
				["", ...more].map((below) => path.posix.join(folder, below, "*")).join(":"),
				...main,
			];
		},
	};
}

/** A server's log on its output, as broker.log keeps it: with times like those of what mqbench does to it. */
export const LOGGING = `rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{yyyy-MM-dd'T'HH:mm:ss.SSS'Z'}{UTC} %p %c{1} %m%n
`;

/** Looks for Java and Maven. `title` for people, `megabytes` of jars; `home`: the variable of an installation that does without Maven. */
export function lookForJava(
	title: string,
	megabytes: number,
	home?: string,
): BrokerInstall["look"] {
	return async ({ env, run, which }) => {
		const missing = (figure: string) => ({
			here: false,
			figure,
			sentence: `${title} needs Java ${OLDEST_JAVA} or newer, and Maven on PATH (which fetches ${title} once)${home ? ` or ${home}` : ""}.`,
		});
		// Its version stands in quotes, on stderr.
		const said = await run("java", "-version");
		const java = /version "((?:1\.)?(\d+)[^"]*)"/.exec(said ?? "");
		if (!java) return missing("no Java");
		if (Number(java[2]) < OLDEST_JAVA) return missing(`Java ${java[1]} is too old`);
		if (home && env[home])
			return {
				here: true,
				figure: `Java ${java[1]}, ${home}`,
				sentence: `mqbench runs ${title} from there.`,
			};
		if ((await which("mvn")) === null) return missing(`Java ${java[1]}, no Maven`);
		return {
			here: true,
			figure: `Java ${java[1]}, Maven`,
			sentence: `The first run downloads ${title} with Maven, ${megabytes} MB once.`,
		};
	};
}

// --- internal ---

const JAVA = {
	linux: "apt-get install default-jre-headless, or dnf install java-21-openjdk-headless",
	darwin: "brew install openjdk",
	other: "https://adoptium.net",
};
const MAVEN = {
	linux: "apt-get install maven, or dnf install maven",
	darwin: "brew install maven",
	other: "https://maven.apache.org/download.cgi",
};

const LEAST = ` ${OLDEST_JAVA} or newer`;

/** A java that is new enough, where the nodes are. Fails with `broker-missing`. */
async function findJava(setup: Setup, title: string): Promise<string> {
	const { system, tools, image, ask, nodes } = setup;
	if (image) return "java";
	const refuse = (found: string, remedy: string, whose = "", least = LEAST) =>
		failure("broker-missing", {
			system: system.key,
			what: `${whose}${title} needs Java${least}, and ${found}`,
			remedy,
		});
	if (ask) {
		await Promise.all(
			nodes.map(async ({ hostname }, i) => {
				const { said } = await ask(i, ["java", "-version"]);
				const version = javaVersion(said);
				if (version !== null && version >= OLDEST_JAVA) return;
				throw refuse(
					version === null && /not found/.test(said)
						? "java is not on PATH there"
						: found("java there", version),
					`Install it there: ${JAVA.linux}`,
					`${hostname}: `,
				);
			}),
		);
		return "java";
	}
	const home = tools.env.JAVA_HOME;
	const java =
		(home && tools.findOnPath("java", { PATH: path.join(home, "bin") })) ||
		tools.findOnPath("java");
	const remedy = `Install it: ${tools.installHere(JAVA)}; or set JAVA_HOME`;
	if (!java) throw refuse("java is not on PATH", remedy, "", "");
	const { stderr } = await promisify(execFile)(java, ["-version"], { timeout: 20_000 }).catch(
		(error) => ({ stderr: String(error) }),
	);
	const version = javaVersion(stderr);
	if (version === null || version < OLDEST_JAVA) throw refuse(found(java, version), remedy);
	return java;
}

/** Folder of the jars: of an installation, or of the cache, where Maven fetches those of a version once. */
async function findJars(
	{ system, tools }: Pick<Setup, "system" | "tools">,
	jars: Jars,
): Promise<string> {
	const { title, name, installed } = jars;
	const { version } = system.options;
	const home = version === undefined ? tools.env[installed?.home ?? ""] : undefined;
	const given = system.binary ?? home;
	if (installed && given) {
		const source = system.binary === null ? installed.home : "binary";
		const folder = path.resolve(given, installed.folder);
		const found = await readdir(folder).catch(() => []);
		if (found.some((jar) => jar.startsWith(installed.jar) && jar.endsWith(".jar"))) return folder;
		throw failure("broker-missing", {
			system: system.key,
			what: `${given} (${source}) is no installation of ${title}: there is no ${installed.folder}/${installed.jar}*.jar in it`,
			remedy: `Correct ${source}, or remove it to have Maven fetch ${title}`,
		});
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
	const own = installed?.home ? `${installed.home}=/path/to/it, or ` : "";
	throw failure("broker-missing", {
		system: system.key,
		what: `mqbench has Maven fetch ${title}, and mvn is not on PATH`,
		remedy: `Install it: ${tools.installHere(MAVEN)}${installed ? `; or use a ${title} that you have: ${own}binary: /path/to/it` : ""}`,
	});
}

/** What a java is that will not do. */
function found(java: string, version: number | null): string {
	return version === null ? `${java} does not say its version` : `${java} is Java ${version}`;
}

/** Major version in the words of `java -version`; null: it does not say one. */
function javaVersion(said: string): number | null {
	const major = /version "(?:1\.)?(\d+)/.exec(said)?.[1];
	return major === undefined ? null : Number(major);
}
