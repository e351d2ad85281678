/** Log patterns of a range: counts under current ids, with the details of each */
import { z } from 'zod';
import { OTHER_ID, OTHER_TEMPLATE } from '../../queries/log-patterns/pattern-id.ts';
import type { Range } from '../../queries/range.ts';
import { formatTime } from '../../queries/time.ts';
import { type SeverityLevel, severityLevels } from '../../schemas/log-patterns.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { type PatternCatalogue, readCatalogue } from './pattern-catalogue.ts';
import {
  type CountFilter,
  chooseStep,
  getComparedHour,
  type HourCounts,
  minuteMs,
  readCounts,
  readHourCounts,
  readSeries,
} from './pattern-counts.ts';
import { compareHours, type HourHistory, Verdict } from './pattern-verdicts.ts';

const trendSteps = 30;
const maxServices = 50;

const PatternTrend = z.strictObject({
  from: z.string().describe('Start of the first step'),
  stepSeconds: z.int(),
  counts: z.array(z.int()).describe('Number of records in each step'),
});
type PatternTrend = z.output<typeof PatternTrend>;

export const LogPattern = z.strictObject({
  id: z.string(),
  template: z
    .string()
    .nullable()
    .describe('Template, in which `<number>`, `<path>` … are variables and `<*>` is any text; `null` if not known yet'),
  count: z.int().describe('Number of records in the range'),
  share: z.number().describe('Share of all records of the range that match the filters, between 0 and 1'),
  firstSeen: z.string().describe('Time of the first record, also outside the range'),
  lastSeen: z.string().nullable().describe('Minute of the last counted record'),
  services: z.array(z.string()).describe('Services with the most records first, at most 50'),
  severities: z.partialRecord(z.enum(severityLevels), z.int()),
  trend: PatternTrend,
  sample: z.string().nullable().describe('An example body'),
  aliases: z.array(z.string()).describe('Ids of patterns that were merged into this one'),
  ...Verdict.shape,
});
export type LogPattern = z.output<typeof LogPattern>;

/** A query for the patterns of a range */
export interface PatternsQuery {
  readonly range: Range;
  readonly filter: CountFilter;
  readonly nowMs: number;
  /** Start of the retention; epoch milliseconds */
  readonly retainedFromMs: number;
}

/** One pattern of a range, without the details of a page */
export interface PatternTotal {
  readonly id: string;
  readonly template: string | null;
  count: number;
  firstMs: number;
  lastMs: number | undefined;
  /** Number of records by service */
  readonly services: Map<string, number>;
  readonly severities: Partial<Record<SeverityLevel, number>>;
  /** Id of the pattern and those of its aliases */
  readonly ids: Set<string>;
  /** Records of the compared hour, and of the same hour of earlier days */
  readonly hours: number[];
}

/** Patterns of a range by current id */
export class PatternTotals {
  readonly byId = new Map<string, PatternTotal>();
  readonly catalogue: PatternCatalogue;
  /** Total number of records */
  count = 0;
  /** Records that services sent in the compared hours */
  readonly sent: HourCounts['sent'];

  constructor(catalogue: PatternCatalogue, sent: HourCounts['sent']) {
    this.catalogue = catalogue;
    this.sent = sent;
  }

  /** Returns the pattern to which the counts of a service and id belong. */
  getTotal(service: string, id: string): PatternTotal {
    const survivor = this.catalogue.resolve(service, id);
    const cataloguedPattern = this.catalogue.find(service, survivor);
    let total = this.byId.get(survivor);
    if (total === undefined) {
      const template = survivor === OTHER_ID ? OTHER_TEMPLATE : (cataloguedPattern?.template ?? null);
      total = {
        id: survivor,
        template,
        count: 0,
        firstMs: Number.POSITIVE_INFINITY,
        lastMs: undefined,
        services: new Map(),
        severities: {},
        ids: new Set([survivor]),
        hours: [],
      };
      this.byId.set(survivor, total);
    }
    total.ids.add(id);
    for (const alias of cataloguedPattern?.aliases ?? []) total.ids.add(alias);
    total.firstMs = Math.min(total.firstMs, cataloguedPattern?.firstSeenMs ?? Number.POSITIVE_INFINITY);
    if (!total.services.has(service)) total.services.set(service, 0);
    return total;
  }
}

/** Counts the patterns of a range. Gone patterns are included with a count of 0. */
export const countPatterns = async (
  columns: TenantColumns,
  { range, filter, nowMs, retainedFromMs: retainedSinceMs }: PatternsQuery,
): Promise<PatternTotals> => {
  const [catalogue, counts, hours] = await Promise.all([
    readCatalogue(columns, filter.service === undefined ? undefined : [filter.service]),
    readCounts(columns, range, filter),
    readHourCounts(columns, getComparedHour(range, nowMs), filter, retainedSinceMs),
  ]);
  const totals = new PatternTotals(catalogue, hours.sent);
  for (const { service, id, severity, count, firstMs, lastMs } of counts) {
    const total = totals.getTotal(service, id);
    totals.count += count;
    total.count += count;
    total.firstMs = Math.min(total.firstMs, firstMs);
    total.lastMs = Math.max(total.lastMs ?? 0, lastMs);
    total.services.set(service, (total.services.get(service) ?? 0) + count);
    total.severities[severity] = (total.severities[severity] ?? 0) + count;
  }
  for (const { service, id, counts, lastMs } of hours.rows) {
    const total = totals.getTotal(service, id);
    for (const [day, count] of counts.entries()) total.hours[day] = (total.hours[day] ?? 0) + count;
    if (total.count === 0) total.lastMs = Math.max(total.lastMs ?? 0, lastMs);
  }
  for (const total of totals.byId.values()) if (total.count === 0) retainIfGone(totals, total);
  return totals;
};

