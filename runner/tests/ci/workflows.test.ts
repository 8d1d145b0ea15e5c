import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Expr } from "@actions/expressions";
import * as ast from "@actions/expressions/ast";
import { falsy } from "@actions/expressions/result";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { packageFolder } from "../../package.ts";
import {
	ACTIONS,
	type Action,
	filesBelow,
	readAction,
	type Step,
	temporaryFolder,
	write,
} from "./action.fake.ts";
import { expressionsOf, parsed } from "./expressions.fake.ts";

const GITHUB = path.join(packageFolder, ".github");
const EXAMPLES = path.join(ACTIONS, "mqbench", "examples");
/** Stands in examples where a user writes the commit of mqbench that was read. */
const OWN = /^mqbench\/mqbench\/\.github\/actions\/([a-z]+)@COMMIT_OF_MQBENCH$/;
/** Go builds it once, within 20 s. */
const ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12";

const workflows = [
	...filesBelow(path.join(GITHUB, "workflows"), ".yml"),
	...filesBelow(EXAMPLES, ".yml"),
];
const actions = filesBelow(ACTIONS, `${path.sep}action.yml`);
const named = (files: readonly string[]) =>
	files.map((file) => [path.relative(GITHUB, file), file] as const);

interface Job {
	readonly permissions?: Record<string, string>;
	readonly defaults?: { readonly run?: { readonly shell?: string } };
	readonly steps: readonly Step[];
}

test("there is something to look at", () => {
	expect(named(workflows).map(([name]) => path.basename(name))).toEqual([
		"ci.yml",
		"kubernetes.yml",
		"release.yml",
		"ab.yml",
		"comment.yml",
		"gate.yml",
		"nightly.yml",
	]);
	expect(actions).toHaveLength(2);
});

test("actionlint finds nothing in workflows and examples", () => {
	const { status, said } = actionlint();
	expect(said).toBe("");
	expect(status).toBe(0);
}, 180_000);

test("actionlint sees our own actions: an input and an output that they do not have are found", () => {
	const { status, said } = actionlint((text) =>
		text
			.replace("scenario: bench/orders.yaml", "scenari: bench/orders.yaml")
			.replace("outputs.verdict", "outputs.verdic"),
	);
	expect(status).toBe(1);
	expect(said).toContain('input "scenari" is not defined in action "mqbench"');
	expect(said).toContain('property "verdic" is not defined');
}, 180_000);

