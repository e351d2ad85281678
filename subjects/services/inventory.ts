/** Services of a range, with the telemetry that they sent */
import { z } from 'zod';
import { projectScopeCondition } from '../../queries/project-scope.ts';
import { findRangeProblem } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { type Incompleteness, Unknown } from '../../queries/result.ts';
import { seriesSeen, seriesSeenValues } from '../../queries/series-seen.ts';
import { formatTime } from '../../queries/time.ts';
import type { ServiceSettings } from '../../schemas/resources/apdex-settings.ts';
import { type Choice, chosenActivity, environmentOf } from './chosen-activity.ts';
import {
  type CountedRow,
  countedOf,
  RequestMetrics,
  requestCountColumns,
  thresholdsOf,
  toRequestMetrics,
} from './figures.ts';
import { secondsOf } from './minutes.ts';
import { figureOf, figureSorts } from './sorting.ts';

const texts = z.array(z.string());

/** Telemetry that a service sent in the range */
export const SentTelemetry = z.strictObject({
  logs: z.union([z.int(), Unknown]).describe('Number of log records'),
  spans: z.int(),
  metrics: z.boolean().describe('Whether the service has a series that was seen in the range, or up to an hour before'),
});

export const ServiceSummary = z.strictObject({
  name: z.string().describe('`service.name` of the resource; telemetry without it belongs to no service'),
  figures: z.union([RequestMetrics, Unknown]).describe('Request metrics; unknown for a service without spans'),
  sends: SentTelemetry,
  lastSeen: z
    .string()
    .describe('Time of the last record or span in the range; for a service with metrics only, to the hour'),
  environments: texts.describe('Deployment environments, at most 50; the same limit applies to the other lists'),
  versions: texts.describe('`service.version`, the most recent first'),
  languages: texts.describe('`telemetry.sdk.language`'),
  runtimes: texts.describe('`process.runtime.name` and version'),
});
export type ServiceSummary = z.output<typeof ServiceSummary>;

/** Sort orders of service lists */
export const serviceSorts = ['name', ...figureSorts, 'lastSeen'] as const;
type ServiceSort = (typeof serviceSorts)[number];

/** A service without the details of a page */
export const ServiceTotal = ServiceSummary.omit({
  environments: true,
  versions: true,
  languages: true,
  runtimes: true,
});
export type ServiceTotal = z.output<typeof ServiceTotal>;

/** Limit above the number of services of an organization; a truncated result is reported */
const maxServices = 10_000;
const maxTexts = 50;

interface Row extends CountedRow {
  readonly service: string;
  readonly all_logs: string;
  readonly all_spans: string;
  readonly last: string;
}

export interface InventoryQuestion extends Choice {
  readonly search?: string | undefined;
  readonly settings: ServiceSettings;
  readonly apdexThresholdMs?: number | undefined;
}

/** Returns all services of the requested range, ordered by name. */
export const readServices = async (
  reading: Reading,
  question: InventoryQuestion,
): Promise<{ readonly services: readonly ServiceTotal[]; readonly partial: readonly Incompleteness[] }> => {
  const { where, parameters } = chosenActivity(question);
  const named =
    question.search === undefined ? "service != ''" : 'positionCaseInsensitiveUTF8(service, {search:String}) > 0';
  const values = { ...parameters, ...(question.search !== undefined && { search: question.search }) };
  const [rows, metrics] = await Promise.all([
    reading.columns.query<Row>(
      `SELECT service, toString(sum(logs)) AS all_logs, toString(sum(spans)) AS all_spans, toString(toUnixTimestamp64Nano(max(last_seen))) AS last, ${requestCountColumns}
      FROM resource_activity WHERE ${where} AND ${named} GROUP BY service ORDER BY service LIMIT ${maxServices + 1}`,
      values,
    ),
    sendersOfMetrics(reading, question, named, values),
  ]);
  const thresholdOf = thresholdsOf(question.settings, question.apdexThresholdMs);
  const noLogs = findRangeProblem(question.minutes, { caller: reading, signal: 'logs', nowMs: reading.nowMs });
  const seconds = secondsOf(question.minutes);
  const services = new Map<string, ServiceTotal>();
  for (const row of rows) {
    const name = row.service;
    services.set(name, {
      name,
      figures: row.all_spans === '0' ? noSpans : toRequestMetrics(countedOf(row), seconds, thresholdOf(name)),
      sends: {
        logs: noLogs === undefined ? Number(row.all_logs) : { value: null, reason: noLogs },
        spans: Number(row.all_spans),
        metrics: metrics.has(name),
      },
      lastSeen: formatTime(BigInt(row.last)),
    });
  }
  for (const [name, last] of metrics)
    if (!services.has(name))
      services.set(name, {
        name,
        figures: noSpans,
        lastSeen: formatTime(BigInt(last) * 1_000_000n),
        sends: { logs: noLogs === undefined ? 0 : { value: null, reason: noLogs }, spans: 0, metrics: true },
      });
  const partial: Incompleteness[] =
    rows.length > maxServices || metrics.size > maxServices
      ? [
          {
            code: 'groups',
            message: `there are more than ${maxServices} services; search for a name, or select one project`,
          },
        ]
      : [];
  return { services: [...services.values()].sort(byName).slice(0, maxServices), partial };
};

