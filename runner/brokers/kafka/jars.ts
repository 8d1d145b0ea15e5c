import { existsSync } from "node:fs";
import path from "node:path";
import { packageFolder } from "../../package.ts";
import { image } from "./image.ts";

const ROOM = path.join(packageFolder, "runner", "brokers", "kafka");

/** Kafka and what it needs at run time, for Maven. */
export const pom: string = path.join(ROOM, "pom.xml");

/** The version that the pom names. */
export const pomVersion: string = image.version;

/** File with the sha256 of the jars of a version, there or not. `npm run pins -- kafka` writes it. */
export function pinsOf(version: string): string {
	return path.join(ROOM, `jars-${version}.sha256`);
}

/** That file; null: nobody has written the jars of this version down. */
export function pinned(version: string = pomVersion): string | null {
	const file = pinsOf(version);
	return existsSync(file) ? file : null;
}
