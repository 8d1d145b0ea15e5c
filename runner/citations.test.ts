import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "./package.ts";

const FOLDERS = ["runner", "infra", "extensions", "scenarios", "reports"];

/** Without what a run or a package manager writes. */
const files = [".", ...FOLDERS, ".github", ".ci"].flatMap((folder) =>
	readdirSync(path.join(packageFolder, folder), { recursive: folder !== ".", withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => path.join(entry.parentPath, entry.name))
		.filter(
			(file) =>
				/\.(ts|go|md|sh|ya?ml|json|toml)$/.test(file) &&
				!/node_modules|\/published\/|\/runs\/|\/golden\//.test(file),
		),
);

test("no document is cited that is not in the repository", () => {
	const named = new RegExp(
		`\\b(${["DESIGN", "METHODOLOGY", "INFRA", "HOUSE", "STYLE", "SYSTEMS", "ANCHORS", "EXPERIMENTS"].join("|")})\\.md\\b`,
	);
	expect(files.length).toBeGreaterThan(500);
	expect(files.filter((file) => named.test(readFileSync(file, "utf8")))).toEqual([]);
});

test("a section of a page in reports/ that is cited is there", () => {
	const sections = (page: string) =>
		readFileSync(path.join(packageFolder, "reports", page), "utf8").matchAll(/^#+ (.*)$/gm);
	const cited = files.flatMap((file) =>
		[
			...readFileSync(file, "utf8")
				.replaceAll(/\n\s*(?:\*|\/\/) +/g, " ")
				.matchAll(/reports\/(\w+\.md), "(.*?)"\)/g),
		].map(([, page = "", title = ""]) => ({ file, page, title })),
	);
	expect(cited.length).toBeGreaterThan(15);
	expect(
		cited.filter(({ page, title }) => ![...sections(page)].some(([, t]) => t?.startsWith(title))),
	).toEqual([]);
});

test.each([
	"runner/README.md",
	"runner/brokers/README.md",
	"infra/README.md",
	"infra/rent/README.md",
	"extensions/README.md",
])("%s names files and folders that are there", (readme) => {
	const own = path.posix.dirname(readme);
	const named = readFileSync(path.join(packageFolder, readme), "utf8")
		.replaceAll(/^```.*?^```/gms, "")
		.matchAll(/`(?!\/)([\w@./-]+(?:\.(?:ts|go|mjs|sh|xml)|\/))`/g);
	const paths = [...named].map(([, name = ""]) => name);
	expect(paths.length).toBeGreaterThan(5);
	expect(
		paths.filter(
			(name) =>
				!["", own].some((from) => isThere(path.posix.join(from, name))) &&
				// The text around a bare name shows its folder.
				(name.includes("/") || !below(own).has(name)),
		),
	).toEqual([]);
});

// --- internal ---

function isThere(name: string): boolean {
	return existsSync(path.join(packageFolder, name));
}

function below(folder: string): Set<string> {
	const top = path.join(packageFolder, folder) + path.sep;
	return new Set(files.filter((file) => file.startsWith(top)).map((file) => path.basename(file)));
}
