/** One log pattern: what the list says of it, its history, what its variables took, and records of it. */
import { z } from 'zod';
import { projectScopeCondition, projectScopeValues } from '../../queries/project-scope.ts';
import { LogRecord } from '../../queries/signals/log-record.ts';
import { ParameterValues } from '../../schemas/log-patterns.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { OTHER_ID } from './pattern-id.ts';
import { readLogsOfPattern, survivingPattern } from './pattern-records.ts';
import { describePatterns, LogPattern, type PatternsQuestion, PatternTotals, totalsOf } from './patterns.ts';

const historySteps = 120;
const mostSamples = 5;
const mostValues = 10;

export const OneLogPattern = LogPattern.extend({
  askedFor: z.string().describe('The id in the request'),
  isAlias: z.boolean().describe('Whether that id is an alias: the answer is about the pattern that it was merged into'),
  parameters: z
    .array(ParameterValues)
    .describe(
      'What its variables took since it was first seen, of a part of the bodies: `1`, `2` … are the variables of the template, others are keys',
    ),
  samples: z.array(LogRecord).describe('The latest records of the range'),
});
type OneLogPattern = z.output<typeof OneLogPattern>;

const placeOf = ({ name }: ParameterValues): number => (/^\d+$/.test(name) ? Number(name) : Number.MAX_VALUE);

/** Adds up what shards saw. */
const merged = (shards: readonly ParameterValues[][]): ParameterValues[] => {
  const byName = new Map<string, { sum: ParameterValues; top: Map<string, number> }>();
  for (const { name, seen, numbers, min, max, top } of shards.flat()) {
    const known = byName.get(name) ?? {
      sum: { name, seen: 0, top: [], numbers: 0, min: null, max: null },
      top: new Map<string, number>(),
    };
    for (const [value, count] of top) known.top.set(value, (known.top.get(value) ?? 0) + count);
    const least = [known.sum.min, min].filter((each) => each !== null);
    const most = [known.sum.max, max].filter((each) => each !== null);
    byName.set(name, {
      top: known.top,
      sum: {
        ...{ name, top: [], seen: known.sum.seen + seen, numbers: known.sum.numbers + numbers },
        min: least.length === 0 ? null : Math.min(...least),
        max: most.length === 0 ? null : Math.max(...most),
      },
    });
  }
  const all = [...byName.values()].map(({ sum, top }) => ({
    ...sum,
    top: [...top].sort(([, one], [, two]) => two - one).slice(0, mostValues),
  }));
  // Variables of the text in their order, then keys.
  return all.sort((one, two) => placeOf(one) - placeOf(two) || (one.name < two.name ? -1 : 1));
};

const parametersOf = async (
  columns: TenantColumns,
  id: string,
  service: string | undefined,
): Promise<ParameterValues[]> => {
  const rows = await columns.query<{ parameters: string }>(
    `SELECT parameters FROM log_patterns FINAL WHERE tenant_id = {tenant:String} AND pattern_id = {id:String}
    ${service === undefined ? '' : 'AND service = {service:String}'} LIMIT 10000`,
    { id, ...(service !== undefined && { service }) },
  );
  return merged(rows.map(({ parameters }) => JSON.parse(parameters) as ParameterValues[]));
};

/** What is known of a pattern by one of its ids; `undefined` where there is none. */
export const readPattern = async (
  columns: TenantColumns,
  askedFor: string,
  question: PatternsQuestion,
): Promise<OneLogPattern | undefined> => {
  const surviving = await survivingPattern(columns, askedFor);
  if (surviving === undefined) return undefined;
  const { id } = surviving;
  const { filter, range } = question;
  const totals = await totalsOf(columns, question);
  const total = totals.byId.get(id) ?? unseen(totals, surviving);
  const [[described], parameters, samples] = await Promise.all([
    describePatterns(columns, totals, [total], question, historySteps),
    id === OTHER_ID ? [] : parametersOf(columns, id, filter.service),
    readLogsOfPattern(
      columns,
      id,
      `logs.timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND logs.timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
      ${filter.service === undefined ? '' : 'AND service = {service:String}'}${projectScopeCondition(filter)}`,
      {
        ...{ from: String(range.from), to: String(range.to), ...projectScopeValues(filter) },
        ...(filter.service !== undefined && { service: filter.service }),
      },
      { limit: mostSamples },
    ),
  ]);
  if (described === undefined) return undefined;
  const records = samples.found.map(({ record }) => record);
  return { ...described, askedFor, isAlias: askedFor !== id, parameters, samples: records };
};

/** One without a record in the range. */
const unseen = (totals: PatternTotals, { id, services }: { id: string; services: readonly string[] }) => {
  const empty = new PatternTotals(totals.catalogue, totals.sent);
  const [total] = services.map((service) => empty.of(service, id));
  return total ?? empty.of('', id);
};
