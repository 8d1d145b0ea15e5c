import type { Result } from "../../model/result.ts";
import { maskSameLength, maskUrls } from "../../secrets.ts";
import { shellWord } from "../../shell.ts";
import { type Markup, markup } from "./markup.ts";

/** How to measure it again: the command, the scenario and the versions. What is not known is said. `scenario`: text of the YAML. */
export function reproduce(result: Result, scenario: string | null): Markup {
	const { command, environment, runs } = result;
	const k6 = runs.find((run) => run.versions !== null)?.versions;
	const versions = [
		environment && `mqbench ${environment.mqbench}`,
		(environment?.k6 || k6?.k6) && `k6 ${environment?.k6 || k6?.k6}`,
		environment && `Node ${environment.node}`,
		environment?.go,
	].filter((text) => text);
	return markup`<section id="reproduce"><div class="head"><h2>How to measure it again</h2></div>
${
	command === null
		? markup`<p>The command line was not written down. With the scenario in <code>scenario.yaml</code>, this measures it again:</p><pre tabindex="0">mqbench scenario.yaml</pre>`
		: markup`<p>It was measured with this command:</p><pre tabindex="0">${maskUrls(["mqbench", ...command.args].map(shellWord).join(" "))}</pre>`
}
${
	scenario === null
		? markup`<p class="soft">The text of the scenario is not known here; <code>scenario.yaml</code> lies beside the raw data.</p>`
		: markup`<details><summary>The scenario${command && `: ${command.scenario}`}</summary><pre tabindex="0">${maskUrls(maskSameLength(scenario))}</pre></details>`
}
<p class="soft">${versions.length === 0 ? "No version was written down." : `Versions: ${versions.join(", ")}.`}</p>
<p class="soft">Every number of this page can be computed again from the raw data in <code>runs/</code>: <code>mqbench report</code> with this folder.</p></section>`;
}

// --- internal ---
