import { mkdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { script, testFolder } from "../../../infra/test-folder.fake.ts";
import { describedHere } from "../started.fake.ts";

/** On this machine, with a Java and a Maven that has the jars already. */
function described(written: Readonly<Record<string, unknown>> = {}) {
	const bin = testFolder();
	script(path.join(bin, "java"), `echo 'openjdk version "17.0.1"' >&2`);
	script(
		path.join(bin, "mvn"),
		// biome-ignore lint/suspicious/noTemplateCurlyInString: of the shell.
		'for a; do case "$a" in -DoutputDirectory=*) echo > "${a#*=}/a.jar";; esac; done',
	);
	mkdirSync(path.join(bin, "cache"));
	const env = { PATH: `${bin}:/usr/bin:/bin`, MQBENCH_CACHE_DIR: path.join(bin, "cache") };
	return describedHere("sqs", { version: "1.6.0", ...written }, { env });
}

test("ElasticMQ listens at one address alone, under the limits of Amazon's service, and says when it is up", async () => {
	const made = await described({ config: { "rest-sqs.sqs-limits": "relaxed" } });
	expect(made.file("elasticmq.conf")).toBe(
		`include classpath("application.conf")
node-address.protocol = "http"
node-address.host = "127.0.0.1"
node-address.port = 1
rest-sqs.bind-hostname = "127.0.0.1"
rest-sqs.bind-port = 1
rest-stats.enabled = false
rest-sqs.sqs-limits = "relaxed"
`,
	);
	expect(made.nodes[0]?.argv.join(" ")).toMatch(/ -cp \S+\/\* org\.elasticmq\.server\.Main$/);
	expect(made.url()).toBe("http://127.0.0.1:1");
	expect(made.settings).toMatchObject({ "rest-sqs.sqs-limits": "relaxed" });
	expect(made.ready("Starting ElasticMQ server (1.6.12) ...", 0)).toBe(false);
	expect(made.ready("=== ElasticMQ server (1.6.12) started in 1512 ms ===", 0)).toBe(true);
	expect(made.version()).toBe("ElasticMQ 1.6.12");
	// Nobody has written the jars of this version down.
	expect(made.settings.jars).toContain("no sha256 of ElasticMQ 1.6.0");
});
