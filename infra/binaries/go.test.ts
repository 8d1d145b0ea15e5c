import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { script, testFolder } from "../test-folder.fake.ts";
import { checkGo, go, goVersion } from "./go.ts";

/** A folder whose `go` is this piece of shell, and how to run it. */
function withGo(body: string, module = "go 1.26.0\n") {
	const folder = testFolder();
	script(path.join(folder, "go"), body);
	writeFileSync(path.join(folder, "go.mod"), `module x\n\n${module}`);
	return {
		cwd: folder,
		env: { PATH: `${folder}:/usr/bin:/bin` },
		stop: new AbortController().signal,
	};
}

test("hands over each line of both streams", async () => {
	const out: string[] = [];
	const err: string[] = [];
	await go(["one", "two words"], {
		...withGo('for a in "$@"; do echo "$a"; echo "not $a" >&2; done'),
		onStdout: (line) => void out.push(line),
		onStderr: (line) => void err.push(line),
	});
	expect(out).toEqual(["one", "two words"]);
	expect(err).toEqual(["not one", "not two words"]);
});

test("starts nothing when it has been stopped before", async () => {
	const options = withGo("exit 1");
	const stop = AbortSignal.abort("SIGTERM");
	await expect(go(["build"], { ...options, stop })).rejects.toMatchObject({
		code: "interrupted",
		message: "Stopped by SIGTERM.",
	});
});

test.each([
	["go1.26.0", "local"],
	["go1.26.8", "auto"],
	["go1.27", "local"],
	["go2.0", "local"],
	["go1.21.0", "auto"],
	["go1.22.3", "path"],
	["devel go1.27-abcdef", "local"],
])("Go %s with GOTOOLCHAIN=%s will do for go 1.26", async (found, toolchain) => {
	await checkGo(withGo(`echo '${found}'; echo ${toolchain}`));
});

test.each([
	["go1.25.9", "local"],
	["go1.21", "local+auto"],
	["go1.20.1", "auto"],
])("Go %s with GOTOOLCHAIN=%s will not", async (found, toolchain) => {
	await expect(checkGo(withGo(`echo ${found}; echo ${toolchain}`))).rejects.toMatchObject({
		code: "go-old",
	});
});

test("is asked outside of the module, which an old Go cannot read", async () => {
	const options = withGo('[ "$PWD" = / ] || exit 1; echo go1.26.0; echo auto');
	await checkGo(options);
	await expect(goVersion(options)).rejects.toThrow();
});
