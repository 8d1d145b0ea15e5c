import { execFileSync } from "node:child_process";
import path from "node:path";

/** The raw data of a published report, from which `mqbench report` computes the rest. */
export const ARCHIVE = "runs.tar.gz";

/** Packs `files` of `folder` into one archive. The same files always make the same bytes. */
export function pack(folder: string, files: readonly string[], archive: string): void {
	const same = ["--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--mode=u=rw,go=r"];
	execFileSync(
		"tar",
		["-C", folder, ...same, "-I", "gzip -9n", "-cf", path.resolve(archive), "-T", "-"],
		{ input: files.toSorted().join("\n") },
	);
}

/** Unpacks the archive of the published report in `folder` to the run folder `into`. */
export function unpack(folder: string, into: string): void {
	execFileSync("tar", ["-xzf", path.join(folder, ARCHIVE), "-C", into]);
}
