/** mqbench in k6 scripts: https://github.com/mqbench/mqbench/tree/main/extensions/xk6-mqbench */
declare module "k6/x/mqbench" {
	/** What `mqbench schema scenario` describes: one system, one workload, a broker that is there. */
	export interface Scenario {
		name?: string;
		system: string | { broker: string; url?: string; [option: string]: unknown };
		workload: Record<string, unknown>;
		sla?: string[];
		[field: string]: unknown;
	}

	/** A load of this test. */
	export interface Run {
		/** The iteration. */
		slot(): void;
		/** In handleSummary: result.json (`mqbench schema result`). */
		summary(): Record<string, unknown>;
		/** In handleSummary: the result for people. */
		text(): string;
	}

	/** A load that was opened by its words. */
	export interface Opened extends Run {
		/** k6's scenario that hands out slots: { ...run.scenario, exec: "broker" }. */
		readonly scenario: Readonly<Record<string, unknown>>;
	}

	const mqbench: {
		/** Plans a load, in the init context. Throws a sentence for each mistake. */
		open(scenario: Scenario): Opened;
		/** Takes a plan that `mqbench compile --plan` has printed, in the init context. */
		load(driver: unknown, plan: string): Run;
	};
	export default mqbench;
}
