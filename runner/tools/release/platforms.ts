import { type Platform, platformOf } from "../../../infra/programs/programs.ts";

/** Platforms with a package in releases. Static programs without libc: one package per platform, whatever the distribution. */
export const PLATFORMS: readonly Platform[] = [
	platformOf("linux", "x64"),
	platformOf("linux", "arm64"),
	platformOf("darwin", "x64"),
	platformOf("darwin", "arm64"),
	platformOf("win32", "x64"),
];
