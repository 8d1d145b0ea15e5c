import type { BrokerInstall } from "../install.ts";
import { lookForJava, OLDEST_JAVA } from "../java.ts";

export const install: BrokerInstall = {
	from: `Java ${OLDEST_JAVA} or newer, and Maven; or \`KAFKA_HOME\`, \`binary: /opt/kafka\``,
	look: lookForJava("Kafka", 45, "KAFKA_HOME"),
};
