import { type Platform, platformOf } from "../../../infra/programs/programs.ts";

/** Platforms that releases have a package for. Static programs without libc: one package for each of both, whatever the distribution. */
export const PLATFORMS: readonly Platform[] = [
	platformOf("linux", "x64"),
	platformOf("linux", "arm64"),
	platformOf("darwin", "x64"),
	platformOf("darwin", "arm64"),
	platformOf("win32", "x64"),
];