/** Retains a pattern without records in the range if its absence is significant. */
const retainIfGone = (totals: PatternTotals, total: PatternTotal): void => {
  if (compareHours(getHourHistory(totals, total)).isGone === true)
    total.firstMs = Math.min(total.firstMs, total.lastMs ?? 0);
  else totals.byId.delete(total.id);
};

/**
 * Returns the counts of the compared hours. An earlier day counts if one of the pattern's services sent logs in that
 * hour.
 */
const getHourHistory = (
  { sent }: PatternTotals,
  { hours: [count = 0, ...earlier], services }: PatternTotal,
): HourHistory => {
  const days = Math.max(0, ...[...services.keys()].map((service) => sent.get(service)?.length ?? 0));
  const earlierCounts = Array.from({ length: Math.max(0, days - 1) }, (_, index) =>
    [...services.keys()].some((service) => (sent.get(service)?.[index + 1] ?? 0) > 0)
      ? (earlier[index] ?? 0)
      : undefined,
  );
  return { count, earlier: earlierCounts };
};

const toIsoTime = (ms: number): string => formatTime(BigInt(ms) * 1_000_000n);

/** Returns whether a pattern is new, gone or spiking. */
export const judgePattern = (totals: PatternTotals, total: PatternTotal, { range, nowMs }: PatternsQuery): Verdict => {
  const { services, firstMs } = total;
  const fromMs = Number(range.from / 1_000_000n);
  const hour = getComparedHour(range, nowMs);
  const hours = getHourHistory(totals, total);
  const { isGone, isSpiking, ...comparison } = compareHours(hours);
  const sentBefore = [...services.keys()].some(
    (service) => (totals.catalogue.getFirstSeenMs(service) ?? fromMs) < fromMs,
  );
  const isNew = sentBefore ? firstMs >= fromMs : null;
  const reasons = [
    ...(isNew === null ? ['its services sent no logs before the range'] : []),
    ...(isGone === null
      ? [`its services sent logs in this hour on ${comparison.days} of 7 earlier days; 3 are required`]
      : []),
  ];
  return {
    isNew,
    isGone,
    isSpiking,
    hour: { from: toIsoTime(hour.fromMs), to: toIsoTime(hour.toMs + minuteMs), count: hours.count, ...comparison },
    reason: reasons.length === 0 ? null : reasons.join('; '),
  };
};

/** Adds the displayed details of patterns. */
export const describePatterns = async (
  columns: TenantColumns,
  totals: PatternTotals,
  pageTotals: readonly PatternTotal[],
  query: PatternsQuery,
  steps = trendSteps,
): Promise<LogPattern[]> => {
  if (pageTotals.length === 0) return [];
  const { range, filter } = query;
  const stepMs = chooseStep(range, steps);
  const ids = [...new Set(pageTotals.flatMap(({ ids }) => [...ids]))];
  const [series, samples] = await Promise.all([
    readSeries(columns, range, stepMs, { ...filter, ids }),
    columns.query<{ id: string; body: string }>(
      `SELECT pattern_id AS id, argMax(sample, last_seen) AS body FROM log_patterns
      WHERE tenant_id = {tenant:String} AND pattern_id IN {ids:Array(String)} GROUP BY id`,
      { ids: pageTotals.map(({ id }) => id) },
    ),
  ]);
  const sampleById = new Map(samples.map(({ id, body }) => [id, body]));
  const stepsById = new Map<string, Map<number, number>>();
  for (const { service, id, steps } of series) {
    const survivor = totals.catalogue.resolve(service, id);
    const stepCounts = stepsById.get(survivor) ?? new Map<number, number>();
    stepsById.set(survivor, stepCounts);
    for (const [stepStart, count] of steps) stepCounts.set(stepStart, (stepCounts.get(stepStart) ?? 0) + count);
  }
  return pageTotals.map((total) => ({
    id: total.id,
    template: total.template,
    count: total.count,
    share: totals.count === 0 ? 0 : total.count / totals.count,
    firstSeen: toIsoTime(total.firstMs),
    lastSeen: total.lastMs === undefined ? null : toIsoTime(total.lastMs),
    services: selectTopServices(total),
    severities: total.severities,
    trend: createTrend(range, stepMs, stepsById.get(total.id)),
    sample: sampleById.get(total.id) ?? null,
    aliases: [...total.ids].filter((id) => id !== total.id).sort(),
    ...judgePattern(totals, total, query),
  }));
};

const selectTopServices = ({ services }: PatternTotal): string[] =>
  [...services]
    .sort(
      ([leftService, leftCount], [rightService, rightCount]) =>
        rightCount - leftCount || (leftService < rightService ? -1 : 1),
    )
    .slice(0, maxServices)
    .map(([service]) => service);

const createTrend = (
  { from, to }: Range,
  stepMs: number,
  steps: ReadonlyMap<number, number> = new Map(),
): PatternTrend => {
  const firstStepMs = Math.floor(Number(from / 1_000_000n) / stepMs) * stepMs;
  const counts: number[] = [];
  for (let stepStart = firstStepMs; stepStart <= Number(to / 1_000_000n); stepStart += stepMs)
    counts.push(steps.get(stepStart) ?? 0);
  return { from: toIsoTime(firstStepMs), stepSeconds: stepMs / 1000, counts };
};
