import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { packageFolder } from "../../package.ts";

/** A real Pulumi with a cloud of one file: the tests' questions, and the faults that they cause. */
export interface TestCloud {
	/** Path of the command `pulumi`. */
	readonly pulumi: string;
	/** Added to the environment of its caller. */
	readonly env: Readonly<Record<string, string>>;
	/** The things in the cloud. */
	resources(): Thing[];
	/** Its requests so far: "create aws:ec2/instance:Instance broker-1". */
	asked(): string[];
	/** The next `times` calls for things of a type go wrong: creating, deleting, or a creation that never ends. */
	break(how: "create" | "delete" | "hang", type: string, times: number): void;
	/** Nothing goes wrong any more. */
	mend(): void;
	/** Addresses of the machines, in their order: hosts that are there already. */
	machines(kind: "broker" | "client", hosts: readonly Address[]): void;
}

export interface Thing {
	/** "aws:ec2/instance:Instance". */
	readonly type: string;
	/** In the program. */
	readonly name: string;
	/** The program's inputs for it. */
	readonly inputs: Readonly<Record<string, unknown>>;
}

export interface Address {
	/** As ssh reaches it from here. */
	readonly public: string;
	/** As the other machines reach it. */
	readonly private: string;
}

/** Limit of {@link buildPulumi}. */
export const BUILD_MS = 3_600_000;

/**
 * Builds the command in the SDK's version from its sources, and keeps it for the next time. For `beforeAll`, with {@link BUILD_MS}: it
 * takes minutes, which must not count against a test's limit.
 */
export function buildPulumi(): void {
	if (existsSync(COMMAND)) return;
	mkdirSync(path.dirname(COMMAND), { recursive: true });
	execFileSync(
		"go",
		[
			"build",
			"-trimpath",
			"-mod=readonly",
			"-o",
			`${COMMAND}.new`,
			"-ldflags",
			`-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v${SDK}`,
			"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
		],
		{
			cwd: path.join(HERE, "pulumi"),
			env: { ...process.env, GOFLAGS: "", GOWORK: "off", CGO_ENABLED: "0" },
			stdio: ["ignore", "inherit", "inherit"],
		},
	);
	renameSync(`${COMMAND}.new`, COMMAND);
}

/** Makes one in an empty folder. Needs {@link buildPulumi} before. */
export function testCloud(folder: string): TestCloud {
	const bin = path.join(folder, "bin");
	const plugins = path.join(folder, "home", "plugins", `resource-aws-v${AWS}`);
	const file = path.join(folder, "cloud.json");
	mkdirSync(bin, { recursive: true });
	mkdirSync(plugins, { recursive: true });
	const pulumi = path.join(bin, "pulumi");
	script(pulumi, `PATH=${bin}:$PATH exec ${COMMAND} "$@"`, folder);
	script(
		path.join(bin, "pulumi-language-nodejs"),
		`exec ${process.execPath} ${path.join(HERE, "pulumi", "language-host.mjs")} "$@"`,
		folder,
	);
	script(
		path.join(plugins, "pulumi-resource-aws"),
		`exec ${process.execPath} ${path.join(HERE, "pulumi", "resource-aws.mjs")} "$@"`,
		folder,
	);
	const read = (): Cloud => JSON.parse(readFileSync(file, "utf8"));
	const write = (cloud: Cloud) => {
		writeFileSync(`${file}.mine`, JSON.stringify(cloud));
		renameSync(`${file}.mine`, file);
	};
	write({ resources: {}, hosts: {}, fail: [] });
	return {
		pulumi,
		env: { MQBENCH_PULUMI: pulumi },
		resources: () => Object.values(read().resources),
		asked: () =>
			existsSync(`${file}.log`) ? readFileSync(`${file}.log`, "utf8").trim().split("\n") : [],
		break(how, type, times) {
			const now = read();
			write({ ...now, fail: [...now.fail, { [how]: type, times }] });
		},
		mend() {
			write({ ...read(), fail: [] });
		},
		machines(kind, hosts) {
			const now = read();
			write({ ...now, hosts: { ...now.hosts, [kind]: hosts } });
		},
	};
}

// --- internal ---

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PROJECT = path.join(packageFolder, "infra", "aws");
const { dependencies } = JSON.parse(readFileSync(path.join(PROJECT, "package.json"), "utf8")) as {
	dependencies: Readonly<Record<string, string>>;
};
const AWS = dependencies["@pulumi/aws"];
const SDK = dependencies["@pulumi/pulumi"];
const COMMAND = path.join(tmpdir(), `mqbench-pulumi-${SDK}`, "pulumi");

interface Cloud {
	readonly resources: Readonly<Record<string, Thing>>;
	readonly hosts: Readonly<Record<string, readonly Address[]>>;
	readonly fail: readonly Readonly<Record<string, string | number>>[];
}

/** With its environment in itself: mqbench gives Pulumi a bare one. */
function script(file: string, line: string, folder: string): void {
	writeFileSync(
		file,
		`#!/bin/sh
export MQBENCH_TEST_AWS=${PROJECT} MQBENCH_TEST_CLOUD=${path.join(folder, "cloud.json")} PULUMI_HOME=${path.join(folder, "home")}
${line}
`,
	);
	chmodSync(file, 0o755);
}
