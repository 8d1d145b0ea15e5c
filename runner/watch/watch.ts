import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { type ExitCode, failure } from "../errors.ts";
import { builtScript } from "../page/html-page.ts";
import { shownPath } from "../render/deliver.ts";
import { REPORT_FILES } from "../result/reporters.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { hide, maskUrls, secretsIn, withoutSecrets } from "../secrets.ts";
import { tell } from "../text/tell.ts";
import type { World } from "../world.ts";
import { openOrSay } from "./browser.ts";
import { type Feed, makeFeed } from "./feed.ts";
import { type PageServer, startServer } from "./server.ts";
import { watchPolicy } from "./strip.ts";

/** Who looks on, on the command line of `mqbench run`. */
export interface WatchArgs {
	/** `--watch`: serve the report so far while the command goes on. */
	readonly watch?: boolean | undefined;
	/** `--watch-port`: where; undefined: on a port that is free. */
	readonly watchPort?: string | undefined;
	/** `--open`: open that page in a browser; without it the report, in the end. */
	readonly open?: boolean | undefined;
}

/**
 * Does `use` while people look on, if they want to, and gives its exit code. The page is the report so far, and in the end turns into the whole
 * one through the connection that it has: nothing waits for anybody, and the page stays without a server.
 */
export async function watching(
	args: WatchArgs,
	/** The results are going to lie in `folder`. */
	of: { readonly scenario: Scenario; readonly folder: string },
	world: World,
	use: (feed: Feed | null) => Promise<ExitCode>,
): Promise<ExitCode> {
	const folder = path.resolve(world.cwd, of.folder);
	const report = path.join(folder, REPORT_FILES.html);
	const shown = path.join(shownPath(folder, world), REPORT_FILES.html);
	if (!args.watch) {
		const browsed = withoutSecretsOf(of.scenario, world);
		const code = await use(null);
		// What ended before it had a result has written none.
		if (args.open && existsSync(report)) await openOrSay(report, shown, browsed);
		else if (args.open) world.stderr.write(`${tell("open-nothing", { shown })}\n`);
		return code;
	}
	const watch = await startWatch(args, of, world);
	try {
		const code = await use(watch.feed);
		await watch.become(report, shown);
		return code;
	} catch (error) {
		await watch.end(error);
		throw error;
	}
}

// --- internal ---

interface Watch {
	readonly feed: Feed;
	/** Turns the page into this file, which is told as `shown`, and ends the server. */
	become(file: string, shown: string): Promise<void>;
	/** Says why there is no report, and ends the server. */
	end(error: unknown): Promise<void>;
}

async function startWatch(
	{ watchPort, open: opens }: WatchArgs,
	{ scenario, folder }: { scenario: Scenario; folder: string },
	world: World,
): Promise<Watch> {
	const secrets = scenario.systems.flatMap(({ options }) => options.secrets ?? []);
	let report: string | null = null;
	let started: PageServer | null = null;
	const feed = makeFeed({
		scenario: scenario.name,
		shown: shownPath(path.resolve(world.cwd, folder), world),
		secrets,
		publish: (strip) => started?.push("strip", strip),
	});
	const server = await startServer({
		port: portOf(watchPort),
		page: () => report ?? feed.page(),
		policy: watchPolicy,
		scripts: { "watch.js": () => builtScript("watch.js") },
		stop() {
			// A second signal would end the command at once.
			if (world.stop.aborted) return tell("watch-stopping-already");
			// On a terminal the rows say that it stops, and would write over this.
			if (!world.stderr.isTTY) world.stderr.write(`${tell("watch-stopped")}\n`);
			world.interrupt?.();
			return tell("watch-stopped");
		},
	});
	started = server;
	const { url } = server;
	world.stderr.write(`${tell("watch-at", { url })}\n`);
	if (world.env.SSH_CONNECTION !== undefined)
		world.stderr.write(`${tell("watch-over-ssh", { port: new URL(url).port })}\n`);
	// Awaited, at most 2 s: what it says is not to stand among the rows of a run.
	if (opens) await openOrSay(server.urlForOnce(), url, withoutSecretsOf(scenario, world));
	const end = async (error: unknown) => {
		const why = maskUrls(hide(error instanceof Error ? error.message : `${error}`, secrets));
		server.push("over", tell("watch-ended", { why }));
		await server.close();
	};
	return {
		feed,
		async become(file, shown) {
			try {
				report = readFileSync(file, "utf8");
			} catch (error) {
				// Whatever became of it: the exit code is that of the runs.
				return end(error);
			}
			// First, as it is small: the report may be cut off on a slow way, and the page then says where it is.
			server.push("over", tell("watch-over", { file: shown }));
			server.push("report", { html: report, left: tell("watch-left", { file: shown }) });
			await server.close();
		},
		end,
	};
}

/** For a browser: variables may stand in a scenario by any name. */
function withoutSecretsOf(
	{ systems }: Scenario,
	{ env, stderr }: World,
): Pick<World, "env" | "stderr"> {
	const secrets = systems.flatMap(({ url, options }) => [
		...secretsIn(url ?? ""),
		...(options.secrets ?? []),
	]);
	return { env: withoutSecrets(env, secrets), stderr };
}

function portOf(given: string | undefined): number | null {
	if (given === undefined) return null;
	const port = /^\d+$/.test(given) ? Number(given) : 0;
	if (port < 1 || port > 65_535)
		throw failure("usage", { message: tell("watch-port-number", { given }) });
	return port;
}
