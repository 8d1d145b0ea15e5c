import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { script, testFolder } from "../../infra/test-folder.fake.ts";
import { MqbenchError } from "../errors.ts";
import { goldenBlocks } from "../tests/golden.fake.ts";
import { TO_OUTPUT } from "./jvm.ts";
import type { Setup, Site } from "./process.ts";
import { describedHere, describedThere } from "./started.fake.ts";

type Some = Readonly<Record<string, unknown>>;

/** A folder of fake programs, with a Maven that has the jars, and an installation of each JVM server. */
function programs(java = "17.0.1"): string {
	const folder = testFolder();
	for (const name of ["redis-server", "rabbitmq-server", "mosquitto", "erl", "epmd"])
		script(path.join(folder, name), "exit 1");
	script(path.join(folder, "java"), `echo 'openjdk version "${java}"' >&2`);
	script(
		path.join(folder, "mvn"),
		// biome-ignore lint/suspicious/noTemplateCurlyInString: of the shell.
		'for a; do case "$a" in -DoutputDirectory=*) echo > "${a#*=}/a.jar";; esac; done',
	);
	for (const jar of [
		"libs/kafka_2.13-9.jar",
		"lib/artemis-server-9.jar",
		"lib/activemq-broker-9.jar",
		"lib/org.apache.pulsar-pulsar-broker-9.jar",
	])
		file(path.join(folder, "installed", jar));
	for (const version of ["3.13.2", "4.3.1"]) {
		file(path.join(folder, `rabbitmq-${version}`, "sbin", "rabbitmq-server"));
		mkdirSync(path.join(folder, `rabbitmq-${version}`, "plugins", `rabbit-${version}`), {
			recursive: true,
		});
	}
	return folder;
}

function file(name: string): void {
	mkdirSync(path.dirname(name), { recursive: true });
	script(name, "exit 1");
}

/** Paths of `binary` are below the folder of programs. */
interface Given {
	readonly system: Some & { readonly broker: string };
	readonly at?: "hosts" | "image";
	readonly level?: Setup["level"];
	readonly messageBytes?: number;
	readonly site?: Partial<Site>;
	/** Java's version; `only`: the programs that exist, all by default. */
	readonly java?: string;
	readonly only?: readonly string[];
	/** What hosts answer. */
	readonly said?: string;
	/** Free memory there. */
	readonly freeBytes?: number;
	/** Lines of its log, if only those are asked about. */
	readonly log?: readonly string[];
}

const IMAGE = {
	name: "it:1",
	digest: null,
	id: "sha256:1",
	entrypoint: ["/serve"],
	env: { RABBITMQ_VERSION: "4.1.0" },
};
const SAID = `openjdk version "17.0.1"
mqbench:program=/usr/bin/server
mqbench:version=3.10.8
mqbench:names=/usr/bin/epmd
`;

function described({ system, at, bin, PATH, ...given }: Given & { bin: string; PATH: string }) {
	const { level = null, messageBytes = 256, said = SAID, freeBytes } = given;
	const below = path.join(bin, String(system.binary));
	const binary = existsSync(below) ? { binary: below } : {};
	const written = { ...system, ...binary };
	const env = { PATH, MQBENCH_CACHE_DIR: path.join(bin, "cache") };
	if (!at) return describedHere(system.broker, written, { level, messageBytes, env });
	const memory =
		freeBytes === undefined ? {} : { memory: { freeBytes, folder: async () => "/shm" } };
	return describedThere(written, {
		said,
		setup: { level, messageBytes, ...(at === "image" && { image: IMAGE }) },
		site: { ...memory, ...given.site },
	});
}

/** Commands, environment and files of the last node, with what reports and drivers get; or what is missing. */
goldenBlocks(new URL("./golden/launches.txt", import.meta.url), async (text) => {
	const given: Given = parse(text);
	const bin = programs(given.java);
	const few = testFolder();
	for (const name of given.only ?? []) copyFileSync(path.join(bin, name), path.join(few, name));
	const PATH = given.only ? few : `${bin}:/usr/bin:/bin`;
	const made = await described({ ...given, bin, PATH }).catch((error: unknown) => {
		if (error instanceof MqbenchError)
			return `${error.code}, exit code ${error.exit}: ${error.message}`;
		throw error;
	});
	const plain = (found: string) =>
		found
			.replaceAll(
				typeof made === "object" && "store" in made ? made.store : "/disk/run's/store",
				"STORE",
			)
			.replaceAll(bin, "BIN")
			.replaceAll(few, "BIN")
			.replaceAll(TO_OUTPUT.trimEnd(), "<to its output>")
			.replaceAll(/(\/jars\/\w+)-\w+/g, "$1")
			.replaceAll(/\S+(?=\/(mochi|nsqd|nats-server|nats-streaming-server|forwarder)\b)/g, "BUILT")
			.replaceAll(/\b[0-9a-f]{24}\b/g, "<secret>")
			.replaceAll(/mqbench-[0-9a-f]{8}@/g, "mqbench-<id>@")
			.replaceAll(/(\$7\$101\$)\S+/g, "$1<hash>");
	if (typeof made === "string") return plain(made);
	if (given.log) {
		const up = given.log.map((line) => (made.ready(line, 0) ? "up" : "not yet"));
		return `${up.join(", ")}: ${made.version()}`;
	}
	const node = made.nodes.at(-1);
	const lines = [
		...(node?.before ?? []).map((argv) => `first: ${argv.join(" ")}`),
		`run: ${node?.argv.join(" ")}`,
		...Object.entries(node?.env ?? {}).map(([name, value]) => `env: ${name}=${value}`),
		`url: ${made.url()}`,
		...Object.entries(made.settings).map(([name, value]) => `setting: ${name}: ${value}`),
		`data: ${made.data}${made.flushes ? ", flushed" : ""}`,
		...Object.entries(node?.files ?? {}).map(([name, content]) => `${name}:\n${content.trimEnd()}`),
	];
	return plain(lines.join("\n"));
});
