import { mkdirSync } from "node:fs";
import path from "node:path";
import type { World } from "../../runner/world.ts";
import { realWorld } from "../programs/real.fake.ts";
import { script, testFolder } from "../test-folder.fake.ts";

/**
 * For tests: a kubectl that answers from a script of sh, in which `$*` are its arguments without those for the place. `exec` runs the
 * command on this machine, where each pod of `pods` is a folder used as its /mqbench, and reports its exit code as kubectl does.
 */
export function fakeKubectl(
	answers: string,
	pods: readonly string[] = [],
): World & { readonly folderOf: (pod: string) => string } {
	const folder = testFolder();
	const folderOf = (pod: string) => path.join(folder, "pods", pod);
	for (const pod of pods) mkdirSync(folderOf(pod), { recursive: true });
	script(
		path.join(folder, "kubectl"),
		`while :; do case $1 in --context|--namespace) shift 2;; *) break;; esac; done
if [ "$1" = exec ]; then
	pod=$4; while [ "$1" != -- ]; do shift; done; shift
	[ -e "${folder}/pods/$pod" ] || { echo "Error from server (NotFound): pods \\"$pod\\" not found" >&2; exit 1; }
	line=$(printf %s "$3" | sed 's#/mqbench#${folder}/pods/'"$pod"'#g'); shift 3
	sh -c "$line" "$@"; code=$?
	[ $code = 0 ] || { echo "command terminated with exit code $code" >&2; exit $code; }
	exit 0
fi
case "$*" in
${answers}
*) echo "error: unexpected: $*" >&2; exit 1;;
esac`,
	);
	return { ...realWorld, folderOf, env: { ...process.env, PATH: `${folder}:${process.env.PATH}` } };
}
