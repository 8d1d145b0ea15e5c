import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { laterPrograms } from "../../runner/brokers/index.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { FIRST, modulesOf } from "./programs.ts";
import { type ResolveOptions, resolveBinaries } from "./resolve.ts";

/** The fake `go`'s actions, command by command; each is a piece of shell. */
export interface FakeGo {
	readonly env?: string;
	readonly download?: string;
	readonly list?: string;
	readonly build?: string;
}

/** For tests: a machine with a small Go module, an empty cache and a fake `go`; null for none. `told` are the printed lines. */
export function machine(go: FakeGo | null = {}, env: Readonly<Record<string, string>> = {}) {
	const folder = testFolder();
	const bin = path.join(folder, "bin");
	const cache = path.join(folder, "cache");
	const extensions = path.join(folder, "extensions");
	const log = path.join(folder, "go.log");
	mkdirSync(bin);
	writeFileSync(log, "");
	for (const { module } of modulesOf([...FIRST, ...laterPrograms])) {
		const where = path.join(extensions, module);
		mkdirSync(where, { recursive: true });
		writeFileSync(path.join(where, "go.mod"), module === "." ? MODULE : "module other\n");
	}
	writeFileSync(path.join(extensions, "main.go"), "package main\n");
	if (go) script(path.join(bin, "go"), fakeGo({ ...PLAYS, ...go }, log));
	const world = fakeWorld({
		cwd: folder,
		env: {
			// The rest of PATH is for the fake go itself.
			PATH: go ? `${bin}:/usr/bin:/bin` : bin,
			MQBENCH_CACHE_DIR: cache,
			...env,
		},
	});
	const told: string[] = [];
	return {
		folder,
		cache,
		extensions,
		world,
		told,
		commands: () => readFileSync(log, "utf8").split("\n").filter(Boolean),
		resolve: (systems: ResolveOptions["systems"] = []) =>
			resolveBinaries(world, {
				systems,
				extensions,
				version: "1.2.3",
				progress: {
					say: (text) => void told.push(text),
					step: (phase, done, all) => void told.push(`${phase} ${done}/${all}`),
				},
			}),
	};
}

// --- internal ---

const MODULE = `module example.com/x

go 1.26.0

require (
	example.com/a v1.0.0
	example.com/b v1.0.0 // indirect
)
`;

/** A Go for which all goes well. */
const PLAYS: Required<FakeGo> = {
	env: 'for name in "$@"; do case "$name" in GOVERSION) echo go1.26.8;; GOTOOLCHAIN) echo auto;; esac; done',
	download:
		'echo \'{"Path": "example.com/a",\'; printf \'\\t"Path": "example.com/a",\\n\'; printf \'\\t"Path": "example.com/b",\\n\'',
	list: "echo a; echo b; echo c",
	build: `
		while [ "$1" != -o ]; do shift; done
		echo a >&2; echo b >&2
		for program in $programs; do
			printf '#!/bin/sh\\necho %s k6/x/mqbench\\n' $program > "$2$program"
			chmod +x "$2$program"
		done`,
};

function fakeGo(play: Required<FakeGo>, log: string): string {
	// For modules built together it only acts for the first, which has all programs.
	const together = modulesOf(FIRST).map(({ module }) => `*/${module}`);
	return `case "$PWD" in
${together.filter((one) => one !== "*/.").join(" | ")}) exit 0 ;;
*/servers/*) programs=$(basename "$PWD") ;;
*) programs="k6 nats-server agent" ;;
esac
echo "$*" >> '${log}'
command="$1"; shift
case "$command" in
env) ${play.env} ;;
mod) ${play.download} ;;
list) ${play.list} ;;
build) ${play.build} ;;
*) exit 2 ;;
esac`;
}
