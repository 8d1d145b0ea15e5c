import { EXIT, type ExitCode, MqbenchError } from "../../runner/errors.ts";
import { CLOUD_TITLES, CLOUDS } from "../../runner/model/targets.ts";
import { wrap } from "../../runner/terminal/wrap.ts";
import { formatDuration } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { costText } from "./cost-text.ts";
import { askingText, type CloudSide, offerFor } from "./rent.ts";
import type { CloudRequest } from "./request.ts";

/** `mqbench plan`: prints the cloud's answers about the machines, and returns the exit code. */
export async function writeOffer(
	request: CloudRequest,
	world: World,
	cloud: CloudSide,
): Promise<ExitCode> {
	const width = Math.max(40, world.stdout.columns);
	const indented = (line: string) =>
		COMMAND.test(line) ? [`  ${line}`] : wrap(line, width, "    ", "  ");
	const time = `Standing up, all runs, and the time between them: at most ${formatDuration(request.plannedNs)}.`;
	const lines = indented(time);
	let code: ExitCode = EXIT.pass;
	world.stderr.write(`${askingText(request)}\n`);
	try {
		const offer = await offerFor(request, world, cloud);
		const { hourlyUsd, unpriced, warnings } = offer;
		const { plannedNs, scenario } = request;
		const { ttlNs } = scenario.aws;
		// A table: its blanks align the columns.
		for (const line of offer.lines) lines.push(`  ${line}`);
		for (const text of [
			`Price: ${costText({ hourlyUsd, unpriced, plannedNs, ttlNs })}.`,
			...warnings.map((warning) => `Warning: ${warning}`),
		])
			for (const line of indented(text)) lines.push(line);
	} catch (error) {
		if (!(error instanceof MqbenchError) || error.code === "interrupted") throw error;
		const said = error.message.split("\n");
		// Most of them contain a command.
		if (UNASKED.has(error.code))
			lines.push(`  No price from ${CLOUD_TITLES[request.cloud]}: ${said[0]}`);
		else {
			for (const why of said) lines.push(`  It could not be rented: ${why}`);
			code = error.exit;
		}
	}
	world.stdout.write(`\nWhat is rented:\n\n${lines.join("\n")}\n`);
	return code;
}

// --- internal ---

/** Text to copy into a shell is not wrapped. A cloud's own program is called like the cloud. */
const COMMAND = new RegExp(`\\b(${[...CLOUDS, "mqbench", "npm", "npx"].join("|")}) [a-z]`);

/** Not having an account or a network is not a mistake. */
const UNASKED: ReadonlySet<string> = new Set(["sdk-missing", "cloud-unasked"]);
