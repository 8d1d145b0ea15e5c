// closed-loop: nats, case "1KiB 100000 messages", repeat 1 of 1
// work-queue of 1KiB, 100 000 messages in a closed loop after 10 000 to warm up, at most 10min; 2 producers on 1 connection, 1 topic, 2 consumers on 2 connections; at most 100 in flight per producer
import mqbench from 'k6/x/mqbench';
import nats from 'k6/x/mqbench/nats';

export const messages = 110000; // warm-up included; a closed load, as fast as inFlight allows

// Closed loop: once the first slot comes, every producer sends as fast as it may. k6 keeps the time, at most
// 10min, and the plan says how many messages there are.
const run = mqbench.load(nats, open('./plan.json'));

// The same for every load: the heartbeat lasts 2 s longer than the schedule, then waits for the drain.
export const options = {
  scenarios: {
    heartbeat: {
      executor: 'constant-arrival-rate',
      rate: 100,
      timeUnit: '1s',
      duration: '602s',
      preAllocatedVUs: 4,
      maxVUs: 4,
      gracefulStop: '60s',
    },
  },
};

export default () => run.slot();

// Of a k6 that has no --out mqbench=.
export const handleSummary = () => ({ stdout: run.text() });
