/** The tests of hosts over SSH once more, with the one that is too long for npm test: a host that loses its network in mid-run. */
process.env.MQBENCH_ACCEPTANCE = "1";
await import("../e2e/hosts.test.ts");
