import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { failure } from "../errors.ts";
import { unit } from "../model/field.ts";
import { tell } from "../text/tell.ts";
import { formatBytes } from "../units.ts";
import type { BrokerInstall } from "./install.ts";
import { type Jars, pinned, pomOf } from "./jars.ts";
import type { Setup } from "./process.ts";

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

/** Flags of the JVM: the heap, and the counters of jps and jstat in memory of the process, as files in /tmp stall it. */
export function jvmFlags(
	{ system, messageBytes }: Pick<Setup, "system" | "messageBytes">,
	...others: readonly string[]
): { readonly argv: string[]; readonly text: string } {
	const { heap = Math.max(HEAP_BYTES, 16 * messageBytes) } = system.options as {
		readonly heap?: number;
	};
	const flags = [...others, "-XX:+PerfDisableSharedMem", "-Djava.awt.headless=true"];
	const text = formatBytes(heap);
	return {
		argv: [`-Xms${heap}`, `-Xmx${heap}`, ...flags],
		text: [`-Xms${text}`, `-Xmx${text}`, ...flags].join(" "),
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

/** A java that is new enough, where the nodes are. Fails with `broker-missing`. */
export async function findJava(setup: Setup, title: string): Promise<string> {
	const { system, tools, image, ask, nodes } = setup;
	if (image) return "java";
	const refuse = (found: string, remedy: string, whose = "", least = LEAST) =>
		failure("broker-missing", {
			system: system.key,
			what: tell("java-needed", { whose, title, least, found }),
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
						? tell("java-absent-there")
						: found(tell("java-there"), version),
					tell("java-install-there", { how: JAVA.linux }),
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
	const remedy = tell("java-install-here", { how: tools.installHere(JAVA) });
	if (!java) throw refuse(tell("java-absent"), remedy, "", "");
	const { stderr } = await promisify(execFile)(java, ["-version"], { timeout: 20_000 }).catch(
		(error) => ({ stderr: String(error) }),
	);
	const version = javaVersion(stderr);
	if (version === null || version < OLDEST_JAVA) throw refuse(found(java, version), remedy);
	return java;
}

/** Folder of the jars of a version, which Maven fetches once. `instead`: what else a person could do, behind "; or ". */
export async function fetchJars(
	{ system, tools }: Pick<Setup, "system" | "tools">,
	jars: Jars,
	{ version, instead }: { readonly version?: string; readonly instead?: string } = {},
): Promise<string> {
	const mvn = tools.findOnPath("mvn");
	if (!mvn)
		throw failure("broker-missing", {
			system: system.key,
			what: tell("maven-absent", { title: jars.title }),
			remedy: `Install it: ${tools.installHere(MAVEN)}${instead === undefined ? "" : `; or ${instead}`}`,
		});
	return tools.jars({
		name: jars.name,
		pom: pomOf(jars),
		properties: version === undefined ? {} : { [jars.name]: version },
		sums: pinned(jars, version),
		mvn,
		system: system.key,
	});
}

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
			sentence: tell("java-and-maven", {
				title,
				oldest: OLDEST_JAVA,
				home: home ? ` or ${home}` : "",
			}),
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
	linux: tell("java-install"),
	darwin: "brew install openjdk",
	other: "https://adoptium.net",
};
const MAVEN = {
	linux: tell("maven-install"),
	darwin: "brew install maven",
	other: "https://maven.apache.org/download.cgi",
};

const LEAST = tell("java-least", { oldest: OLDEST_JAVA });

/** What a java is that will not do. */
function found(java: string, version: number | null): string {
	return version === null ? tell("java-silent", { java }) : tell("java-old", { java, version });
}

/** Major version in the words of `java -version`; null: it does not say one. */
function javaVersion(said: string): number | null {
	const major = /version "(?:1\.)?(\d+)/.exec(said)?.[1];
	return major === undefined ? null : Number(major);
}
