/**
 * Lists traces of a range, newest first. Reads the newest time range first, and older ones only while traces are
 * missing.
 */
import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern } from '../cursor.ts';
import { createValidationError } from '../errors.ts';
import { buildProjectScopeCondition, type ProjectScope, toProjectScopeParameters } from '../project-scope.ts';
import { parseRetainedRange, type Range, requireRetained } from '../range.ts';
import { iterateTimeRanges } from '../rows/in-order.ts';
import { buildSearchCondition } from '../search/condition.ts';
import { parseSearch } from '../search/parse.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { parseDuration } from '../time.ts';
import {
  mayHaveSkewSql,
  readCorrectedDurations,
  readSummaries,
  rootDurationSql,
  type TraceSummary,
  traceDurationSql,
} from './summary.ts';

const cursorKind = 'traces';
const cursorPatterns = [int64Pattern, int64Pattern, /^\d{1,15}$/, int64Pattern, /^[0-9a-f]{32}$/];
/** Minimum number of traces per statement, because some of them may have begun before its time range. */
const minTracesPerStatement = 20;
/** Maximum number of traces per statement: later statements have their ids as literals. */
const maxTracesPerStatement = 2000;
/**
 * Maximum number of statements for one page with a filter by duration that find traces which do not belong there. The
 * page then ends, and the next one continues.
 */
const maxFilteredStatements = 8;

const duration = z.string().max(64).optional();

/** Filters of traces. */
export const traceConditions = {
  search: z
    .string()
    .max(1024)
    .optional()
    .describe(
      'Words that must all occur in one span: its name, service or attribute values; also "phrases", field:value, duration:>100ms, field:[1 TO 5], field:foo*, /regex/, field:*, AND, OR, NOT and parentheses, for one span (`docs/reference/search-language.md`)',
    ),
  minDuration: duration.describe(
    'Minimum duration of a trace, from the first start to the last end of its spans, on the clocks of callers: 250ms, 1.5s, 2m',
  ),
  maxDuration: duration.describe('Maximum duration of a trace, such as 2s'),
  status: z
    .enum(['error', 'ok', 'unset'])
    .optional()
    .describe('error: at least one span failed; ok: no span failed; unset: no span has a status'),
};

export interface TracesQuery extends ProjectScope {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly service?: string | undefined;
  readonly search?: string | undefined;
  readonly minDuration?: string | undefined;
  readonly maxDuration?: string | undefined;
  readonly status?: 'error' | 'ok' | 'unset' | undefined;
}

/** A trace by its first start in the range. */
interface TracePosition {
  readonly trace: string;
  readonly start: string;
}

/**
 * Returns a page of traces, in the order of their first start in the range. All pages of a list use only the spans that
 * were received before its first page, because a late span would move its trace to another page. With conditions on the
 * duration, a page may have fewer traces than the limit, or none: the list ends when `nextCursor` is null.
 */
export const listTraces = async (
  query: TracesQuery,
  reader: TenantReader,
): Promise<{ readonly items: readonly TraceSummary[]; readonly nextCursor: string | null }> => {
  const [from, to, receivedBy = String(Math.trunc(reader.nowMs)), start, trace] =
    query.cursor === undefined ? [] : decodeCursor(cursorKind, query.cursor, cursorPatterns);
  const readContext = { caller: reader, signal: 'traces', nowMs: reader.nowMs } as const;
  const range =
    from === undefined ? parseRetainedRange(query, readContext) : { from: BigInt(from), to: BigInt(to ?? 0) };
  if (from !== undefined) requireRetained(range, { ...readContext, isFromCursor: true });
  const after = start === undefined || trace === undefined ? undefined : { start, trace };
  const { traces: pageTraces, last } = await new TraceFinder(reader, query, range, receivedBy).find(after);
  return {
    items: await readSummaries(reader.columns, pageTraces),
    nextCursor:
      last === undefined ? null : encodeCursor(cursorKind, [range.from, range.to, receivedBy, last.start, last.trace]),
  };
};

const buildTimeParameterSql = (name: string): string => `fromUnixTimestamp64Nano({${name}:Int64}, 'UTC')`;
interface FoundTrace extends TracePosition {
  /** By the clocks of the senders, in nanoseconds; empty without a condition on it */
  readonly sent_duration: string;
  readonly may_have_skew: number;
  /** Number of spans; 0 without a condition on the duration */
  readonly span_count: string;
}

/** A page of positions; `last` is where the next page continues, if there may be one. */
interface FoundPage {
  readonly traces: readonly TracePosition[];
  readonly last: TracePosition | undefined;
}

interface DurationBounds {
  readonly minDuration: bigint | undefined;
  readonly maxDuration: bigint | undefined;
}