/** Returns a service without telemetry in the range. */
export const emptyService = (name: string) => ({
  name,
  figures: noSpans,
  sends: { logs: 0, spans: 0, metrics: false },
  lastSeen: { value: null, reason: 'the service sent nothing in this range' },
});

const noSpans: z.output<typeof Unknown> = { value: null, reason: 'the service sent no spans in this range' };

const byName = (one: { readonly name: string }, other: { readonly name: string }): number =>
  one.name < other.name ? -1 : one.name > other.name ? 1 : 0;

/** Returns services with series in the range, each with the time of its last series row (epoch milliseconds). */
const sendersOfMetrics = async (
  { columns, ...reading }: Reading,
  question: Choice,
  named: string,
  values: Record<string, string>,
): Promise<ReadonlyMap<string, string>> => {
  if (findRangeProblem(question.minutes, { caller: reading, signal: 'metrics', nowMs: reading.nowMs }) !== undefined)
    return new Map();
  const environment =
    question.environment === undefined
      ? ''
      : ` AND resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND ${environmentOf('attributes')} = {environment:String})`;
  const rows = await columns.query<{ service: string; last: string }>(
    `SELECT service, toString(toUnixTimestamp64Milli(max(last_seen))) AS last FROM series
    WHERE tenant_id = {tenant:String} AND ${seriesSeen} AND ${named}${projectScopeCondition(question)}${question.service === undefined ? '' : ' AND service = {service:String}'}${environment}
    GROUP BY service ORDER BY service LIMIT ${maxServices + 1}`,
    { ...values, ...seriesSeenValues(question.minutes) },
  );
  return new Map(rows.map(({ service, last }) => [service, last]));
};

/** Returns the sort key of services. */
export const sortKeyOf =
  (sort: ServiceSort) =>
  (service: ServiceTotal): string | number | undefined => {
    if (sort === 'name') return service.name;
    if (sort === 'lastSeen') return service.lastSeen;
    return 'requests' in service.figures ? figureOf(service.figures, sort) : undefined;
  };

/** Adds resource details to services. */
export const describeServices = async (
  { columns }: Reading,
  choice: Choice,
  shown: readonly ServiceTotal[],
): Promise<ServiceSummary[]> => {
  if (shown.length === 0) return [];
  const { where, parameters } = chosenActivity(choice);
  const distinct = (expression: string): string =>
    `arraySlice(arraySort(groupUniqArrayIf(200)(${expression}, ${expression} != '')), 1, ${maxTexts})`;
  const rows = await columns.query<
    { name: string } & Pick<ServiceSummary, 'environments' | 'versions' | 'languages' | 'runtimes'>
  >(
    `SELECT service AS name, ${distinct(environmentOf('attributes'))} AS environments, ${distinct("attributes['telemetry.sdk.language']")} AS languages,
      ${distinct("trimBoth(concat(attributes['process.runtime.name'], ' ', attributes['process.runtime.version']))")} AS runtimes,
      arraySlice(arrayDistinct(arrayMap(seen -> seen.2, arrayReverseSort(groupArrayIf(1000)((last_seen, attributes['service.version']), attributes['service.version'] != '')))), 1, ${maxTexts}) AS versions
    FROM resources WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)}${choice.environment === undefined ? '' : ` AND ${environmentOf('attributes')} = {environment:String}`} AND resource_id GLOBAL IN (
      SELECT resource_id FROM resource_activity WHERE ${where} AND service IN {services:Array(String)}
      UNION ALL SELECT resource_id FROM series WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} AND ${seriesSeen}${projectScopeCondition(choice)}
    ) GROUP BY service`,
    { ...parameters, ...seriesSeenValues(choice.minutes), services: shown.map(({ name }) => name) },
  );
  const rowsByName = new Map(rows.map((row) => [row.name, row]));
  const nothing = { environments: [], versions: [], languages: [], runtimes: [] };
  return shown.map((service) => ({ ...service, ...(rowsByName.get(service.name) ?? nothing) }));
};

/** Returns the telemetry of one service; `undefined` if it sent none in the range. */
export const readService = async (
  reading: Reading,
  question: InventoryQuestion & { readonly service: string },
): Promise<ServiceTotal | undefined> =>
  (await readServices(reading, question)).services.find(({ name }) => name === question.service);
