import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { type ExitCode, failure } from "../errors.ts";
import { builtScript } from "../page/html-page.ts";
import { shownPath } from "../render/deliver.ts";
import { REPORT_FILES } from "../result/reporters.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { hide, maskUrls, secretsIn, withoutSecrets } from "../secrets.ts";
import type { World } from "../world.ts";
import { openOrSay } from "./browser.ts";
import { type Feed, makeFeed } from "./feed.ts";
import { type PageServer, startServer } from "./server.ts";
import { watchPolicy } from "./strip.ts";

export interface WatchArgs {
	readonly watch?: boolean | undefined;
	readonly watchPort?: string | undefined;
	/** `--open`: opens that page in a browser, or without it the final report. */
	readonly open?: boolean | undefined;
}

/** Returns the exit code of `use`. A watched page becomes the final report through its open connection, so it needs no server after. */
export async function watching(
	{ watch, watchPort, open: opens }: WatchArgs,
	{ scenario, folder }: { readonly scenario: Scenario; readonly folder: string },
	world: World,
	use: (feed: Feed | null) => Promise<ExitCode>,
): Promise<ExitCode> {
	const to = path.resolve(world.cwd, folder);
	const report = path.join(to, REPORT_FILES.html);
	const shown = path.join(shownPath(to, world), REPORT_FILES.html);
	const secrets = scenario.systems.flatMap(({ options }) => options.secrets ?? []);
	// Not for the browser: a scenario may take secrets from variables of any name.
	const inUrls = scenario.systems.flatMap(({ url }) => secretsIn(url ?? ""));
	const browsed = { ...world, env: withoutSecrets(world.env, [...inUrls, ...secrets]) };
	if (!watch) {
		const code = await use(null);
		// A command that ended without a result has not written a report.
		if (opens && existsSync(report)) await openOrSay(report, shown, browsed);
		else if (opens)
			world.stderr.write(`--open: there is no report to open: ${shown} was not written.\n`);
		return code;
	}
	let started: PageServer | null = null;
	const feed = makeFeed({
		scenario: scenario.name,
		shown: shownPath(to, world),
		secrets,
		publish: (event, data) => started?.push(event, data),
	});
	const server = await startServer({
		port: portOf(watchPort),
		page: feed.page,
		policy: watchPolicy,
		scripts: { "watch.js": () => builtScript("watch.js") },
		stop: () => stop(world),
	});
	started = server;
	const { url } = server;
	world.stderr.write(`Watch it at ${url} until it ends; the page is the report so far.\n`);
	if (world.env.SSH_CONNECTION !== undefined)
		world.stderr.write(
			`From where you are: ssh -N -L ${new URL(url).port}:127.0.0.1:${new URL(url).port} <this machine>, then open the same address there.\n`,
		);
	// Waits at most 2 s, so its message does not appear among the rows of a run.
	if (opens) await openOrSay(server.urlForOnce(), url, browsed);
	let code: ExitCode | null = null;
	try {
		code = await use(feed);
		const html = readFileSync(report, "utf8");
		// Sent first because it is small: a slow connection may cut off the report, and the page then shows where it is.
		server.push(
			"over",
			`The run is over, but the connection broke before its report was here: open ${shown}.`,
		);
		server.push("page", {
			html,
			left: `The run is over, and this page is no longer served: it stays as it is until you leave it. The same report: ${shown}`,
		});
	} catch (error) {
		const why = maskUrls(hide(error instanceof Error ? error.message : `${error}`, secrets));
		server.push("over", `mqbench has ended without a report: ${why}`);
		// Even if the report failed, the exit code is the runs'.
		if (code === null) throw error;
	} finally {
		await server.close();
	}
	return code;
}

// --- internal ---

/** The same as one Ctrl-C. A second signal would end the command at once. */
function stop({ stop, interrupt, stderr }: World): string {
	if (stop.aborted) return "It is stopping already: results so far are kept.";
	// On a terminal the live rows show that it is stopping, and would overwrite this.
	if (!stderr.isTTY)
		stderr.write("Stopped from the page, as by one Ctrl-C: results so far are kept.\n");
	interrupt?.();
	return "Stopped from the page, as by one Ctrl-C: results so far are kept.";
}

function portOf(given: string | undefined): number | null {
	if (given === undefined) return null;
	const port = /^\d+$/.test(given) ? Number(given) : 0;
	if (port < 1 || port > 65_535)
		throw failure("usage", {
			message: `--watch-port ${given}: is not a port; give a number from 1 to 65535`,
		});
	return port;
}
