/**
 * Records the sha256 of files that mqbench downloads and runs. Read the changes, as you would read code, and commit them.
 *
 *   npm run pins -- kafka           the jars of a pom in runner/brokers/; without a name it lists them
 *   npm run pins -- kafka 4.0.0     the jars of another version, for scenarios with `version: 4.0.0`
 *
 * Jars come from Maven Central or the mirror in this machine's settings.xml, never from Maven's local files.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { resolveJars } from "../../../infra/programs/jars.ts";
import { formatSums, sumsOf } from "../../../infra/programs/sums.ts";
import { brokers } from "../../brokers/index.ts";
import { pinsOf, pomOf } from "../../brokers/jvm.ts";
import type { Jars } from "../../brokers/server.ts";
import { EXIT } from "../../errors.ts";
import { worldOf } from "../bench/bench.ts";

const [what, version] = process.argv.slice(2);
const all = Object.values(brokers).flatMap(({ jars = [] }) => jars);
const asked = all.find(({ name }) => name === what);
if (asked) await maven(asked, version);
else {
	const names = all.map(({ name }) => name).join(" or ");
	process.stderr.write(`npm run pins -- ${names} [version]\n`);
	process.exitCode = EXIT.usage;
}

// --- internal ---

async function maven(of: Jars, version: string | undefined): Promise<void> {
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-pins-"));
	const stop = new AbortController();
	process.once("SIGINT", () => stop.abort("SIGINT"));
	const world = worldOf(process, stop.signal);
	try {
		const jars = await resolveJars({
			name: of.name,
			pom: pomOf(of),
			properties: version === undefined ? {} : { [of.name]: version },
			sums: null,
			mvn: "mvn",
			world: {
				...world,
				env: {
					...process.env,
					MQBENCH_CACHE_DIR: folder,
					MAVEN_OPTS: `-Dmaven.repo.local=${path.join(folder, "m2")}`,
				},
			},
			system: of.name,
		});
		const file = pinsOf(of, version);
		writeFileSync(file, formatSums(await sumsOf(jars)));
		process.stdout.write(`${file}\n`);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}
