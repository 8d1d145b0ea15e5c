// backlog: nats, case "1KiB 5000/s", repeat 1 of 1
// backlog of 1KiB, 5000/s for 40s after 5s warm-up; 1 producer on 1 connection, 1 topic, 2 consumers on 2 connections; consumers pause after 8s for 10s while 50 000 messages pile up, and have 22s to drain them
import mqbench from 'k6/x/mqbench';
import nats from 'k6/x/mqbench/nats';

export const messagesPerSecond = 5000; // = 100 slots/s x 50 messages

// plan.json has the exact time of each of the 225 000 messages, warm-up included. k6 only hands out
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
      duration: '47s',
      preAllocatedVUs: 4,
      maxVUs: 4,
      gracefulStop: '60s',
    },
  },
};

export default () => run.slot();

// Of a k6 that has no --out mqbench=.
export const handleSummary = () => ({ stdout: run.text() });
