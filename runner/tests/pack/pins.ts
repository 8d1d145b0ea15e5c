/**
 * Writes down the sha256 of what mqbench fetches as a file and runs. Read what changed, as you would read code, and commit it.
 *
 *   npm run pins -- kafka           the jars of runner/brokers/kafka/pom.xml
 *   npm run pins -- kafka 4.0.0     those of another version, for scenarios with `version: 4.0.0`
 *
 * Jars come from Maven Central or the mirror of this machine's settings.xml, never from what Maven has kept here.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { resolveJars } from "../../../infra/binaries/jars.ts";
import { formatSums, sumsOf } from "../../../infra/binaries/sums.ts";
import { pinsOf, pom, pomVersion } from "../../brokers/kafka/jars.ts";
import { EXIT } from "../../errors.ts";
import { findBinaries, worldOf } from "../bench/programs.ts";

const [what, version] = process.argv.slice(2);
if (what === "kafka") await kafka(version);
else {
	process.stderr.write("npm run pins -- kafka [version]\n");
	process.exitCode = EXIT.usage;
}

// --- internal ---

async function kafka(version: string | undefined): Promise<void> {
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-pins-"));
	const stop = new AbortController();
	process.once("SIGINT", () => stop.abort("SIGINT"));
	const world = worldOf(process, stop.signal);
	try {
		const jars = await resolveJars({
			name: "kafka",
			pom,
			properties: version === undefined ? {} : { kafka: version },
			sums: null,
			mvn: "mvn",
			agent: (await findBinaries(world)).agent,
			world: {
				...world,
				env: {
					...process.env,
					MQBENCH_CACHE_DIR: folder,
					MAVEN_OPTS: `-Dmaven.repo.local=${path.join(folder, "m2")}`,
				},
			},
			system: "kafka",
		});
		const file = pinsOf(version ?? pomVersion);
		writeFileSync(file, formatSums(await sumsOf(jars)));
		process.stdout.write(`${file}\n`);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}
