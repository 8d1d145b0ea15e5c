// fan-out: nats, case "256B 1000/s poisson", repeat 1 of 1
// fan-out of 256B, 1000/s at random times for 5s after 1s warm-up; 4 producers on 1 connection, 4 topics, 10 subscribers on 2 connections, subscribed by a wildcard, 100 bystanders; 30 % of payload random
import mqbench from 'k6/x/mqbench';
import nats from 'k6/x/mqbench/nats';

export const messagesPerSecond = 1000; // on average; = 100 slots/s x 10 messages

// plan.json has the exact time of each of the 5 939 messages, warm-up included. k6 only hands out
// slots, stretches of that schedule; a pacer sends every message at its own time and makes up for ticks that
// k6 drops.
const run = mqbench.load(nats, open('./plan.json'));

// The same for every load: the heartbeat lasts 2 s longer than the schedule, then waits for the drain.
export const options = {
  scenarios: {
    heartbeat: {
      executor: 'constant-arrival-rate',
      rate: 100,
      timeUnit: '1s',
      duration: '8s',
      preAllocatedVUs: 4,
      maxVUs: 4,
      gracefulStop: '60s',
    },
  },
};

export default () => run.slot();

// Of a k6 that has no --out mqbench=.
export const handleSummary = () => ({ stdout: run.text() });
