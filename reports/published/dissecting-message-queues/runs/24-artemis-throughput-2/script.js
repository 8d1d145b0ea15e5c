// dissecting-message-queues: artemis, case "throughput", repeat 2 of 3
// round-trip of 1KiB, 1 000 000 messages in a closed loop after 100 000 to warm up, at most 10min; 1 producer on 1 connection, 1 topic; at most 1 000 000 in flight per producer
import mqbench from 'k6/x/mqbench';
import amqp from 'k6/x/mqbench/amqp';

export const messages = 1100000; // warm-up included; a closed load, as fast as inFlight allows

// Closed loop: once the first slot comes, every producer sends as fast as it may. k6 keeps the time, at most
// 10min, and the plan says how many messages there are.
const run = mqbench.load(amqp, open('./plan.json'));

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
      gracefulStop: '130s',
    },
  },
};

export default () => run.slot();

// Of a k6 that has no --out mqbench=.
export const handleSummary = () => ({ stdout: run.text() });
