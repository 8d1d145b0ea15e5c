import { expect, test } from "vitest";
import { ownerText } from "../owner.ts";
import { findDocker } from "./cli.ts";
import { fakeDocker } from "./engine.fake.ts";
import { beginRun, leftRuns } from "./labels.ts";

test("what a run has made is removed by its label, kind by kind, and nothing else is touched", async () => {
	const { world, calls } = fakeDocker(
		'gone=$(dirname "$0")/gone; case "$1" in ps) [ -e "$gone" ] || echo c1;; rm) touch "$gone";; esac',
	);
	const run = beginRun(findDocker(world, ""));
	expect(run.labels["mqbench.owner"]).toBe(ownerText(process.pid));
	expect(await run.remove()).toBe(true);
	const only = `--quiet --filter label=${run.label}`;
	expect(calls()).toEqual([
		`ps --all ${only}`,
		"rm --force --volumes c1",
		`ps --all ${only}`,
		`volume ls ${only}`,
		`network ls ${only}`,
	]);
});

test("a run is left if all of its owners are gone", async () => {
	const me = ownerText(process.pid);
	const gone = me.replace(/^\d+/, String(2 ** 22 + 1));
	const { world } = fakeDocker(
		`case "$1" in ps) echo "mine ${me}"; echo "dead ${gone}"; echo "both ${gone}";; volume) echo "both ${me}"; echo "other strange";; esac`,
	);
	expect(await leftRuns(findDocker(world, ""))).toEqual(["dead"]);
});
