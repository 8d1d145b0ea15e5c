import { existsSync } from "node:fs";
import path from "node:path";
import { packageFolder } from "../package.ts";

/** A server on a JVM, as jars that Maven fetches: a folder below `runner/brokers/` has the pom, and the sha256 of the jars of some versions. */
export interface Jars {
	/** For people: "Kafka". */
	readonly title: string;
	/** The property of the pom that is the version, and what the cache calls them. */
	readonly name: string;
	readonly folder: string;
	/** The version that the pom names. */
	readonly version: string;
	/** How an installation of it looks, which `binary` or an environment variable may name. Left out: nothing does. */
	readonly installed?: {
		readonly folder: string;
		/** What a jar there begins with. */
		readonly jar: string;
		readonly home?: string;
	};
}

/** The pom, for Maven. */
export function pomOf(jars: Jars): string {
	return path.join(folderOf(jars), "pom.xml");
}

/** File with the sha256 of the jars of a version, there or not. `npm run pins -- <name>` writes it. */
export function pinsOf(jars: Jars, version: string = jars.version): string {
	return path.join(folderOf(jars), `jars-${version}.sha256`);
}

/** That file; null: nobody has written the jars of this version down. */
export function pinned(jars: Jars, version: string = jars.version): string | null {
	const file = pinsOf(jars, version);
	return existsSync(file) ? file : null;
}

// --- internal ---

function folderOf({ folder }: Jars): string {
	return path.join(packageFolder, "runner", "brokers", folder);
}
