import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { script, testFolder } from "../test-folder.fake.ts";
import { checkGo, go, goVersion } from "./go.ts";

/** A folder whose `go` is this piece of shell, and how to run it. */
function withGo(body: string, stop = new AbortController().signal) {
	const cwd = testFolder();
	script(path.join(cwd, "go"), body);
	writeFileSync(path.join(cwd, "go.mod"), "module x\n\ngo 1.26.0\n");
	return { cwd, env: { PATH: `${cwd}:/usr/bin:/bin` }, stop };
}

test("hands over each line of both streams, and starts nothing when it has been stopped before", async () => {
	const out: string[] = [];
	const err: string[] = [];
	await go(["one", "two words"], {
		...withGo('for a in "$@"; do echo "$a"; echo "not $a" >&2; done'),
		onStdout: (line) => void out.push(line),
		onStderr: (line) => void err.push(line),
	});
	expect(out).toEqual(["one", "two words"]);
	expect(err).toEqual(["not one", "not two words"]);
	const stopped = go(["build"], withGo("exit 1", AbortSignal.abort("SIGTERM")));
	await expect(stopped).rejects.toMatchObject({
		code: "interrupted",
		message: "Stopped by SIGTERM.",
	});
});

test.each([
	["go1.26.0", "local", true],
	["go1.27", "local", true],
	["devel go1.27-abcdef", "local", true],
	["go1.21.0", "auto", true],
	["go1.22.3", "path", true],
	["go1.25.9", "local", false],
	["go1.21", "local+auto", false],
	["go1.20.1", "auto", false],
])("Go %s with GOTOOLCHAIN=%s will do for go 1.26: %s", async (found, toolchain, does) => {
	const checked = checkGo(withGo(`echo '${found}'; echo ${toolchain}`));
	if (does) await checked;
	else
		await expect(checked).rejects.toMatchObject({
			code: "go-old",
			message: expect.stringMatching(
				/^go1\S+ is too old .* needs Go 1\.26 or newer \(GOTOOLCHAIN=/,
			),
		});
});

test("is asked outside of the module, which an old Go cannot read", async () => {
	const options = withGo('[ "$PWD" = / ] || exit 1; echo go1.26.0; echo auto');
	await checkGo(options);
	await expect(goVersion(options)).rejects.toThrow();
});
