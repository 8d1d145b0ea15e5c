/**
 * Writes down the sha256 of what mqbench fetches as a file and runs. Read what changed, as you would read code, and commit it.
 *
 *   npm run pins -- kafka           the jars of a pom in runner/brokers/; without a name it says which there are
 *   npm run pins -- kafka 4.0.0     those of another version, for scenarios with `version: 4.0.0`
 *   npm run pins -- pulumi          the archives of the command pulumi, as Pulumi itself publishes them
 *
 * Jars come from Maven Central or the mirror of this machine's settings.xml, never from what Maven has kept here.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { awsFolder } from "../../../infra/cloud/aws/folder.ts";
import { ARCHIVES, pinsIn } from "../../../infra/cloud/pulumi-install.ts";
import { resolveJars } from "../../../infra/programs/jars.ts";
import { formatSums, parseSums, sumsOf } from "../../../infra/programs/sums.ts";
import { brokers } from "../../brokers/index.ts";
import { pinsOf, pomOf } from "../../brokers/jvm.ts";
import type { Jars } from "../../brokers/server.ts";
import { EXIT } from "../../errors.ts";
import { worldOf } from "../bench/bench.ts";

const [what, version] = process.argv.slice(2);
const all = Object.values(brokers).flatMap(({ jars = [] }) => jars);
const asked = all.find(({ name }) => name === what);
if (asked) await maven(asked, version);
else if (what === "pulumi") await pulumi();
else {
	const names = all.map(({ name }) => name).join(" or ");
	process.stderr.write(`npm run pins -- ${names} [version], or: pulumi\n`);
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

/** Of the SDK's version. Windows has archives of another kind, which mqbench does not unpack. */
async function pulumi(): Promise<void> {
	const { dependencies } = JSON.parse(
		readFileSync(path.join(awsFolder, "package.json"), "utf8"),
	) as { dependencies: Record<string, string> };
	const url = `${ARCHIVES}/pulumi-${dependencies["@pulumi/pulumi"]}-checksums.txt`;
	const answer = await fetch(url);
	if (!answer.ok) throw new Error(`${url}: HTTP ${answer.status}`);
	const sums = new Map(
		[...parseSums(await answer.text())].filter(([name]) => /^pulumi-v.*\.tar\.gz$/.test(name)),
	);
	if (sums.size === 0) throw new Error(`${url} has no sums of archives`);
	writeFileSync(
		pinsIn(awsFolder),
		`# Archives of the command pulumi, as Pulumi publishes them: ${url}\n${formatSums(sums)}`,
	);
	process.stdout.write(`${pinsIn(awsFolder)}\n`);
}
