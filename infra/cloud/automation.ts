import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parse, stringify } from "yaml";
import { failure } from "../../runner/errors.ts";
import { writeWhole } from "../../runner/whole-file.ts";
import type { World } from "../../runner/world.ts";
import type { Stack } from "./provider.ts";
import { pulumiCli } from "./pulumi-cli.ts";
import { isSummary, PulumiFailed, pulumiProcesses } from "./pulumi-process.ts";
import { configOf, type RigFolder } from "./rigs.ts";
import { loadSdk } from "./sdk.ts";

export interface OpenOptions {
	/** Downloads the command pulumi without asking. */
	readonly yes: boolean;
	say(line: string): void;
	/** Folder of the Pulumi project. */
	readonly program: string;
}

/**
 * The stack of a rig, over Pulumi's Automation API: the project `program` as a local one, just as `pulumi up` by hand runs it. State, settings
 * and passphrase are in the rig's folder; nothing is written to the project's folder. Nothing is made yet.
 */
export async function openStack(
	folder: RigFolder,
	world: World,
	{ yes, say, program }: OpenOptions,
): Promise<Stack> {
	const automation = await loadSdk<Automation>("@pulumi/pulumi/automation", program);
	const cli = await pulumiCli(world, { yes, say, folder: program });
	const processes = pulumiProcesses({
		program: cli,
		env: passedOn(world.env),
		folder: folder.path,
	});
	await writeProject(folder, program);
	const workspace = await automation.LocalWorkspace.create({
		workDir: folder.project,
		envVars: {
			PULUMI_BACKEND_URL: backendOf(folder.pulumi),
			PULUMI_CONFIG_PASSPHRASE: await readFile(folder.passphrase, "utf8"),
			PULUMI_SKIP_UPDATE_CHECK: "true",
		},
		pulumiCommand: { command: cli, version: null, run: processes.run },
	});
	let selected: PulumiStack | null = null;
	/** null: it does not exist yet. The stack is kept, because each question to Pulumi starts a process. */
	const select = async () => {
		try {
			selected ??= await automation.Stack.select(folder.id, workspace);
			return selected;
		} catch (error) {
			if (error instanceof PulumiFailed && error.noStack) return null;
			throw error;
		}
	};
	return {
		async up({ signal, say }) {
			signal.throwIfAborted();
			selected = (await select()) ?? (await automation.Stack.create(folder.id, workspace));
			const stack = selected;
			await stack.setConfig("mqbench:rig", {
				value: JSON.stringify(await configOf(folder, (value) => value)),
			});
			signal.throwIfAborted();
			const { outputs } = await stack.up({ signal, color: "never", onOutput: byLine(say) });
			return outputs.rig?.value;
		},
		async destroy({ signal, say }) {
			const stack = await select();
			if (stack === null && existsSync(settingsOf(folder)))
				throw new Error(
					`Pulumi's state is gone from ${folder.pulumi}, so nobody knows what exists`,
				);
			await stack?.destroy({
				signal,
				refresh: true,
				continueOnError: true,
				color: "never",
				onOutput: byLine(say),
			});
		},
		async cancel() {
			await processes.kill();
			await (await select())?.cancel();
		},
		async resources() {
			const stack = await select();
			return stack === null ? null : namesIn(await stack.exportStack()).there;
		},
		async unsure() {
			const stack = await select();
			return stack === null ? [] : namesIn(await stack.exportStack()).unsure;
		},
		async remove() {
			if ((await select()) !== null) await workspace.removeStack(folder.id);
			selected = null;
		},
	};
}

/**
 * "aws:ec2:Instance broker-1 created", "Pulumi: no room"; null: a line of Pulumi's that is of no interest. For steps that take no time only
 * the end is shown.
 */
export function step(line: string): string | null {
	const error = /^\s*error: (.+)$/.exec(line)?.[1];
	if (error !== undefined) return isSummary(error) ? null : `Pulumi: ${error}`;
	// Hundreds of megabytes, but only the first time.
	const plugin = /((?:Down|Instal)\w+ plugin \S+): starting$/.exec(line)?.[1];
	if (plugin !== undefined) return `Pulumi: ${plugin.toLowerCase()} ...`;
	const match =
		/^\s*[-+~]{1,2}\s+(\S+)\s+(\S+)\s+\**(creating|created|deleting|deleted|updating|updated)\b([^\n]*)$/.exec(
			line,
		);
	if (!match) return null;
	const [, type = "", name = "", what = "", more = ""] = match;
	// Nobody waits for things that only group others.
	if (/^(pulumi|mqbench):/.test(type)) return null;
	if (/^\s*failed/.test(more)) return `${type} ${name} ${what} failed`;
	// Pulumi repeats the line of the beginning when something fails, with the reason.
	if (/error:/.test(more)) return null;
	return what.endsWith("ing") && !/:Instance$/.test(type) ? null : `${type} ${name} ${what}`;
}

