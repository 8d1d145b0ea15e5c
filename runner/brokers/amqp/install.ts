import type { BrokerInstall } from "../install.ts";
import { lookForJava, OLDEST_JAVA } from "../java.ts";

export const install: BrokerInstall = {
	from: `Java ${OLDEST_JAVA} or newer, and Maven (ActiveMQ Artemis or Classic); or \`binary: /opt/activemq\``,
	look: lookForJava("ActiveMQ", 20),
};
