/** Whether images and hosts with vulnerabilities run, and which processes, according to telemetry of the last day. */
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
  readonly processes: readonly string[];
}

/** A process that a runtime security sensor saw */
interface SensorRow {
  readonly seen_host: string;
  readonly seen_image: string;
  readonly process: string;
}

export interface RunningTargets {
  getState(target: ReportTarget): RunningState;
  /** Services that run a target */
  getServices(target: ReportTarget): readonly string[];
  /** Names of the processes that were seen in a target, in lower case, without their folders */
  getProcesses(target: ReportTarget): ReadonlySet<string>;
}

/** Maximum number of distinct resources that are compared */
const maxResources = 50_000;
/** Maximum number of names of processes of one service on one host */
const maxProcesses = 500;

/** Returns the digest of a reference, or its name without the default registry. */
const normalizeReference = (reference: string): string => {
  const digest = /sha256:[0-9a-f]{64}/.exec(reference)?.[0];
  return digest ?? reference.replace(/^(?:docker\.io\/)?(?:library\/)?/, '');
};

/** Returns an image without its tag and digest: sensors name the repository alone. */
const toRepository = (reference: string): string =>
  (reference.split('@', 1)[0] as string).replace(/:[\w.-]{1,128}$/, '').replace(/^(?:docker\.io\/)?(?:library\/)?/, '');

const toProcessName = (path: string): string => path.slice(path.lastIndexOf('/') + 1).toLowerCase();

const listReferences = ({ id, name, kind, references }: ReportTarget): string[] =>
  kind === 'image' || kind === 'sbom' ? [id, name, ...references].map(normalizeReference) : [id, name];

/** Returns the places of a process of a resource: digests and names of its image, and its host. */
const listPlaces = ({ image, tag, image_id, digests, host }: ResourceRow): string[] => [
  normalizeReference(image_id),
  host,
  ...(digests.match(/sha256:[0-9a-f]{64}/g) ?? []),
  ...(image === '' ? [] : (tag.match(/[\w.-]+/g) ?? []).map((name) => normalizeReference(`${image}:${name}`))),
];

/** Returns the names of processes by image, repository of images, and host. */
const indexProcesses = (
  rows: readonly ResourceRow[],
  sensorRows: readonly SensorRow[],
): ReadonlyMap<string, ReadonlySet<string>> => {
  const byPlace = new Map<string, Set<string>>();
  const add = (place: string, process: string): void => {
    if (place === '' || process === '') return;
    const processes = byPlace.get(place) ?? new Set<string>();
    processes.add(toProcessName(process));
    byPlace.set(place, processes);
  };
  for (const row of rows) for (const place of listPlaces(row)) for (const process of row.processes) add(place, process);
  for (const { seen_host, seen_image, process } of sensorRows) {
    add(seen_host, process);
    if (seen_image !== '') add(toRepository(seen_image), process);
  }
  return byPlace;
};

/** Reads which targets run. Without images or hosts in telemetry, the state of targets is unknown. */
export const readRunningTargets = async (
  { columns }: Pick<TenantReader, 'columns'>,
  nowMs: number,
): Promise<RunningTargets> => {
  const parameters = { since: String(nowMs - 86_400_000) };
  const [rows, calledRows, sensorRows] = await Promise.all([
    columns.query<ResourceRow>(
      `SELECT service, attributes['container.image.name'] AS image,
        if(attributes['container.image.tag'] != '', attributes['container.image.tag'], attributes['container.image.tags']) AS tag,
        attributes['container.image.id'] AS image_id, attributes['container.image.repo_digests'] AS digests, attributes['host.name'] AS host,
        groupUniqArray(${maxProcesses})(if(attributes['process.executable.name'] != '', attributes['process.executable.name'], attributes['process.command'])) AS processes
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
    columns.query<SensorRow>(
      `SELECT DISTINCT host AS seen_host, image AS seen_image, program AS process FROM runtime_threats
      WHERE tenant_id = {tenant:String} AND time >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND program != '' LIMIT ${maxResources}`,
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
  const processesByPlace = indexProcesses(rows, sensorRows);
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
  const processesByTarget = new Map<string, ReadonlySet<string>>();
  const findProcesses = (target: ReportTarget): ReadonlySet<string> => {
    const repositories = target.kind === 'image' ? [target.name, ...target.references].map(toRepository) : [];
    return new Set(
      [...listReferences(target), ...repositories].flatMap((place) => [...(processesByPlace.get(place) ?? [])]),
    );
  };
  return {
    getServices,
    getProcesses(target) {
      const processes = processesByTarget.get(target.id) ?? findProcesses(target);
      processesByTarget.set(target.id, processes);
      return processes;
    },
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
