import { z } from 'zod';
import { decodeCursor, encodeCursor, integer } from '../../../queries/cursor.ts';
import {
  projectScopeCondition,
  projectScopeParameters,
  projectScopeValues,
  requireProjectScope,
} from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters, refuseBeyondRetention, serviceParameter } from '../../../queries/range.ts';
import { type SearchCondition, searchCondition } from '../../../queries/search/condition.ts';
import { parseSearch } from '../../../queries/search/parse.ts';
import { parseDuration } from '../../../queries/time.ts';
import { invalid } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { readSummaries, TraceSummary } from './summary.ts';

const kind = 'traces';
const hourNs = 3_600_000_000_000n;
const duration = z.string().max(64).optional();

const Query = z.strictObject({
  ...rangeParameters,
  ...serviceParameter,
  ...projectScopeParameters,
  search: z
    .string()
    .max(1024)
    .optional()
    .describe(
      'Words that must all occur in one span: its name, service or attribute values; also "phrases", field:value, duration:>100ms, field:[1 TO 5], field:foo*, /regex/, field:*, AND, OR, NOT and parentheses, of one span (`queries/search/README.md`)',
    ),
  minDuration: duration.describe('For example 250ms'),
  maxDuration: duration.describe('For example 2s'),
  status: z
    .enum(['error', 'ok', 'unset'])
    .optional()
    .describe('error: a span failed; ok: no span failed; unset: no span has a status'),
});

export const listTraces = defineOperation({
  method: 'GET',
  path: '/api/traces',
  operationId: 'listTraces',
  summary: 'List traces of a time range, newest first',
  role: 'viewer',
  cache: listCache,
  query: Query,
  response: z.strictObject({ items: z.array(TraceSummary), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, { columns, clock }) {
    requireProjectScope(query);
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    const range = page ?? rangeOf(query, { caller, signal: 'traces', nowMs });
    if (page !== undefined) refuseBeyondRetention(range, { caller, signal: 'traces', nowMs, graceNs: hourNs });
    const seenBy = page?.seenBy ?? String(Math.trunc(nowMs));
    const parameters: Record<string, string> = {
      from: String(range.from),
      to: String(range.to),
      seenBy,
      ...projectScopeValues(query),
    };
    const reader = columns.of(caller.tenantId);
    const search =
      query.search === undefined ? undefined : searchCondition(parseSearch(query.search, 'traces'), 'traces');
    const sql = selection(query, search, parameters, page);
    const found = await reader.query<{ trace: string; start: string }>(`${sql} LIMIT ${query.limit + 1}`, parameters);
    const shown = found.slice(0, query.limit);
    const last = shown.at(-1);
    return {
      items: await readSummaries(reader, shown),
      nextCursor:
        found.length > query.limit && last !== undefined
          ? encodeCursor(kind, [range.from, range.to, seenBy, last.start, last.trace])
          : null,
    };
  },
});

type Query = z.output<typeof Query>;

/**
 * Trace ids with the first start that they have in the range, newest first. Pages of one list see the spans that had
 * been received when it began: a span that comes late would move its trace to another page.
 */
const selection = (
  query: Query,
  search: SearchCondition | undefined,
  parameters: Record<string, string>,
  page: TracePage | undefined,
): string => {
  const base = `tenant_id = {tenant:String} AND timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC') AND received_at <= fromUnixTimestamp64Milli({seenBy:Int64}, 'UTC')${projectScopeCondition(query)}`;
  const having: string[] = [];
  if (page !== undefined) {
    having.push(
      "(min(timestamp), trace_id) < (fromUnixTimestamp64Nano({start:Int64}, 'UTC'), toFixedString(unhex({trace:String}), 16))",
    );
    parameters['start'] = page.start;
    parameters['trace'] = page.trace;
  }
  having.push(...durationConditions(query, parameters), ...statusConditions(query));
  return `SELECT lower(hex(trace_id)) AS trace, toString(toUnixTimestamp64Nano(min(timestamp))) AS start FROM spans
    WHERE ${base}${matching(query.service, search, parameters, base)} GROUP BY trace_id
    ${having.length === 0 ? '' : `HAVING ${having.join(' AND ')}`} ORDER BY min(timestamp) DESC, trace_id DESC`;
};

const matching = (
  service: string | undefined,
  search: SearchCondition | undefined,
  parameters: Record<string, string>,
  base: string,
): string => {
  const conditions: string[] = [];
  if (service !== undefined) {
    conditions.push('service = {service:String}');
    parameters['service'] = service;
  }
  if (search !== undefined) {
    conditions.push(search.sql);
    Object.assign(parameters, search.parameters);
  }
  return conditions.length === 0
    ? ''
    : ` AND trace_id IN (SELECT trace_id FROM spans WHERE ${base} AND ${conditions.join(' AND ')})`;
};

const lasts = 'max(toUnixTimestamp64Nano(timestamp) + toInt64(duration)) - min(toUnixTimestamp64Nano(timestamp))';

const durationConditions = (query: Query, parameters: Record<string, string>): string[] => {
  const conditions: string[] = [];
  for (const [name, comparison] of [
    ['minDuration', '>='],
    ['maxDuration', '<='],
  ] as const) {
    const text = query[name];
    if (text === undefined) continue;
    const nanoseconds = parseDuration(text);
    if (nanoseconds === undefined) throw invalid(name, 'must be a duration such as 250ms, 90s or 5m');
    parameters[name] = String(nanoseconds);
    conditions.push(`${lasts} ${comparison} {${name}:Int64}`);
  }
  return conditions;
};

const statusConditions = ({ status }: Query): string[] => {
  if (status === undefined) return [];
  if (status === 'error') return ['countIf(status_code = 2) > 0'];
  return [status === 'ok' ? 'countIf(status_code = 2) = 0' : 'countIf(status_code != 0) = 0'];
};

interface TracePage {
  readonly from: bigint;
  readonly to: bigint;
  readonly seenBy: string;
  readonly start: string;
  readonly trace: string;
}

const pageOf = (cursor: string): TracePage => {
  const patterns = [integer, integer, /^\d{1,15}$/, integer, /^[0-9a-f]{32}$/];
  const [from = '', to = '', seenBy = '', start = '', trace = ''] = decodeCursor(kind, cursor, patterns);
  return { from: BigInt(from), to: BigInt(to), seenBy, start, trace };
};
