import { execFileSync, spawnSync } from "node:child_process";
import {
	chmodSync,
	copyFileSync,
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	realpathSync,
	rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { findOnPath } from "../../../infra/local/program.ts";
import { realBinaries } from "../../../infra/programs/real.fake.ts";
import { imageOf, SystemOptions } from "../../brokers/index.ts";
import { kafkaJars } from "./own-kafka.ts";
import { TEST_IMAGE } from "./test-images.ts";

export type Imitated = keyof typeof BUILD;

/**
 * For tests: provides the image of a broker that a scenario uses by default, and returns its name. An existing one is used as it is. Else
 * one is made of this machine's files, under the official name, until the tests are over, and nothing is pulled. It is like the original as
 * far as mqbench relies on it (entry point, user, folders, volumes). For a version that a scenario names, only the name differs: this
 * machine's version runs.
 */
export async function haveImage(broker: Imitated, version?: string): Promise<string> {
	const options = SystemOptions.parse({ broker, version });
	const image = imageOf({ image: null, options });
	if (spawnSync("docker", ["image", "inspect", image]).status === 0) return image;
	const root = mkdtempSync(path.join(tmpdir(), "mqbench-image-"));
	try {
		for (const folder of ["tmp", "etc/mqbench"])
			mkdirSync(path.join(root, folder), { recursive: true });
		chmodSync(path.join(root, "tmp"), 0o1777);
		const changes = await BUILD[broker](root);
		execFileSync(
			"sh",
			[
				"-c",
				'tar -C "$0" --owner=0 --group=0 --mode=a+rX -c . | docker import "$@"',
				root,
				...[...changes, `LABEL ${TEST_IMAGE}`].flatMap((change) => ["--change", change]),
				"-",
				image,
			],
			{ stdio: ["ignore", "ignore", "inherit"] },
		);
	} finally {
		rmSync(root, { recursive: true, force: true });
	}
	return image;
}

/** Fills the root of an image of a broker; returns its other contents, in the words of a Dockerfile. */
export function fillRoot(broker: Imitated, root: string): Promise<string[]> {
	return BUILD[broker](root);
}

// --- internal ---

/** Fills the root of an image, and returns its other contents, in the words of a Dockerfile. */
const BUILD = {
	async nats(root: string): Promise<string[]> {
		const server = await (await realBinaries()).server("nats-server");
		put(root, server, "usr/local/bin/nats-server");
		return ['ENTRYPOINT ["/usr/local/bin/nats-server"]'];
	},

	async redis(root: string): Promise<string[]> {
		put(root, program("redis-server"), "usr/local/bin/redis-server");
		putShell(root);
		return ['ENTRYPOINT ["/usr/local/bin/redis-server"]', "WORKDIR /data", "VOLUME /data"];
	},

	/** As rabbitmq: started by a word on PATH, with its home, its configuration and its version where the original has them. */
	async rabbitmq(root: string): Promise<string[]> {
		const erlang = path.dirname(path.dirname(realpathSync(program("erl"))));
		const server = serverOf("/usr/lib/rabbitmq/lib");
		for (const folder of [erlang, server])
			cpSync(folder, path.join(root, folder), { recursive: true });
		for (const file of filesBelow(path.join(root, erlang)))
			if (/\.so$|\/erts-[^/]+\/bin\//.test(file)) putLibraries(root, file);
		for (const tool of TOOLS) put(root, program(tool), path.join("bin", tool));
		for (const folder of ["etc/rabbitmq/conf.d", "var/lib/rabbitmq", "var/log"])
			mkdirSync(path.join(root, folder), { recursive: true });
		return [
			'ENTRYPOINT ["/bin/env"]',
			`ENV PATH=${erlang}/bin:${server}/sbin:/bin`,
			"ENV HOME=/var/lib/rabbitmq",
			`ENV RABBITMQ_VERSION=${path.basename(server).replace("rabbitmq_server-", "")}`,
			"VOLUME /var/lib/rabbitmq",
		];
	},

	/** As apache/kafka: a user that is not root, java on PATH, the installation in /opt/kafka, and three volumes. */
	async kafka(root: string): Promise<string[]> {
		const jars = await kafkaJars();
		cpSync(jars, path.join(root, "opt/kafka/libs"), { recursive: true });
		const home = path.join(root, "opt/java/openjdk");
		mkdirSync(path.dirname(home), { recursive: true });
		execFileSync(beside(program("java"), "jlink"), [
			"--add-modules",
			MODULES.join(","),
			"--strip-java-debug-attributes",
			"--no-header-files",
			"--no-man-pages",
			"--output",
			home,
		]);
		// As in every Java distribution: without it each start takes half a second more.
		execFileSync(path.join(home, "bin/java"), ["-Xshare:dump"], { stdio: "ignore" });
		for (const part of ["bin/java", "lib/server/libjvm.so", "lib/libnet.so"])
			putLibraries(root, path.join(home, part));
		put(root, "/bin/sh", "bin/sh");
		const data = path.join(root, "var/lib/kafka/data");
		mkdirSync(data, { recursive: true });
		chmodSync(data, 0o777);
		return [
			"ENV JAVA_HOME=/opt/java/openjdk",
			"ENV PATH=/opt/java/openjdk/bin:/bin",
			"USER 1000",
			'VOLUME ["/etc/kafka/secrets", "/var/lib/kafka/data", "/mnt/shared/config"]',
			'CMD ["/etc/kafka/docker/run"]',
		];
	},
} as const;

/** The Java modules that Kafka's server needs. */
const MODULES = [
	"java.base",
	"java.desktop",
	"java.logging",
	"java.management",
	"java.naming",
	"java.security.jgss",
	"java.security.sasl",
	"java.sql",
	"jdk.crypto.ec",
	"jdk.management",
	"jdk.unsupported",
];

/** The commands that the start scripts of RabbitMQ and Erlang call. */
const TOOLS = [
	..."sh env dirname basename readlink sed grep cat mkdir rm ls id".split(" "),
	..."hostname mktemp tr cut uname expr chmod sleep date".split(" "),
];

/** The installation in a folder of them. */
function serverOf(folder: string): string {
	const found = readdirSync(folder).find((name) => name.startsWith("rabbitmq_server-"));
	if (!found) throw new Error(`no RabbitMQ in ${folder}`);
	return path.join(folder, found);
}

function filesBelow(folder: string): string[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => path.join(entry.parentPath, entry.name));
}

function program(name: string): string {
	const found = findOnPath(name, process.env);
	if (found === null) throw new Error(`${name} is not on PATH`);
	return found;
}

function beside(found: string, name: string): string {
	return path.join(path.dirname(realpathSync(found)), name);
}

/** As in images of Alpine, as far as tests need it. */
function putShell(root: string): void {
	for (const tool of ["sh", "sleep"]) put(root, program(tool), path.join("bin", tool));
}

/** Copies a program to its place in the root, with the libraries that it needs. */
function put(root: string, from: string, to: string): void {
	const target = path.join(root, to);
	mkdirSync(path.dirname(target), { recursive: true });
	copyFileSync(realpathSync(from), target);
	chmodSync(target, 0o755);
	putLibraries(root, from);
}

/** Shared libraries of the system, at the places where they are here; a static program has none. */
function putLibraries(root: string, file: string): void {
	const said = spawnSync("ldd", [file], { encoding: "utf8" }).stdout;
	// "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x...)", "/lib64/ld-linux-x86-64.so.2 (0x...)".
	for (const [, library = ""] of said.matchAll(/(?:=> |^\s*)(\/\S+) \(/gm)) {
		if (library.startsWith(root)) continue;
		const target = path.join(root, library);
		mkdirSync(path.dirname(target), { recursive: true });
		copyFileSync(realpathSync(library), target);
		chmodSync(target, 0o755);
	}
}
