/** DNS lookups by name and their results: from spans and metrics of clients, and from metrics of CoreDNS */
import { z } from 'zod';
import { findPresentMetrics } from '../../queries/metrics/present.ts';
import type { QueryRequest } from '../../queries/query.ts';
import type { ResultData } from '../../queries/query-result.ts';
import type { Range } from '../../queries/range.ts';
import type { Incompleteness } from '../../queries/result.ts';
import { parseQuery, runWithoutCost } from '../../queries/run.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { NumberOrReason, toKnownNumber, toUnknownNumber } from '../../queries/unknown-numbers.ts';

export const DnsName = z.strictObject({
  name: z.string().describe('`dns.question.name`'),
  seenBy: z.enum(['spans', 'metrics']),
  lookups: z.number(),
  failures: z.number().describe('Lookups with an error, including NXDOMAIN if the sender reports it as an error'),
  failureRate: z.number().describe('Share of failures, between 0 and 1'),
  errors: z.record(z.string(), z.number()).describe('Number of failures by `error.type`'),
  p50: NumberOrReason.describe('Median in nanoseconds'),
  p95: NumberOrReason.describe('95th percentile in nanoseconds'),
});
export type DnsName = z.output<typeof DnsName>;

export const DnsServer = z.strictObject({
  server: z.string().describe('Server name as reported by CoreDNS'),
  responses: z.number(),
  failures: z.number().describe('Responses with SERVFAIL or REFUSED; NXDOMAIN is not a failure'),
  codes: z.record(z.string(), z.number()).describe('Number of responses by response code'),
  p50: NumberOrReason.describe('Median in nanoseconds'),
  p95: NumberOrReason.describe('95th percentile in nanoseconds'),
});
export type DnsServer = z.output<typeof DnsServer>;

export interface Dns {
  /** Names with the most lookups first */
  readonly names: DnsName[];
  readonly servers: DnsServer[];
  readonly partial: Incompleteness[];
  readonly reason: string | null;
}

const nameKey = 'dns.question.name';
const maxNames = 1_000;
const lookupMetric = 'dns.lookup.duration';
const responseMetric = 'coredns_dns_responses_total';
const metrics = [lookupMetric, responseMetric];

export const readDns = async (
  reader: TenantReader,
  query: { readonly projectId?: string | undefined },
  range: Range,
): Promise<Dns> => {
  const { entitlements } = reader.plan;
  const partial: Incompleteness[] = [];
  const runQuery = async (request: QueryRequest): Promise<ResultData> => {
    const result = await runWithoutCost(parseQuery({ ...request, ...query }), reader, { range });
    partial.push(...result.partial);
    return result;
  };
  const isEntitled = (signal: string): boolean => entitlements.includes(signal);
  const receivedMetrics = isEntitled('metrics') ? await findPresentMetrics(reader, metrics, range) : new Set();
  const [spanNames, metricNames, servers] = await Promise.all([
    isEntitled('traces') ? readNamesFromSpans(runQuery) : [],
    receivedMetrics.has(lookupMetric) ? readNamesFromMetrics(runQuery) : [],
    receivedMetrics.has(responseMetric) ? readServers(runQuery) : [],
  ]);
  const spanNameSet = new Set(spanNames.map(({ name }) => name));
  const names = [...spanNames, ...metricNames.filter(({ name }) => !spanNameSet.has(name))].sort(
    (left, right) => right.lookups - left.lookups || (left.name < right.name ? -1 : 1),
  );
  return {
    names,
    servers,
    partial,
    reason:
      names.length + servers.length > 0
        ? null
        : `no lookups were received in this range: spans and the metric ${lookupMetric} with ${nameKey} report them, and metrics of CoreDNS`,
  };
};

type RunQuery = (query: QueryRequest) => Promise<ResultData>;

