import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { failure } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { cacheFolder } from "../programs/cache.ts";
import {
	ARCHIVES,
	type Archive,
	archiveOf,
	installPulumi,
	wrongInstalled,
} from "./pulumi-install.ts";
import { loadSdk } from "./sdk.ts";

export interface CliOptions {
	/** Downloads without asking. */
	readonly yes: boolean;
	say(line: string): void;
	/** Folder of the packages. */
	readonly folder: string;
	/** URL of the folder of archives; default: Pulumi's. */
	readonly from?: string;
}

/**
 * Path of the command pulumi, of the SDK's version or newer: MQBENCH_PULUMI, else on PATH, else in mqbench's cache, else installed there after
 * asking. Fails with `pulumi-missing` or `pulumi-unusable`.
 */
export async function pulumiCli(world: World, options: CliOptions): Promise<string> {
	const { wanted, program, reason, root, archive } = await findPulumi(world, options.folder);
	if (program !== null) return program;
	if (archive.sha256 === null)
		throw failure("pulumi-missing", {
			version: wanted,
			reason: `${reason}; mqbench does not download it, because it has no sha256 of ${archive.name} to check it by`,
		});
	await agree(root, wanted, reason, world, options);
	options.say(`Installing pulumi ${wanted} into ${root} ...`);
	try {
		await installPulumi(archive, root, options.from ?? ARCHIVES, world.stop);
	} catch (error) {
		orInterrupted(world.stop);
		throw failure("pulumi-missing", {
			version: wanted,
			reason: `it cannot be installed (${firstLine(error)})`,
		});
	}
	const cached = path.join(root, "bin", EXECUTABLE);
	const installed = await versionOf(cached, world);
	if ("version" in installed) return cached;
	throw failure("pulumi-missing", {
		version: wanted,
		reason: `what was installed does not run (${installed.reason})`,
		tried: true,
	});
}

export interface FoundPulumi {
	/** The SDK's own version. */
	readonly wanted: string;
	/** null: there is no suitable one. */
	readonly program: string | null;
	/** null: there is none. */
	readonly version: string | null;
	/** Why there is none: "there is none on PATH". */
	readonly reason: string;
	/** Where it would be installed, and from what. */
	readonly root: string;
	readonly archive: Archive;
}

/** Looks for the command and installs nothing. Fails with `sdk-missing` or `pulumi-unusable`. */
export async function findPulumi(world: World, folder: string): Promise<FoundPulumi> {
	const { version: wanted } = await loadSdk<{ version: string }>("@pulumi/pulumi/version", folder);
	const root = path.join(cacheFolder(world.env, process.platform), "pulumi", wanted);
	const found = { wanted, root, archive: await archiveOf(wanted, folder) };
	const own = world.env.MQBENCH_PULUMI;
	if (own) {
		const program = path.resolve(world.cwd, own);
		const answer = await versionOf(program, world);
		if ("reason" in answer) throw failure("pulumi-unusable", { path: own, reason: answer.reason });
		if (!fits(answer.version, wanted))
			throw failure("pulumi-unusable", {
				path: own,
				reason: `it is ${answer.version}, and ${wanted} or newer of the same major version is needed`,
			});
		return { ...found, program, version: answer.version, reason: "" };
	}
	const cached = path.join(root, "bin", EXECUTABLE);
	let reason = "there is none on PATH";
	for (const program of [...onPath(world), cached]) {
		const wrong = program === cached ? await wrongInstalled(root) : null;
		if (wrong !== null) {
			reason = `${wrong} is not what was unpacked there`;
			continue;
		}
		const answer = await versionOf(program, world);
		if ("reason" in answer) continue;
		const { version } = answer;
		if (fits(version, wanted)) return { ...found, program, version, reason: "" };
		reason = `${program} is ${version}`;
	}
	return { ...found, program: null, version: null, reason };
}

// --- internal ---

const EXECUTABLE = process.platform === "win32" ? "pulumi.exe" : "pulumi";

async function agree(
	root: string,
	wanted: string,
	reason: string,
	{ ask }: World,
	{ yes }: CliOptions,
): Promise<void> {
	if (yes) return;
	if (ask === null)
		throw failure("pulumi-missing", {
			version: wanted,
			reason: `${reason}, and there is nobody to ask whether to install it`,
			tried: false,
		});
	const answer = await ask(
		`Renting machines needs the command pulumi ${wanted}, and ${reason}. Download it from get.pulumi.com into ${root}? [y/N] `,
	);
	if (!/^y(es)?$/i.test(answer.trim()))
		throw failure("pulumi-missing", { version: wanted, reason, tried: false });
}

async function versionOf(
	program: string,
	{ env }: World,
): Promise<{ version: string } | { reason: string }> {
	try {
		const { stdout } = await promisify(execFile)(program, ["version"], {
			env: {
				...(env.PATH !== undefined && { PATH: env.PATH }),
				...(env.HOME !== undefined && { HOME: env.HOME }),
				PULUMI_SKIP_UPDATE_CHECK: "true",
			},
			timeout: 30_000,
		});
		const version = /^v?(\d+\.\d+\.\d+\S*)$/m.exec(stdout.trim())?.[1];
		return version === undefined ? { reason: "it does not say its version" } : { version };
	} catch (error) {
		return { reason: reasonOf(error).split("\n")[0] ?? "" };
	}
}

/** The SDK works with its own version and with newer ones of the same major version. */
function fits(version: string, wanted: string): boolean {
	const [major = 0, minor = 0, patch = 0] = numbers(version);
	const [ownMajor = 0, ownMinor = 0, ownPatch = 0] = numbers(wanted);
	return major === ownMajor && (minor > ownMinor || (minor === ownMinor && patch >= ownPatch));
}

function numbers(version: string): number[] {
	return version.split(/[.+-]/).slice(0, 3).map(Number);
}

function onPath({ env }: World): string[] {
	return (env.PATH ?? "")
		.split(path.delimiter)
		.filter((folder) => path.isAbsolute(folder))
		.map((folder) => path.join(folder, EXECUTABLE))
		.filter((file) => {
			try {
				accessSync(file, constants.X_OK);
				return true;
			} catch {
				return false;
			}
		});
}

function firstLine(error: unknown): string {
	const [first = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
	return first.trim().replace(/\.$/, "");
}