// --- internal ---

/** The parts of Pulumi's Automation API that are used here. Its own types exist only where it is installed. */
interface Automation {
	readonly LocalWorkspace: {
		create(options: {
			workDir: string;
			envVars: Record<string, string>;
			pulumiCommand: object;
		}): Promise<Workspace>;
	};
	readonly Stack: {
		create(name: string, workspace: Workspace): Promise<PulumiStack>;
		select(name: string, workspace: Workspace): Promise<PulumiStack>;
	};
}

interface Workspace {
	removeStack(name: string): Promise<void>;
}

interface Operation {
	signal: AbortSignal;
	color: "never";
	onOutput(text: string): void;
}

interface PulumiStack {
	setConfig(key: string, value: { value: string }): Promise<void>;
	up(options: Operation): Promise<{ outputs: Record<string, { value: unknown }> }>;
	destroy(options: Operation & { refresh: boolean; continueOnError: boolean }): Promise<unknown>;
	cancel(): Promise<void>;
	exportStack(): Promise<{ deployment?: Deployment | null }>;
}

interface Resource {
	readonly urn: string;
	readonly type: string;
	readonly id?: string;
	readonly custom?: boolean;
}

interface Deployment {
	readonly resources?: readonly Resource[] | null;
	readonly pending_operations?:
		| readonly { readonly resource: Resource; readonly type: string }[]
		| null;
}

/**
 * A project of the rig's own, with its program in the bin of `program`: Pulumi writes its settings beside Pulumi.yaml, and finds packages from
 * the program's folder.
 */
async function writeProject(folder: RigFolder, program: string): Promise<void> {
	const settings = parse(await readFile(path.join(program, "Pulumi.yaml"), "utf8")) as {
		main?: string;
	};
	const main = path.resolve(program, settings.main ?? ".");
	if (!existsSync(main)) throw failure("unbuilt", { file: main });
	writeWhole(path.join(folder.project, "Pulumi.yaml"), stringify({ ...settings, main }), 0o600);
}

/** Pulumi reads it as a URL: a blank, %, # or ? of the folder's name would lead elsewhere, or nowhere. */
function backendOf(folder: string): string {
	const names = encodeURI(folder.split(path.sep).join("/"));
	return `file://${names.replaceAll(/[#?]/g, encodeURIComponent)}`;
}

/** Pulumi's settings of the stack. It writes them when it makes the stack and removes them with it. */
function settingsOf(folder: RigFolder): string {
	return path.join(folder.project, `Pulumi.${folder.id}.yaml`);
}

/**
 * Our whole environment, except for variables that would lead Pulumi elsewhere or change the programs that it starts. The SDK used the same
 * when it asked AWS: a way to credentials may need any variable, and a missing one would show only when the rig is taken down.
 */
function passedOn(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(env).filter(
			(pair): pair is [string, string] => pair[1] !== undefined && passes(pair[0]),
		),
	);
}

/** Pulumi's folder of plugins is used; backend, account and settings belong to the rig. */
const passes = (name: string) =>
	/^PULUMI_HOME$/i.test(name) || !/^(PULUMI_\w*|NODE_OPTIONS|K6_\w*)$/i.test(name);

/** Turns pieces of output into whole lines. */
function byLine(say: (line: string) => void): (text: string) => void {
	let begun = "";
	return (text) => {
		const lines = (begun + text).split("\n");
		begun = lines.pop() ?? "";
		for (const line of lines) {
			const progress = step(line);
			if (progress !== null) say(progress);
		}
	};
}

function namesIn({ deployment }: { deployment?: Deployment | null }): {
	there: string[];
	unsure: string[];
} {
	const there = (deployment?.resources ?? []).filter(
		({ custom, type }) => custom && !type.startsWith("pulumi:"),
	);
	const pending = (deployment?.pending_operations ?? []).filter(
		({ type, resource }) => type === "creating" && !there.some(({ urn }) => urn === resource.urn),
	);
	return {
		there: there.map((one) => `${one.type} ${nameOf(one)}${one.id ? ` (${one.id})` : ""}`),
		unsure: pending.map(
			({ resource }) =>
				`${resource.type} ${nameOf(resource)} (may be there: making it was cut short)`,
		),
	};
}

function nameOf({ urn }: Resource): string {
	return urn.split("::").at(-1) ?? urn;
}
