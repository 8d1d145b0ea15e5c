import type { BrokerInstall } from "../install.ts";
import { lookForJava, OLDEST_JAVA } from "../java.ts";

export const install: BrokerInstall = {
	from: `Java ${OLDEST_JAVA} or newer, and Maven (ElasticMQ, which is not Amazon's service)`,
	look: lookForJava("ElasticMQ", 37),
};
