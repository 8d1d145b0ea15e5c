import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { packageFolder } from "../../runner/package.ts";
import { loadScenario } from "../../runner/scenario/load.ts";
import { RIGHTS } from "./look.ts";
import { RBAC } from "./planned.ts";

const documents = (name: string) =>
	parseAllDocuments(readFileSync(path.join(packageFolder, name), "utf8")).map((one) => {
		expect(one.errors).toEqual([]);
		return one.toJS();
	});
const kind = (name: string, all: ReturnType<typeof documents>) =>
	all.find((one) => one.kind === name);

test("the shipped role gives the rights that are asked for, in its namespace alone", () => {
	const all = documents(RBAC);
	expect(all.map((one) => one.kind)).toEqual(["ServiceAccount", "Role", "RoleBinding"]);
	const given = kind("Role", all).rules.flatMap(
		(rule: { apiGroups: string[]; resources: string[]; verbs: string[] }) =>
			rule.resources.flatMap((resource) =>
				rule.verbs.map(
					(verb) => `${verb} ${resource}${rule.apiGroups[0] === "batch" ? ".batch" : ""}`,
				),
			),
	);
	expect(given).toEqual(expect.arrayContaining([...RIGHTS]));
	// kubectl exec over WebSockets is a GET.
	expect(given.filter((one: string) => !RIGHTS.includes(one as never))).toEqual(["get pods/exec"]);
});

test("the Job and the CronJob run the same pod, and its scenario is right", () => {
	const all = documents("infra/kubernetes/from-inside.yaml");
	const pod = kind("Job", all).spec.template.spec;
	expect(kind("CronJob", all).spec.jobTemplate.spec.template.spec).toEqual(pod);
	const [container] = pod.containers;
	expect(container.resources.requests).toEqual(container.resources.limits);
	const { data } = kind("ConfigMap", all);
	const [file] = container.args;
	const { systems, target } = loadScenario(
		path.basename(file),
		data[path.basename(file)],
		{},
		{ [container.env[0].name]: kind("Secret", all).stringData.url },
	);
	expect(target).toBe("existing");
	expect(systems[0]?.url).toBe("nats://nats:4222");
});
