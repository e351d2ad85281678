/** Resources by network address */
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { FlowView } from './flow.ts';

export type ResourcesByAddress = ReadonlyMap<string, Readonly<Partial<Record<FlowView, string>>>>;

interface Row {
  readonly host: string;
  readonly host_ips: string;
  readonly pod_ip: string;
  readonly namespace: string;
  readonly workload: string;
  readonly node: string;
  readonly zone: string;
}

const maxResources = 50_000;
const workloadKinds = ['deployment', 'statefulset', 'daemonset', 'cronjob', 'job', 'replicaset', 'pod'];

/**
 * Returns addresses that resources report as theirs: `host.ip` of hosts, `k8s.pod.ip` of pods. If several report an
 * address, the most recent one counts.
 */
export const readAddresses = async ({ columns }: TenantReader): Promise<ResourcesByAddress> => {
  const rows = await columns.query<Row>(
    `SELECT attributes['host.name'] AS host, attributes['host.ip'] AS host_ips, attributes['k8s.pod.ip'] AS pod_ip, attributes['k8s.namespace.name'] AS namespace,
      coalesce(${workloadKinds.map((owner) => `nullIf(attributes['k8s.${owner}.name'], '')`).join(', ')}, '') AS workload,
      attributes['k8s.node.name'] AS node, attributes['cloud.availability_zone'] AS zone
    FROM (SELECT resource_id, any(attributes) AS attributes, max(last_seen) AS seen FROM resources WHERE tenant_id = {tenant:String} GROUP BY resource_id)
    WHERE host_ips != '' OR pod_ip != '' ORDER BY seen DESC LIMIT ${maxResources}`,
  );
  const resourcesByAddress = new Map<string, Partial<Record<FlowView, string>>>();
  const addAddress = (address: string, resource: Partial<Record<FlowView, string>>): void => {
    if (address !== '' && !resourcesByAddress.has(address)) resourcesByAddress.set(address, resource);
  };
  for (const row of rows) {
    const host = row.node || row.host;
    const workload = row.workload === '' ? '' : [row.namespace, row.workload].filter((part) => part !== '').join('/');
    addAddress(row.pod_ip, { workload, host, zone: row.zone });
    for (const address of parseAddresses(row.host_ips)) addAddress(address, { host: row.host, zone: row.zone });
  }
  return resourcesByAddress;
};

/** `host.ip` is an array, which is stored as JSON. */
const parseAddresses = (text: string): readonly string[] => {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.filter((address) => typeof address === 'string') : [text];
  } catch {
    return text === '' ? [] : [text];
  }
};
