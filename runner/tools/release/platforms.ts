import { packageName } from "../../../infra/binaries/packed.ts";

/** A platform that releases have a package for. */
export interface Platform {
	/** As Node, and so npm, calls them. */
	readonly system: string;
	readonly processor: string;
	/** As Go does: "linux/amd64". */
	readonly go: string;
	/** Suffix of programs. */
	readonly exe: string;
	readonly packageName: string;
}

/** Static programs without libc: one package for each of both, whatever the distribution. */
export const PLATFORMS: readonly Platform[] = [
	of("linux", "x64", "linux/amd64"),
	of("linux", "arm64", "linux/arm64"),
	of("darwin", "x64", "darwin/amd64"),
	of("darwin", "arm64", "darwin/arm64"),
	of("win32", "x64", "windows/amd64"),
];

// --- internal ---

function of(system: string, processor: string, go: string): Platform {
	const exe = system === "win32" ? ".exe" : "";
	const name = packageName(system, processor);
	return { system, processor, go, exe, packageName: name };
}
