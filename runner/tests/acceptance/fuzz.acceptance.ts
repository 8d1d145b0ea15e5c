// The test of `npm test` with 10 000 mutated scenarios. A vitest within this one would remove the images of other tests at its end.
process.env.MQBENCH_FUZZ_ROUNDS = "10000";
await import("../../scenario/load.fuzz.test.ts");

export {};
