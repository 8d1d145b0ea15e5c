// several-clients: nats, case "48B 3000/s", repeat 1 of 1
// work-queue of 48B, 3000/s for 10s after 5s warm-up; 6 producers on 6 connections, 1 topic, 4 consumers on 4 connections
import mqbench from 'k6/x/mqbench';
import nats from 'k6/x/mqbench/nats';

export const messagesPerSecond = 3000; // = 300 slots/s x 10 messages

// plan.json has the exact time of each of the 45 000 messages, warm-up included. k6 only hands out
// slots, stretches of that schedule; a pacer sends every message at its own time and makes up for ticks that
// k6 drops.
//
// 3 clients run this script, each with its own part of the heartbeat (--execution-segment). Who sends which
// message follows from plan.json, and T0 is handed out once all are ready: together they send what one would.
const run = mqbench.load(nats, open('./plan.json'));

// The same for every load of so many clients: the heartbeat lasts 5 s longer than the schedule, then waits for the drain.
export const options = {
  scenarios: {
    heartbeat: {
      executor: 'constant-arrival-rate',
      rate: 300,
      timeUnit: '1s',
      duration: '20s',
      preAllocatedVUs: 12,
      maxVUs: 12,
      gracefulStop: '60s',
    },
  },
};

export default () => run.slot();

// Of a k6 that has no --out mqbench=.
export const handleSummary = () => ({ stdout: run.text() });