const readNamesFromSpans = async (runQuery: RunQuery): Promise<DnsName[]> => {
  const search = `attribute.${nameKey}:*`;
  const [measures, errors] = await Promise.all([
    runQuery({
      kind: 'aggregate',
      signal: 'traces',
      search,
      limit: maxNames,
      groupBy: [`attribute.${nameKey}`],
      measures: [
        { function: 'count', as: 'lookups' },
        { function: 'count', as: 'failures', search: 'status:error OR attribute.error.type:*' },
        { function: 'percentile', field: 'duration', percentile: 50, as: 'p50' },
        { function: 'percentile', field: 'duration', percentile: 95, as: 'p95' },
      ],
    }),
    runQuery({
      kind: 'aggregate',
      signal: 'traces',
      search: `${search} attribute.error.type:*`,
      limit: 10_000,
      groupBy: [`attribute.${nameKey}`, 'attribute.error.type'],
      measures: [{ function: 'count' }],
    }),
  ]);
  return measures.rows.map(([name, lookups, failures, p50, p95]) => ({
    name: String(name),
    seenBy: 'spans',
    lookups: Number(lookups),
    failures: Number(failures),
    failureRate: Number(failures) / Number(lookups),
    errors: getCountsByKey(errors, String(name)),
    p50: knownOr(p50, 'no duration'),
    p95: knownOr(p95, 'no duration'),
  }));
};

/** Returns a map from the second to the last column, for rows with `first` in the first column. */
const getCountsByKey = ({ rows }: ResultData, first: string): Record<string, number> =>
  Object.fromEntries(rows.filter(([name]) => name === first).map((row) => [String(row[1]), Number(row.at(-1))]));

const knownOr = (value: unknown, reason: string, factor = 1): NumberOrReason =>
  typeof value === 'number' ? toKnownNumber(value * factor) : toUnknownNumber(reason);

/** Returns the value of each group of a table with one label. */
const getValuesByGroup = ({ rows }: ResultData): ReadonlyMap<string, unknown> =>
  new Map(rows.map((row) => [String(row[0]), row.at(-1)]));

const secondNs = 1e9;

/** Returns lookups by name and error, and quantiles by name, from a histogram in seconds. */
const readNamesFromMetrics = async (runQuery: RunQuery): Promise<DnsName[]> => {
  const base = { kind: 'metric', metric: lookupMetric, across: 'sum' } as const;
  const [counts, p50, p95] = await Promise.all([
    runQuery({ ...base, overTime: 'increase', groupBy: [nameKey, 'error.type'], limit: 10_000 }),
    runQuery({ ...base, overTime: 'quantile', quantile: 0.5, groupBy: [nameKey], limit: maxNames }),
    runQuery({ ...base, overTime: 'quantile', quantile: 0.95, groupBy: [nameKey], limit: maxNames }),
  ]);
  const names = [...new Set(counts.rows.map(([name]) => String(name)))];
  return names.map((name) => {
    const { '': succeeded = 0, ...errors } = getCountsByKey(counts, name);
    const failures = Object.values(errors).reduce((sum, count) => sum + count, 0);
    return {
      name,
      seenBy: 'metrics' as const,
      lookups: succeeded + failures,
      failures,
      errors,
      failureRate: succeeded + failures === 0 ? 0 : failures / (succeeded + failures),
      p50: knownOr(getValuesByGroup(p50).get(name), 'no duration', secondNs),
      p95: knownOr(getValuesByGroup(p95).get(name), 'no duration', secondNs),
    };
  });
};

const failureCodes = ['SERVFAIL', 'REFUSED'];

const readServers = async (runQuery: RunQuery): Promise<DnsServer[]> => {
  const createDurationQuery = (quantile: number): QueryRequest => ({
    kind: 'metric',
    metric: 'coredns_dns_request_duration_seconds',
    across: 'sum',
    overTime: 'quantile',
    quantile,
    groupBy: ['server'],
  });
  const [responses, p50, p95] = await Promise.all([
    runQuery({
      kind: 'metric',
      metric: responseMetric,
      overTime: 'increase',
      across: 'sum',
      groupBy: ['server', 'rcode'],
      limit: 10_000,
    }),
    runQuery(createDurationQuery(0.5)),
    runQuery(createDurationQuery(0.95)),
  ]);
  return [...new Set(responses.rows.map(([server]) => String(server)))].sort().map((server) => {
    const codes = getCountsByKey(responses, server);
    return {
      server,
      codes,
      responses: Object.values(codes).reduce((sum, count) => sum + count, 0),
      failures: failureCodes.reduce((sum, code) => sum + (codes[code] ?? 0), 0),
      p50: knownOr(getValuesByGroup(p50).get(server), 'CoreDNS sent no coredns_dns_request_duration_seconds', secondNs),
      p95: knownOr(getValuesByGroup(p95).get(server), 'CoreDNS sent no coredns_dns_request_duration_seconds', secondNs),
    };
  });
};