test.each(named([...actions, ...workflows]))(
	"%s pins what it uses by commit, with the version beside it",
	(_name, file) => {
		for (const line of readFileSync(file, "utf8").split("\n")) {
			const uses = /\buses:\s*(\S+)(.*)$/.exec(line);
			if (!uses || line.trimStart().startsWith("#")) continue;
			const [, what = "", rest = ""] = uses;
			if (what.startsWith("./") || OWN.test(what)) continue;
			expect(what).toMatch(/^[\w-]+\/[\w-]+(\/[\w-]+)*@[0-9a-f]{40}$/);
			expect(rest).toMatch(/^ # v\d+\.\d+\.\d+$/);
		}
	},
);

test("one version of each foreign action is used everywhere", () => {
	const versions = new Map<string, Set<string>>();
	for (const file of [...actions, ...workflows])
		for (const [, name = "", version = ""] of readFileSync(file, "utf8").matchAll(
			/uses: ([\w-]+\/[\w-]+)\S*@([0-9a-f]{40} # v\S+)/g,
		))
			versions.set(name, (versions.get(name) ?? new Set()).add(version));
	expect(versions.size).toBe(8);
	for (const [name, all] of versions) expect([...all], name).toHaveLength(1);
});

test.each(named([...actions, ...workflows]))(
	"%s puts nothing from outside into a shell's text",
	(_name, file) => {
		for (const step of stepsOf(file)) expect(step.run ?? "").not.toMatch(/\$\{\{/);
	},
);

test.each(named([...actions, ...workflows]))(
	"%s fails where a part of a pipe does, as GitHub's bash does only if it is asked for by its name",
	(_name, file) => {
		for (const { run = "", shell } of stepsOf(file))
			if (/[^|]\|[^|]/.test(run)) expect(shell, run).toBe("bash");
	},
);

test.each(named([...actions, ...workflows]))(
	"%s chooses with && and || nothing that counts as false: it would get the other",
	(_name, file) => {
		for (const expression of expressionsOf(readFileSync(file, "utf8")))
			expect(neverChosen(parsed(expression)), expression).toBe(false);
	},
);

test("such a choice is found", () => {
	const found = (expression: string) => neverChosen(parsed(expression));
	expect(found("github.event_name == 'push' && '' || '--dry-run'")).toBe(true);
	expect(found("always() && (inputs.a && 0 || inputs.b) != 1")).toBe(true);
	expect(found("github.event_name == 'push' && 'a' || ''")).toBe(false);
});

test.each(named(workflows))(
	"%s says what its token may do, and keeps it out of checkouts",
	(_name, file) => {
		const { permissions, jobs } = parse(readFileSync(file, "utf8"));
		expect(permissions).toBeTypeOf("object");
		for (const value of Object.values(permissions as object)) expect(value).toBe("read");
		for (const job of Object.values(jobs as Record<string, Job>))
			for (const step of job.steps) {
				if (!step.uses?.startsWith("actions/checkout@")) continue;
				// Only the job that pushes keeps it.
				if (job.permissions?.contents === "write" && step.with?.ref) continue;
				expect(step.with?.["persist-credentials"]).toBe(false);
			}
	},
);

test("the workflow that may write comments has no code of the pull request", () => {
	const file = path.join(EXAMPLES, "comment.yml");
	const { on, permissions, jobs } = parse(readFileSync(file, "utf8"));
	expect(Object.keys(on)).toEqual(["workflow_run"]);
	expect(permissions).toEqual({});
	expect(Object.keys(jobs)).toEqual(["comment"]);
	const { steps, permissions: own } = jobs.comment as Job;
	expect(own).toEqual({ actions: "read", "pull-requests": "write" });
	expect(steps.map((step) => step.uses?.split("@")[0])).toEqual([
		"actions/download-artifact",
		"mqbench/mqbench/.github/actions/comment",
	]);
	expect(steps.some((step) => step.run)).toBe(false);
	// It waits for the workflows of the other examples, by their name.
	for (const name of ["gate.yml", "ab.yml"])
		expect(on.workflow_run.workflows).toContain(
			parse(readFileSync(path.join(EXAMPLES, name), "utf8")).name,
		);
	for (const example of workflows)
		expect(readFileSync(example, "utf8")).not.toContain("pull_request_target");
});

test("what is downloaded is named as it is uploaded", () => {
	const { steps } = readAction(path.join(ACTIONS, "mqbench")).runs;
	const uploaded = steps.find((step) => step.name === "Upload the comment");
	expect(uploaded?.with?.name).toMatch(/^mqbench-comment-/);
	const example = readFileSync(path.join(EXAMPLES, "comment.yml"), "utf8");
	expect(example).toContain("pattern: mqbench-comment-*");
});

test.each(named(actions))("%s is whole", (_name, file) => {
	const action: Action = readAction(path.dirname(file));
	expect(Object.keys(action).sort()).toEqual(
		["description", "inputs", "name", "runs", ...outputsKey(action)].sort(),
	);
	expect(action.runs.using).toBe("composite");
	const steps = action.runs.steps;
	const ids = steps.flatMap((step) => step.id ?? []);
	expect(new Set(ids).size).toBe(ids.length);
	for (const step of steps) {
		expect(Number("run" in step) + Number("uses" in step)).toBe(1);
		if (step.run !== undefined) expect(step.shell).toBe("bash");
		// GitHub's names; a misspelt one would be ignored.
		for (const key of Object.keys(step))
			expect(["id", "name", "if", "uses", "with", "run", "shell", "env"]).toContain(key);
	}
	for (const [name, input] of Object.entries(action.inputs)) {
		expect(input.description, name).toMatch(/\.$/);
		expect(input.required === true, name).toBe(input.default === undefined);
	}
	// Every input is used, and every one that is used is declared.
	const text = JSON.stringify(action.runs);
	const used = [...text.matchAll(/\binputs\.([\w-]+)/g)].map(([, name]) => name);
	expect([...new Set(used)].sort()).toEqual(Object.keys(action.inputs).sort());
	const outputs = JSON.stringify(action.outputs ?? {});
	for (const [, id] of `${text}${outputs}`.matchAll(/\bsteps\.([\w-]+)\./g))
		expect(ids).toContain(id);
});

test.each(named(actions))(
	"%s gives each script the variables that it reads, and none that it does not",
	(_name, file) => {
		for (const step of stepsOf(file)) {
			const script = /"\$GITHUB_ACTION_PATH\/([\w.]+)"/.exec(step.run ?? "")?.[1];
			if (script === undefined) continue;
			const text = readFileSync(path.join(path.dirname(file), script), "utf8");
			const read = [...text.matchAll(/\benv\.([A-Z_]+)/g)].map(([, n]) => n);
			const given = Object.keys(step.env ?? {});
			for (const name of given) expect(read).toContain(name);
			for (const name of read)
				if (!/^(GITHUB|RUNNER)_/.test(name ?? "") && !OPTIONAL.has(name ?? ""))
					expect(given).toContain(name);
		}
	},
);

test.each(filesBelow(EXAMPLES, ".yaml").map((file) => [path.basename(file), file]))(
	"the scenario %s is one that mqbench takes",
	async (_name, file) => {
		const { readScenario } = await import("../../scenario/read.ts");
		const { realWorld } = await import("../../../infra/binaries/real.fake.ts");
		const world = { ...realWorld, env: { BUILD: "/build" } };
		const { scenario } = await readScenario(file, {}, world);
		expect(scenario.name).toBe(path.basename(file, ".yaml"));
	},
);

test("the nightly example keeps 180 nights in one commit, and a page that leads to each", () => {
	const folder = temporaryFolder();
	const git = (cwd: string, ...args: string[]) =>
		execFileSync("git", args, { cwd, encoding: "utf8", env: GIT });
	const remote = path.join(folder, "remote");
	const trend = path.join(folder, "trend");
	git(folder, "init", "--quiet", "--bare", remote);
	git(folder, "clone", "--quiet", remote, trend);
	git(trend, "switch", "--quiet", "--orphan", "mqbench-trend");
	git(trend, "commit", "--quiet", "--allow-empty", "-m", "Measured runs");
	git(trend, "push", "--quiet", "origin", "mqbench-trend");
	for (let i = 0; i < 180; i++)
		write(path.join(trend, "reports", `2020-01-01T${1000 + i}Z`, "x"), "");
	const report = path.join(folder, "report");
	cpSync(path.join(packageFolder, "runner", "tests", "fixtures", "healthy"), report, {
		recursive: true,
	});
	const cli = path.join(packageFolder, "dist", "runner", "cli.js");
	execFileSync(process.execPath, [cli, "report", report], { stdio: "pipe" });
	const script = stepsOf(path.join(EXAMPLES, "nightly.yml")).find(
		({ name }) => name === "Add this night",
	)?.run;
	for (const night of ["2026-11-19T031700Z", "2026-11-20T031700Z"]) {
		const date = path.join(folder, night, "date");
		write(date, `#!/bin/sh\necho ${night}\n`);
		chmodSync(date, 0o755);
		execFileSync("bash", ["-eo", "pipefail", "-c", script ?? "exit 1"], {
			cwd: trend,
			env: { ...GIT, PATH: `${path.dirname(date)}:${process.env.PATH}`, REPORT: report, CLI: cli },
		});
	}
	const files = git(remote, "ls-tree", "-r", "--name-only", "mqbench-trend");
	const nights = new Set(files.match(/^reports\/\d{4}-[^/]+/gm));
	expect(nights.size).toBe(180);
	expect(files).toContain("reports/2026-11-19T031700Z/report.html\n");
	expect(files).toContain("reports/2026-11-20T031700Z/result.json\n");
	expect(git(remote, "rev-list", "--count", "mqbench-trend").trim()).toBe("1");
	const page = git(remote, "show", "mqbench-trend:reports/index.html");
	for (const night of ["2026-11-19T031700Z", "2026-11-20T031700Z"])
		expect(page).toContain(`${night}/report.html`);
}, 180_000);

// --- internal ---

/** `condition && '' || other` is always `other`. */
function neverChosen(tree: Expr): boolean {
	if (tree instanceof ast.Grouping) return neverChosen(tree.group);
	if (tree instanceof ast.Unary) return neverChosen(tree.expr);
	if (tree instanceof ast.Binary) return neverChosen(tree.left) || neverChosen(tree.right);
	if (tree instanceof ast.FunctionCall) return tree.args.some(neverChosen);
	if (!(tree instanceof ast.Logical)) return false;
	const chosen = tree.args
		.slice(0, -1)
		.filter((arg) => arg instanceof ast.Logical)
		.map((arg) => arg.args.at(-1));
	return (
		(tree.operator.lexeme === "||" &&
			chosen.some((last) => last instanceof ast.Literal && falsy(last.literal))) ||
		tree.args.some(neverChosen)
	);
}

/** Who makes commits in tests, whatever the machine says. */
const GIT = {
	...process.env,
	GIT_CONFIG_GLOBAL: "/dev/null",
	GIT_AUTHOR_NAME: "test",
	GIT_AUTHOR_EMAIL: "test@example.com",
	GIT_COMMITTER_NAME: "test",
	GIT_COMMITTER_EMAIL: "test@example.com",
};

/** Only tests set it. */
const OPTIONAL = new Set(["MQBENCH_RETRY_MS", "MQBENCH_STATE_DIR"]);

function outputsKey(action: Action): string[] {
	return action.outputs ? ["outputs"] : [];
}

function stepsOf(file: string): readonly Step[] {
	const { runs, jobs } = parse(readFileSync(file, "utf8"));
	return runs
		? (runs.steps as Step[])
		: Object.values(jobs as Record<string, Job>).flatMap(({ steps, defaults }) =>
				steps.map((step) => ({ ...defaults?.run, ...step })),
			);
}

/** Over a repository in which examples are workflows, and our actions are its own, so that actionlint reads their action.yml. */
function actionlint(edit = (text: string) => text): { status: number | null; said: string } {
	const repository = temporaryFolder();
	mkdirSync(path.join(repository, ".git"));
	cpSync(GITHUB, path.join(repository, ".github"), { recursive: true });
	for (const file of filesBelow(EXAMPLES, ".yml"))
		write(
			path.join(repository, ".github", "workflows", `example-${path.basename(file)}`),
			edit(
				readFileSync(file, "utf8").replaceAll(
					/uses: (mqbench\/\S+)/g,
					(_, what: string) => `uses: ./.github/actions/${OWN.exec(what)?.[1] ?? what}`,
				),
			),
		);
	const { status, stdout, stderr } = spawnSync(
		"go",
		["run", ACTIONLINT, "-no-color", "-shellcheck=", "-pyflakes="],
		{ cwd: repository, encoding: "utf8", env: { ...process.env, GOFLAGS: "", GOWORK: "off" } },
	);
	// go tells of downloads and of the exit code on stderr.
	const errors = stderr.replaceAll(/^(go: (downloading|finding)\b.*|exit status \d+)\n/gm, "");
	return { status, said: stdout + errors };
}
