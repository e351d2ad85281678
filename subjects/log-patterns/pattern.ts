/** One log pattern: its list entry, history, values of variables, and records */
import { z } from 'zod';
import { OTHER_ID } from '../../queries/log-patterns/pattern-id.ts';
import { buildProjectScopeCondition, toProjectScopeParameters } from '../../queries/project-scope.ts';
import { createCondition } from '../../queries/records.ts';
import { LogRecord } from '../../queries/signals/log-record.ts';
import { ParameterValues } from '../../schemas/log-patterns.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { createSketch, estimateCount, mergeSketches } from './distinct-values.ts';
import { findSurvivingPattern, readPatternLogs } from './pattern-records.ts';
import { countPatterns, describePatterns, LogPattern, type PatternsQuery, PatternTotals } from './patterns.ts';

const historySteps = 120;
const maxSamples = 5;
const maxValues = 10;

/** Values of a variable, from the sampled bodies of all shards */
const PatternParameter = ParameterValues.omit({ top: true, distinct: true }).extend({
  distinct: z
    .strictObject({
      count: z.int(),
      isEstimate: z.boolean().describe('Whether the count is an estimate, typically within 10%; otherwise it is exact'),
    })
    .describe('Number of distinct values in the sample; only the first 48 characters of long values count'),
  top: z
    .array(
      z.strictObject({
        value: z.string(),
        minCount: z.int().describe('Minimum number of occurrences in the sample'),
      }),
    )
    .describe('Frequent values, in descending order; empty if all values are rare, such as identifiers'),
});
type PatternParameter = z.output<typeof PatternParameter>;

export const OneLogPattern = LogPattern.extend({
  requestedId: z.string().describe('Id in the request'),
  isAlias: z
    .boolean()
    .describe('Whether the requested id is an alias; the response describes the pattern into which it was merged'),
  parameters: z
    .array(PatternParameter)
    .describe(
      'Values of variables since the pattern was first seen, from a sample of bodies: `1`, `2` … are the variables of the template, others are keys',
    ),
  samples: z.array(LogRecord).describe('Latest records of the range'),
});
type OneLogPattern = z.output<typeof OneLogPattern>;

const getParameterOrder = ({ name }: PatternParameter): number =>
  /^\d+$/.test(name) ? Number(name) : Number.MAX_VALUE;

const findExtreme = (
  selectExtreme: (...numbers: number[]) => number,
  numbers: readonly (number | null)[],
): number | null => {
  const knownNumbers = numbers.filter((each) => each !== null);
  return knownNumbers.length === 0 ? null : selectExtreme(...knownNumbers);
};

/** Merges the values of one variable over shards. */
const mergeParameter = (name: string, shards: readonly ParameterValues[]): PatternParameter => {
  const minCounts = new Map<string, number>();
  for (const [value, minCount] of shards.flatMap(({ top }) => top))
    minCounts.set(value, (minCounts.get(value) ?? 0) + minCount);
  const sketches = shards.flatMap(({ distinct }) => distinct ?? []);
  const top = [...minCounts].map(([value, minCount]) => ({ value, minCount }));
  return {
    name,
    seen: shards.reduce((sum, { seen }) => sum + seen, 0),
    distinct: {
      count:
        sketches.length === 0
          ? minCounts.size
          : estimateCount([createSketch(minCounts.keys()), ...sketches].reduce(mergeSketches)),
      isEstimate: sketches.length > 0,
    },
    top: top.sort((left, right) => right.minCount - left.minCount).slice(0, maxValues),
    numbers: shards.reduce((sum, { numbers }) => sum + numbers, 0),
    min: findExtreme(
      Math.min,
      shards.map(({ min }) => min),
    ),
    max: findExtreme(
      Math.max,
      shards.map(({ max }) => max),
    ),
  };
};

/** Merges variables over shards: those of the text in order, then keys. */
const mergeParameters = (shards: readonly ParameterValues[][]): PatternParameter[] =>
  [...Map.groupBy(shards.flat(), ({ name }) => name)]
    .map(([name, shardValues]) => mergeParameter(name, shardValues))
    .sort((left, right) => getParameterOrder(left) - getParameterOrder(right) || (left.name < right.name ? -1 : 1));

/** Returns the last report of each shard. A wider form of a pattern includes the counts of the narrower ones. */
const readParameters = async (
  columns: TenantColumns,
  id: string,
  service: string | undefined,
): Promise<PatternParameter[]> => {
  const rows = await columns.query<{ latest: string }>(
    `SELECT argMax(parameters, last_seen) AS latest FROM log_patterns FINAL WHERE tenant_id = {tenant:String} AND pattern_id = {id:String}
    ${service === undefined ? '' : 'AND service = {service:String}'} GROUP BY service, structure, shard LIMIT 10000`,
    { id, ...(service !== undefined && { service }) },
  );
  return mergeParameters(rows.map(({ latest }) => JSON.parse(latest) as ParameterValues[]));
};

/** Returns a pattern by one of its ids; `undefined` if there is none. */
export const readPattern = async (
  columns: TenantColumns,
  requestedId: string,
  patternsQuery: PatternsQuery,
): Promise<OneLogPattern | undefined> => {
  const surviving = await findSurvivingPattern(columns, requestedId);
  if (surviving === undefined) return undefined;
  const { id } = surviving;
  const { filter, range } = patternsQuery;
  const totals = await countPatterns(columns, patternsQuery);
  const total = totals.byId.get(id) ?? createEmptyTotal(totals, surviving);
  // No requested service ever had the pattern; it belongs to another service.
  if (!Number.isFinite(total.firstMs)) return undefined;
  const [[description], parameters, samples] = await Promise.all([
    describePatterns(columns, totals, [total], patternsQuery, historySteps),
    id === OTHER_ID ? [] : readParameters(columns, id, filter.service),
    readPatternLogs(
      columns,
      id,
      createCondition(
        `logs.timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND logs.timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
      ${filter.service === undefined ? '' : 'AND service = {service:String}'}${buildProjectScopeCondition(filter)}`,
        {
          from: String(range.from),
          to: String(range.to),
          ...toProjectScopeParameters(filter),
          ...(filter.service !== undefined && { service: filter.service }),
        },
      ),
      { limit: maxSamples },
    ),
  ]);
  if (description === undefined) return undefined;
  const records = samples.found.map(({ record }) => record);
  return { ...description, requestedId, isAlias: requestedId !== id, parameters, samples: records };
};

/** Returns a pattern without records in the range. */
const createEmptyTotal = (totals: PatternTotals, { id, services }: { id: string; services: readonly string[] }) => {
  const empty = new PatternTotals(totals.catalogue, totals.sent);
  const [total] = services.map((service) => empty.getTotal(service, id));
  return total ?? empty.getTotal('', id);
};
