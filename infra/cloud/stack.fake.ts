import type { Stack } from "./provider.ts";

/** For tests: a stack whose machines are a list. */
export interface FakeStack extends Stack {
	/** What was asked of it, in this order. */
	readonly asked: string[];
	/** What is there. */
	there: string[];
}

export function fakeStack(parts: Partial<Stack> = {}): FakeStack {
	const asked: string[] = [];
	const stack: FakeStack = {
		asked,
		there: [],
		async up(options) {
			asked.push("up");
			stack.there = ["aws:ec2/instance:Instance broker-1 (i-0abc)"];
			options.say("aws:ec2:Instance broker-1 created");
			return await parts.up?.(options);
		},
		async destroy(options) {
			asked.push("destroy");
			await parts.destroy?.(options);
			stack.there = [];
		},
		async cancel() {
			asked.push("cancel");
			await parts.cancel?.();
		},
		async resources() {
			return parts.resources ? await parts.resources() : stack.there;
		},
		async unsure() {
			return (await parts.unsure?.()) ?? [];
		},
		async remove() {
			asked.push("remove");
			await parts.remove?.();
		},
	};
	return stack;
}
