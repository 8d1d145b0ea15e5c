import { execFileSync } from "node:child_process";
import { realBinaries } from "../../../infra/binaries/real.fake.ts";
import { packageFolder } from "../../package.ts";

/** Before the end-to-end tests: the command line as users get it, and the programs in the cache. */
export default async function setup(): Promise<void> {
	execFileSync("npm", ["run", "--silent", "build"], {
		cwd: packageFolder,
		stdio: "inherit",
	});
	await realBinaries();
}
