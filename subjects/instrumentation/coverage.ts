/** Hosts and services with and without instrumentation */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { toTextOrEmpty } from '../../schemas/text.ts';
import { readReportedHosts } from '../infrastructure/host-activity.ts';
import { readEdges } from '../services/edges.ts';
import { toFullMinutes } from '../services/minutes.ts';
import { readDuplicatedShares } from './duplicates.ts';
import { Prediction, predictCoverage } from './prediction.ts';
import { readSenders, type Sender } from './senders.ts';

export const coverageStates = ['none', 'sdk', 'zero-code', 'ebpf', 'several'] as const;

export const CoverageItem = z.strictObject({
  kind: z.enum(['host', 'service']),
  name: z.string(),
  state: z.enum(coverageStates).describe('`several`: more than one kind of instrumentation'),
  instrumentations: z
    .array(z.strictObject({ kind: z.string(), name: z.string(), title: z.string(), version: z.string() }))
    .describe('Instrumentations, each once'),
  reason: z.string().describe('How the item is known, and why it has this state'),
  lastSeenAt: z.iso.datetime().nullable().describe('Last telemetry; `null` for a service that is only called'),
  duplicatedShare: z
    .number()
    .nullable()
    .describe(
      'Share of the requests of an eBPF agent that another instrumentation reports too; `null` if there is one instrumentation',
    ),
  prediction: Prediction.nullable().describe('What an eBPF agent would see; `null` for items with instrumentation'),
});
export type CoverageItem = z.output<typeof CoverageItem>;

const maxEdges = 5_000;

const getState = (kinds: ReadonlySet<string>): CoverageItem['state'] => {
  const [first, second] = kinds;
  if (first === undefined) return 'none';
  return second === undefined ? (first as CoverageItem['state']) : 'several';
};

const reasonTexts: Readonly<Record<CoverageItem['state'], string>> = {
  none: 'Sends telemetry without an SDK or agent, such as logs of a collector.',
  sdk: 'Its telemetry names an SDK.',
  'zero-code': 'Its telemetry names an agent in its process.',
  ebpf: 'Its telemetry names an eBPF agent.',
  several: 'Its telemetry names several kinds of instrumentation.',
};

const listInstrumentations = (senders: readonly Sender[]): CoverageItem['instrumentations'] => {
  const instrumentations = new Map<string, CoverageItem['instrumentations'][number]>();
  for (const { instrumentation } of senders)
    if (instrumentation !== undefined) instrumentations.set(JSON.stringify(instrumentation), { ...instrumentation });
  return [...instrumentations.values()];
};

const predict = (senders: readonly Sender[]): Prediction => {
  const attributes = senders.map((sender) => sender.attributes);
  const find = (...names: readonly string[]): string =>
    attributes.flatMap((values) => names.map((name) => toTextOrEmpty(values[name]))).find((text) => text !== '') ?? '';
  return predictCoverage({
    kernel: find('host.kernel.release', 'os.kernel.release', 'os.version'),
    runtime: find('telemetry.sdk.language', 'process.runtime.name'),
  });
};

const toItem = (
  kind: CoverageItem['kind'],
  name: string,
  senders: readonly Sender[],
  duplicatedShare: number | null,
): CoverageItem => {
  const kinds = new Set(senders.flatMap(({ instrumentation }) => instrumentation?.kind ?? []));
  const state = getState(kinds);
  return {
    kind,
    name,
    state,
    instrumentations: listInstrumentations(senders),
    reason: reasonTexts[state],
    lastSeenAt: new Date(Math.max(...senders.map(({ lastMs }) => lastMs))).toISOString(),
    duplicatedShare,
    prediction: state === 'none' ? predict(senders) : null,
  };
};

/** Returns an item that sends nothing itself. */
const toSilentItem = (kind: CoverageItem['kind'], name: string, reason: string): CoverageItem => ({
  kind,
  name,
  state: 'none',
  instrumentations: [],
  reason,
  lastSeenAt: null,
  duplicatedShare: null,
  prediction: predictCoverage({ kernel: '', runtime: '' }),
});

/** Names of hosts within a network, unlike those of the internet */
const isInternalName = (name: string): boolean => {
  const host = name.replace(/:\d+$/, '');
  return /^[a-z][a-z0-9-]*$/i.test(host) || /\.(?:svc|local|internal|cluster\.local)$/i.test(host);
};

/** Returns called services that send nothing themselves. */
const readSilentServices = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
  known: ReadonlySet<string>,
): Promise<readonly string[]> => {
  const minutes = toFullMinutes(range, reader.nowMs);
  const edges = await readEdges(reader.columns, scope, { minutes, limit: maxEdges, isMap: true });
  const names = edges
    .map(({ edge }) => edge.server)
    .filter(({ kind, name }) => (kind === 'service' || kind === 'external') && name !== '' && !known.has(name))
    .filter(({ kind, name }) => kind === 'service' || isInternalName(name))
    .map(({ name }) => name);
  return [...new Set(names)];
};

/** Reads hosts and services of a range: those that send telemetry, and services that are only called. */
export const readCoverage = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: CoverageItem[]; readonly isTruncated: boolean }> => {
  const { senders, isTruncated } = await readSenders(reader, range, scope);
  const byService = Map.groupBy(
    senders.filter(({ service }) => service !== ''),
    ({ service }) => service,
  );
  const byHost = Map.groupBy(
    senders.filter(({ hostName }) => hostName !== ''),
    ({ hostName }) => hostName,
  );
  const [shares, silentServices, reportedHosts] = await Promise.all([
    readDuplicatedShares(reader, range, scope, byService),
    readSilentServices(reader, range, scope, new Set(byService.keys())),
    readReportedHosts(reader, range),
  ]);
  const hostNames = reportedHosts
    .map(({ resource }) => toTextOrEmpty(resource['host.name']) || toTextOrEmpty(resource['host.id']))
    .filter((name) => name !== '' && !byHost.has(name));
  const items = [
    ...[...byService].map(([name, ofService]) => toItem('service', name, ofService, shares.get(name) ?? null)),
    ...[...byHost].map(([name, ofHost]) => toItem('host', name, ofHost, null)),
    ...silentServices.map((name) =>
      toSilentItem('service', name, 'Other services call it, and it sends no telemetry.'),
    ),
    ...[...new Set(hostNames)].map((name) =>
      toSilentItem('host', name, 'A resource names the host, and no instrumented service runs on it.'),
    ),
  ];
  return { items, isTruncated };
};