const statusConditions = {
  error: 'countIf(status_code = 2) > 0',
  ok: 'countIf(status_code = 2) = 0',
  unset: 'countIf(status_code != 0) = 0',
} as const;

class TraceFinder {
  readonly #reading: TenantReader;
  readonly #range: Range;
  readonly #limit: number;
  /** Condition of all rows besides the time. */
  readonly #baseCondition: string;
  /** Condition that one span of a trace must match, if any. */
  readonly #spanCondition: string | undefined;
  /** Conditions of a trace. */
  readonly #traceConditions: readonly string[];
  readonly #durations: DurationBounds;
  readonly #parameters: Record<string, string>;

  constructor(reader: TenantReader, query: TracesQuery, range: Range, seenBy: string) {
    this.#reading = reader;
    this.#range = range;
    this.#limit = query.limit;
    this.#baseCondition = `tenant_id = {tenant:String} AND received_at <= fromUnixTimestamp64Milli({seenBy:Int64}, 'UTC')${buildProjectScopeCondition(query)}`;
    this.#parameters = {
      from: String(range.from),
      to: String(range.to),
      seenBy,
      ...toProjectScopeParameters(query),
    };
    this.#spanCondition = this.#buildSpanCondition(query);
    this.#durations = {
      minDuration: parseDurationParameter('minDuration', query.minDuration),
      maxDuration: parseDurationParameter('maxDuration', query.maxDuration),
    };
    this.#traceConditions = [
      ...this.#buildDurationConditions(),
      ...(query.status === undefined ? [] : [statusConditions[query.status]]),
    ];
  }

  /** Returns the traces of the page after a trace. */
  async find(after: TracePosition | undefined): Promise<FoundPage> {
    const { from } = this.#range;
    const to = after === undefined ? this.#range.to : BigInt(after.start);
    const traces: TracePosition[] = [];
    const rowLimit = this.#limit + 1;
    let filteredStatements = 0;
    const timeRanges = iterateTimeRanges({ from, to }, 'newest');
    for (
      let next = timeRanges.next();
      next.done !== true;
      next = timeRanges.next({ limit: rowLimit, found: traces.length })
    ) {
      const timeRange = next.value;
      let last = after;
      for (let isDone = false; !isDone; ) {
        // Each statement reads the whole time range: the more it found in vain, the more traces the next one returns.
        const limit = Math.min(
          maxTracesPerStatement,
          Math.max(minTracesPerStatement, rowLimit - traces.length) * 2 ** filteredStatements,
        );
        const foundTraces = await this.#findInRange(timeRange, last, limit);
        const pageTraces = await this.#filterTraces(timeRange, foundTraces);
        traces.push(...pageTraces);
        if (traces.length >= rowLimit) return { traces: traces.slice(0, this.#limit), last: traces[this.#limit - 1] };
        isDone = foundTraces.length < limit;
        last = foundTraces.at(-1);
        if (pageTraces.length < foundTraces.length) filteredStatements++;
        const mustEnd = this.#hasDurationBounds && filteredStatements >= maxFilteredStatements;
        if (mustEnd && !isDone) return { traces, last };
      }
    }
    return { traces, last: undefined };
  }

  /** Returns the traces that belong to the time range and are within the bounds of the duration. */
  async #filterTraces(timeRange: Range, traces: readonly FoundTrace[]): Promise<readonly FoundTrace[]> {
    const matchingTraces = await this.#filterByDuration(traces);
    const earlierTraces = await this.#findEarlierTraces(timeRange.from, matchingTraces);
    return matchingTraces.filter(({ trace }) => !earlierTraces.has(trace));
  }

  /**
   * Returns the traces whose first span since the start of a time range is within that time range, after the previous
   * trace.
   */
  #findInRange(stretch: Range, after: TracePosition | undefined, limit: number): Promise<FoundTrace[]> {
    const rangeConditionSql = `${this.#baseCondition} AND timestamp >= ${buildTimeParameterSql('begin')} AND timestamp <= ${buildTimeParameterSql('to')}`;
    const tracesInRangeSql = `SELECT trace_id FROM spans WHERE ${rangeConditionSql} AND timestamp <= ${buildTimeParameterSql('end')}`;
    const isLast = stretch.to >= this.#range.to;
    const conditions = [rangeConditionSql];
    if (!isLast) conditions.push(`trace_id IN (${tracesInRangeSql})`);
    if (this.#spanCondition !== undefined) {
      // After the time range, only the spans of its traces are read; all other traces are on other pages.
      const laterTracesSql = `SELECT trace_id FROM spans WHERE ${rangeConditionSql} AND timestamp > ${buildTimeParameterSql('end')} AND trace_id IN (${tracesInRangeSql}) AND ${this.#spanCondition}`;
      const condition = `trace_id IN (${tracesInRangeSql} AND ${this.#spanCondition})`;
      conditions.push(isLast ? condition : `(${condition} OR trace_id IN (${laterTracesSql}))`);
    }
    const having = [`min(timestamp) <= ${buildTimeParameterSql('end')}`, ...this.#traceConditions];
    if (after !== undefined)
      having.push(
        `(min(timestamp), trace_id) < (${buildTimeParameterSql('start')}, toFixedString(unhex({trace:String}), 16))`,
      );
    const durationsSql = this.#hasDurationBounds
      ? `toString(${traceDurationSql}) AS sent_duration, ${mayHaveSkewSql} AS may_have_skew, toString(count()) AS span_count`
      : "'' AS sent_duration, 0 AS may_have_skew, '0' AS span_count";
    return this.#reading.columns.query<FoundTrace & Record<string, unknown>>(
      `SELECT lower(hex(trace_id)) AS trace, toString(toUnixTimestamp64Nano(min(timestamp))) AS start, ${durationsSql} FROM spans
      WHERE ${conditions.join(' AND ')} GROUP BY trace_id HAVING ${having.join(' AND ')}
      ORDER BY min(timestamp) DESC, trace_id DESC LIMIT ${limit}`,
      { ...this.#parameters, begin: String(stretch.from), end: String(stretch.to), ...after },
    );
  }

  get #hasDurationBounds(): boolean {
    return this.#durations.minDuration !== undefined || this.#durations.maxDuration !== undefined;
  }

  /** Returns the traces within the bounds by the duration that lists show: on the clocks of callers. */
  async #filterByDuration(traces: readonly FoundTrace[]): Promise<readonly FoundTrace[]> {
    const candidates = traces.filter(({ may_have_skew: mayHaveSkew }) => Number(mayHaveSkew) === 1);
    if (candidates.length === 0) return traces;
    const { minDuration = 0n, maxDuration } = this.#durations;
    const corrected = await readCorrectedDurations(this.#reading.columns, candidates);
    return traces.filter(({ trace, sent_duration: sent }) => {
      const lasted = corrected.get(trace) ?? BigInt(sent);
      return lasted >= minDuration && (maxDuration === undefined || lasted <= maxDuration);
    });
  }

  /** Returns the traces that have a span of the range before this time, and thus a later position in the list. */
  async #findEarlierTraces(begin: bigint, traces: readonly TracePosition[]): Promise<ReadonlySet<string>> {
    if (begin <= this.#range.from || traces.length === 0) return new Set();
    // Ids are hexadecimal from stored rows; the index of traces needs literals.
    const ids = traces.map(({ trace }) => `unhex('${trace}')`).join(', ');
    const rows = await this.#reading.columns.query<{ trace: string }>(
      `SELECT DISTINCT lower(hex(trace_id)) AS trace FROM spans WHERE ${this.#baseCondition} AND timestamp >= ${buildTimeParameterSql('from')}
        AND timestamp < ${buildTimeParameterSql('begin')} AND trace_id IN (${ids})`,
      { ...this.#parameters, begin: String(begin) },
    );
    return new Set(rows.map(({ trace }) => trace));
  }

  #buildSpanCondition({ service, search }: TracesQuery): string | undefined {
    const conditions: string[] = [];
    if (service !== undefined) {
      conditions.push('service = {service:String}');
      this.#parameters['service'] = service;
    }
    if (search !== undefined) {
      const condition = buildSearchCondition(parseSearch(search, 'traces'), 'traces');
      conditions.push(condition.sql);
      Object.assign(this.#parameters, condition.parameters);
    }
    return conditions.length === 0 ? undefined : conditions.join(' AND ');
  }

  /** A trace that is too long by the clocks of its senders may be short enough. */
  #buildDurationConditions(): string[] {
    const { minDuration, maxDuration } = this.#durations;
    if (minDuration !== undefined) this.#parameters['minDuration'] = String(minDuration);
    if (maxDuration !== undefined) this.#parameters['maxDuration'] = String(maxDuration);
    const isShort = (durationSql: string): string => `${durationSql} <= {maxDuration:Int64}`;
    return [
      ...(minDuration === undefined ? [] : [`${traceDurationSql} >= {minDuration:Int64}`]),
      ...(maxDuration === undefined
        ? []
        : [`(${isShort(traceDurationSql)} OR (${mayHaveSkewSql} AND ${isShort(rootDurationSql)}))`]),
    ];
  }
}

/** Parses a duration parameter to nanoseconds. */
export const parseDurationParameter = (path: string, text: string | undefined): bigint | undefined => {
  if (text === undefined) return undefined;
  const nanoseconds = parseDuration(text);
  if (nanoseconds === undefined) throw createValidationError(path, 'must be a duration such as 250ms, 90s or 5m');
  return nanoseconds;
};
