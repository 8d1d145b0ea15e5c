// A stream stores what is published; jetStreamPublish waits for the acknowledgement.
//
//   k6 run -e NATS_URL=nats://127.0.0.1:4222 jetstream.js
import { check } from "k6";
import { Nats, sleep } from "k6/x/nats";

export const options = {
	iterations: 3,
	thresholds: { checks: ["rate==1"], nats_publish_count: ["count==9"], nats_ack_seconds: ["p(99)<5000"] },
};

const nats = new Nats({ servers: [__ENV.NATS_URL || "nats://127.0.0.1:4222"] });
const stream = { name: "k6-orders", subjects: ["k6.orders"], max_msgs_per_subject: 100, discard: 0, storage: 1 };

export function setup() {
	nats.jetStreamSetup(stream);
	nats.jetStreamSetup({ ...stream, storage: "memory", max_msgs_per_subject: 200 }); // it is there: updated
}

export default async function () {
	let heard = 0;
	const subscription = nats.jetStreamSubscribe("k6.orders", () => heard++);
	const { sequence } = nats.jetStreamPublish("k6.orders", "by the VU");
	nats.jetStreamPublishWithHeaders("k6.orders", "with headers", { kind: "new" });
	await nats.jetStreamPublishMsgAsync({ topic: "k6.orders", raw: new Uint8Array([1, 2, 3]) });
	await sleep(0.5);
	subscription.close();
	check(sequence, { "messages are numbered": (n) => n === 3 * __ITER + 1 });
	check(heard, { "all that is stored comes": (n) => n === 3 * (__ITER + 1) });
}

export function teardown() {
	nats.jetStreamDelete("k6-orders");
	nats.close();
}
