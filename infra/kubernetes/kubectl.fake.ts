import path from "node:path";
import type { World } from "../../runner/world.ts";
import { realWorld } from "../binaries/real.fake.ts";
import { script, testFolder } from "../test-folder.fake.ts";

/**
 * For tests: a kubectl that answers from a script of sh, in which `$*` are its arguments without those that say where; `exec` runs the command on
 * this machine, in the folder HERE, as if that were the pod, and reports its exit code as kubectl does.
 */
export function fakeKubectl(
	answers: string,
	env: Readonly<Record<string, string>> = {},
): Pick<World, "env" | "clock" | "stop" | "cwd"> {
	const folder = testFolder();
	script(
		path.join(folder, "kubectl"),
		`while :; do case $1 in --context|--namespace) shift 2;; *) break;; esac; done
if [ "$1" = exec ]; then
	pod=$4; while [ "$1" != -- ]; do shift; done; shift
	"$@"; code=$?
	[ $code = 0 ] || { echo "command terminated with exit code $code" >&2; exit $code; }
	exit 0
fi
case "$*" in
${answers}
*) echo "error: unexpected: $*" >&2; exit 1;;
esac`,
	);
	return {
		...realWorld,
		env: { ...process.env, ...env, PATH: `${folder}:${process.env.PATH}` },
	};
}
