/** The size limit of a message's value. */
import { ConfigResourceTypes, describeConfigsV4 } from '@platformatic/kafka';
import type { Cluster } from './cluster.ts';
import { headerAllowance } from './wire.ts';

const settingName = 'max.message.bytes';

/** Returns the largest message value that a topic currently accepts, in bytes. */
export const fetchMaxValueBytes = async (cluster: Cluster, topic: string): Promise<number> => {
  const resource = { resourceType: ConfigResourceTypes.TOPIC, resourceName: topic, configurationKeys: [settingName] };
  const { results } = await cluster.requestAny((connection) => describeConfigsV4.api.async(connection, [resource]));
  const bytes = Number(results[0]?.configs[0]?.value ?? 0) - headerAllowance;
  return bytes > 0 ? bytes : Number.POSITIVE_INFINITY;
};
