/** Whether images and hosts with vulnerabilities run, according to telemetry of the last day. */
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { RunningState } from './priority.ts';
import type { ReportTarget } from './report.ts';

interface ResourceRow {
  readonly service: string;
  readonly image: string;
  readonly tag: string;
  readonly image_id: string;
  readonly digests: string;
  readonly host: string;
}

export interface RunningTargets {
  getState(target: ReportTarget): RunningState;
  /** Services that run a target */
  getServices(target: ReportTarget): readonly string[];
}

/** Maximum number of distinct resources that are compared */
const maxResources = 50_000;

/** Returns the digest of a reference, or its name without the default registry. */
const normalizeReference = (reference: string): string => {
  const digest = /sha256:[0-9a-f]{64}/.exec(reference)?.[0];
  return digest ?? reference.replace(/^(?:docker\.io\/)?(?:library\/)?/, '');
};

const listReferences = ({ id, name, kind, references }: ReportTarget): string[] =>
  kind === 'image' || kind === 'sbom' ? [id, name, ...references].map(normalizeReference) : [id, name];

/** Reads which targets run. Without images or hosts in telemetry, the state of targets is unknown. */
export const readRunningTargets = async (
  { columns }: Pick<TenantReader, 'columns'>,
  nowMs: number,
): Promise<RunningTargets> => {
  const parameters = { since: String(nowMs - 86_400_000) };
  const [rows, calledRows] = await Promise.all([
    columns.query<ResourceRow>(
      `SELECT service, attributes['container.image.name'] AS image,
        if(attributes['container.image.tag'] != '', attributes['container.image.tag'], attributes['container.image.tags']) AS tag,
        attributes['container.image.id'] AS image_id, attributes['container.image.repo_digests'] AS digests, attributes['host.name'] AS host
      FROM resources WHERE tenant_id = {tenant:String} AND last_seen >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        AND (image != '' OR image_id != '' OR host != '')
      GROUP BY service, image, tag, image_id, digests, host LIMIT ${maxResources}`,
      parameters,
    ),
    columns.query<{ server: string }>(
      `SELECT DISTINCT server FROM service_edges WHERE tenant_id = {tenant:String} AND minute >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        AND server != '' LIMIT ${maxResources}`,
      parameters,
    ),
  ]);
  const servicesByReference = new Map<string, Set<string>>();
  const add = (reference: string, service: string): void => {
    if (reference === '') return;
    const services = servicesByReference.get(reference) ?? new Set<string>();
    services.add(service);
    servicesByReference.set(reference, services);
  };
  let hasImages = false;
  let hasHosts = false;
  for (const { service, image, tag, image_id, digests, host } of rows) {
    hasImages ||= image !== '' || image_id !== '';
    hasHosts ||= host !== '';
    add(normalizeReference(image_id), service);
    for (const [digest] of digests.matchAll(/sha256:[0-9a-f]{64}/g)) add(digest, service);
    for (const [name] of tag.matchAll(/[\w.-]+/g))
      if (image !== '') add(normalizeReference(`${image}:${name}`), service);
    add(host, service);
  }
  const calledServices = new Set(calledRows.map(({ server }) => server));
  const getServices = (target: ReportTarget): string[] => [
    ...new Set(listReferences(target).flatMap((reference) => [...(servicesByReference.get(reference) ?? [])])),
  ];
  const states = new Map<string, RunningState>();
  return {
    getServices,
    getState(target) {
      if (!states.has(target.id)) states.set(target.id, computeState(target));
      return states.get(target.id);
    },
  };

  function computeState(target: ReportTarget): RunningState {
    const isKnown = target.kind === 'image' ? hasImages : target.kind === 'host' ? hasHosts : false;
    const isFound = listReferences(target).some((reference) => servicesByReference.has(reference));
    if (!isFound) return isKnown ? 'not-running' : undefined;
    return getServices(target).some((service) => calledServices.has(service)) ? 'exposed' : 'running';
  }
};
