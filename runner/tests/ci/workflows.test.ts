import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { script as sh } from "../../../infra/test-folder.fake.ts";
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

test("actionlint finds nothing in workflows and examples", () => {
	const { status, said } = actionlint();
	expect(said).toBe("");
	expect(status).toBe(0);
}, 180_000);

test("one version of each foreign action is used everywhere, by its commit, with the version beside it", () => {
	const versions = new Map<string, Set<string>>();
	for (const file of [...actions, ...workflows])
		for (const [, what = "", rest = ""] of readFileSync(file, "utf8").matchAll(
			/^[^#\n]*\buses:\s*(\S+)(.*)$/gm,
		)) {
			if (what.startsWith("./") || OWN.test(what)) continue;
			expect(what).toMatch(/^[\w-]+\/[\w-]+(\/[\w-]+)*@[0-9a-f]{40}$/);
			expect(rest).toMatch(/^ # v\d+\.\d+\.\d+$/);
			const [name = "", commit] = what.split("@");
			const repository = name.split("/").slice(0, 2).join("/");
			versions.set(repository, (versions.get(repository) ?? new Set()).add(`${commit}${rest}`));
		}
	expect(versions.size).toBe(8);
	for (const [name, all] of versions) expect([...all], name).toHaveLength(1);
});

test.each(named([...actions, ...workflows]))(
	"%s puts nothing from outside into a shell's text, and fails where a part of a pipe does, as GitHub's bash does if it is asked for by its name",
	(_name, file) => {
		for (const { run = "", shell } of stepsOf(file)) {
			expect(run).not.toMatch(/\$\{\{/);
			if (/[^|]\|[^|]/.test(run)) expect(shell, run).toBe("bash");
		}
	},
);

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
	// It waits for the workflows of the other examples, and takes what the action uploads, by their names.
	expect(steps[0]?.with?.pattern).toBe("mqbench-comment-*");
	const uploads = readAction(path.join(ACTIONS, "mqbench")).runs.steps;
	const uploaded = uploads.find((step) => step.name === "Upload the comment");
	expect(uploaded?.with?.name).toMatch(/^mqbench-comment-/);
	for (const name of ["gate.yml", "ab.yml"])
		expect(on.workflow_run.workflows).toContain(
			parse(readFileSync(path.join(EXAMPLES, name), "utf8")).name,
		);
	for (const example of workflows)
		expect(readFileSync(example, "utf8")).not.toContain("pull_request_target");
});

test.each(named(actions))("%s uses every input, and declares each that is used", (_name, file) => {
	const { runs, inputs, outputs = {} }: Action = readAction(path.dirname(file));
	const ids = runs.steps.flatMap((step) => step.id ?? []);
	expect(new Set(ids).size).toBe(ids.length);
	for (const [name, input] of Object.entries(inputs)) {
		expect(input.description, name).toMatch(/\.$/);
		expect(input.required === true, name).toBe(input.default === undefined);
	}
	const text = JSON.stringify(runs);
	const used = [...text.matchAll(/\binputs\.([\w-]+)/g)].map(([, name]) => name);
	expect([...new Set(used)].sort()).toEqual(Object.keys(inputs).sort());
	for (const [, id] of `${text}${JSON.stringify(outputs)}`.matchAll(/\bsteps\.([\w-]+)\./g))
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
		const { readScenario } = await import("../../../infra/read-scenario.ts");
		const { realWorld } = await import("../../../infra/programs/real.fake.ts");
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
	const night = "2026-11-20T031700Z";
	mkdirSync(path.join(folder, "bin"));
	sh(path.join(folder, "bin", "date"), `echo ${night}`);
	execFileSync("bash", ["-eo", "pipefail", "-c", script ?? "exit 1"], {
		cwd: trend,
		env: { ...GIT, PATH: `${folder}/bin:${process.env.PATH}`, REPORT: report, CLI: cli },
	});
	const files = git(remote, "ls-tree", "-r", "--name-only", "mqbench-trend");
	const nights = new Set(files.match(/^reports\/\d{4}-[^/]+/gm));
	expect(nights.size).toBe(180);
	for (const name of ["report.html", "result.json"])
		expect(files).toContain(`reports/${night}/${name}\n`);
	expect(git(remote, "rev-list", "--count", "mqbench-trend").trim()).toBe("1");
	expect(git(remote, "show", "mqbench-trend:reports/index.html")).toContain(`${night}/report.html`);
}, 180_000);

// --- internal ---

/** The author of commits in tests, whatever the machine has. */
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

function stepsOf(file: string): readonly Step[] {
	const { runs, jobs } = parse(readFileSync(file, "utf8"));
	return runs
		? (runs.steps as Step[])
		: Object.values(jobs as Record<string, Job>).flatMap(({ steps, defaults }) =>
				steps.map((step) => ({ ...defaults?.run, ...step })),
			);
}

/** Over a repository in which examples are workflows, and our actions are its own, so that actionlint reads their action.yml. */
function actionlint(): { status: number | null; said: string } {
	const repository = temporaryFolder();
	mkdirSync(path.join(repository, ".git"));
	cpSync(GITHUB, path.join(repository, ".github"), { recursive: true });
	for (const file of filesBelow(EXAMPLES, ".yml"))
		write(
			path.join(repository, ".github", "workflows", `example-${path.basename(file)}`),
			readFileSync(file, "utf8").replaceAll(
				/uses: (mqbench\/\S+)/g,
				(_, what: string) => `uses: ./.github/actions/${OWN.exec(what)?.[1] ?? what}`,
			),
		);
	const { status, stdout, stderr } = spawnSync(
		"go",
		["run", ACTIONLINT, "-no-color", "-shellcheck=", "-pyflakes="],
		{ cwd: repository, encoding: "utf8", env: { ...process.env, GOFLAGS: "", GOWORK: "off" } },
	);
	// go prints downloads and the exit code on stderr.
	const errors = stderr.replaceAll(/^(go: (downloading|finding)\b.*|exit status \d+)\n/gm, "");
	return { status, said: stdout + errors };
}
