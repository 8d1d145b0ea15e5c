import { describe, expect, test } from "vitest";
import { variable } from "../brokers/index.ts";
import { metricsMistake, metricsOf } from "./metrics.ts";
import type { System } from "./scenario.ts";

const nats = (metrics?: unknown) => ({ broker: "nats", metrics }) as System["options"];
const broker = { url: "nats://token@127.0.0.1:4567", metrics: ["http://127.0.0.1:8222/varz"] };
const of = (metrics?: unknown, env = {}) =>
	metricsOf({ options: nats(metrics) } as System, broker, env);

describe("where a broker's own metrics are", () => {
	test("by default where the broker reports them itself, if mqbench started it", () => {
		expect(of()).toMatchObject({ from: ["http://127.0.0.1:8222/varz"], own: true });
		expect(of({ show: ["mem"] })).toMatchObject({ own: true, show: ["mem"] });
		expect(of(false)).toBeNull();
		expect(metricsOf({ options: nats() } as System, { url: "nats://a" }, {})).toBeNull();
	});

	test("at the scenario's address, with the broker's port, and a login from the environment", () => {
		const url = `http://me:${variable("PROM")}@127.0.0.1:{port}/metrics,https://b:1/?a=1,2`;
		expect(of({ url, show: ["up"] }, { PROM: "p@ss" })).toMatchObject({
			from: ["http://me:p%40ss@127.0.0.1:4567/metrics", "https://b:1/?a=1,2"],
			own: false,
			show: ["up"],
		});
		expect(of("http://127.0.0.1:1/metrics")?.show).toContain("in_msgs");
	});

	test.each([
		["http://127.0.0.1:{port}/metrics", null],
		["https://a/metrics,http://b:1", null],
		["ftp://a/metrics", "metrics must begin with http://, https://; write e.g. http://host:80"],
		["/metrics", "metrics is not a URL with a host; write e.g. http://host:80"],
		[
			"http://me:secret@a/metrics",
			`metrics holds a password or token, and reports keep a copy of this file; write metrics: "http://user:${variable("HTTP_PASSWORD")}@host:80", and HTTP_PASSWORD=... before the command`,
		],
	])("%s: %s", (url, wrong) => {
		expect(metricsMistake(nats(url), {}, true)).toBe(wrong);
		expect(metricsMistake(nats({ url }), {}, true)).toBe(wrong);
	});

	test("a variable that is not set is named", () => {
		expect(metricsMistake(nats(`http://${variable("PROM")}/`), {}, true)).toContain("PROM");
	});
});
