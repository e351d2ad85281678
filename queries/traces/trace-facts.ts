/** Derives facts from all spans of a trace: its summary, its critical path, and the values of each span. */
import { z } from 'zod';
import type { Incompleteness } from '../result.ts';
import { Span } from '../signals/span-record.ts';
import { formatTime, toExactNumberOrText } from '../time.ts';
import { computeCriticalPath, computeSelfTimes, type PathSegment } from './critical-path.ts';
import { findRepeatedCalls, maxRepeatedGroups, minRepeatedCalls } from './repeated-calls.ts';
import { buildSpanTree, findTraceInterval, type SpanTree, spanWarnings, type TreeSpan } from './span-tree.ts';
import { normalizedStatementSql } from './statement.ts';

/** Maximum number of segments in a response. */
const maxSegments = 10_000;
const maxServices = 100;
const maxRoots = 100;

/** Position of a span on the bus, as one text. */
export const busPositionSql = "concat(toString(partition), '-', toString(offset), '-', toString(ordinal))";

const nanoseconds = z.union([z.int(), z.string()]);

/** A span in its trace. Values that depend on its position are null for spans beyond the limit of facts. */
export const TraceSpan = Span.extend({
  selfTimeNs: nanoseconds.nullable().describe('Time in which the span ran while none of its children did'),
  criticalPathNs: nanoseconds.nullable().describe('Part of the critical path in this span'),
  clockShiftNs: nanoseconds
    .nullable()
    .describe('Correction of its times to the clock of its caller; `startTime` is the time that the sender reported'),
  warnings: z
    .array(z.enum(spanWarnings))
    .describe(
      'missing-parent: its parent is not in the trace; cycle: it is its own ancestor, and is shown as a root; duplicate-id: another span has its id; clock-skew: see clockShiftNs; clipped: only the part within its parent counts for the critical path; outlives-parent, outside-parent: its parent did not wait for it, so it is not on the path',
    ),
});

/** Values of a span that depend on its trace */
export type SpanFacts = Pick<z.output<typeof TraceSpan>, 'selfTimeNs' | 'criticalPathNs' | 'clockShiftNs' | 'warnings'>;

/** Fields of a trace as a whole. */
export const traceFacts = {
  startTime: z.string(),
  durationNs: nanoseconds.describe('From the first start to the last end; a decimal string if beyond 2^53'),
  spanCount: z.int(),
  errorCount: z.int(),
  services: z
    .array(
      z.strictObject({
        service: z.string(),
        spanCount: z.int(),
        errorCount: z.int(),
        selfTimeNs: nanoseconds,
        criticalPathNs: nanoseconds,
      }),
    )
    .describe(`At most ${maxServices}, largest share of the critical path first`),
  roots: z
    .array(
      z.strictObject({
        spanId: z.string(),
        service: z.string(),
        name: z.string(),
        startTime: z.string(),
        durationNs: nanoseconds,
        parentSpanId: z.string().nullable().describe('Parent id of a root whose parent is not in the trace'),
      }),
    )
    .describe(`At most ${maxRoots}: spans without a parent first, then those whose parent is missing, each by start`),
  rootCount: z.int(),
  missingParentCount: z.int().describe('Number of spans whose parent is not in the trace'),
  warningCounts: z
    .partialRecord(z.enum(spanWarnings), z.int())
    .describe('Number of spans with each warning; warnings without spans are omitted'),
  repeatedCalls: z
    .array(
      z.strictObject({
        callerSpanId: z.string(),
        firstSpanId: z.string().describe('First span of these calls'),
        service: z.string(),
        name: z.string(),
        count: z.int(),
        criticalPathNs: nanoseconds.describe('Part of the critical path in these calls'),
      }),
    )
    .describe(
      `Calls with the same service, name and statement (without literals) that one span makes ${minRepeatedCalls} times or more: at most ${maxRepeatedGroups}, longest on the critical path first`,
    ),
  criticalPath: z
    .strictObject({
      rootSpanId: z.string(),
      durationNs: nanoseconds.describe('Duration of the first root, equal to the sum of all segments'),
      segments: z
        .array(z.strictObject({ spanId: z.string(), startTime: z.string(), durationNs: nanoseconds }))
        .describe(`In the order of time, on the clock of the root; at most ${maxSegments}`),
    })
    .describe('Critical path of the first root (`docs/reference/traces.md`)'),
};
const Facts = z.strictObject(traceFacts);
export type TraceFacts = z.output<typeof Facts>;

/** Row that facts are computed from. */
export interface SpanFactsRow {
  readonly span: string;
  readonly parent: string;
  readonly start: string;
  readonly lasted: string;
  readonly kind: number;
  readonly status: number;
  readonly service: string;
  readonly name: string;
  readonly resource: string;
  /** Hash of its database statement without literals. */
  readonly statement: string;
  /** Position on the bus: unique. */
  readonly at: string;
}

/** SQL of `statement` */
export const statementHashSql = `toString(cityHash64(${normalizedStatementSql}))`;

/** Fields of a `SpanFactsRow` with their SQL */
export const spanFactsFields = [
  ['span', 'lower(hex(span_id))'],
  ['parent', 'lower(hex(parent_span_id))'],
  ['start', 'toString(toUnixTimestamp64Nano(timestamp))'],
  ['lasted', 'toString(duration)'],
  ['kind', 'kind'],
  ['status', 'status_code'],
  ['service', 'service'],
  ['name', 'name'],
  ['resource', 'toString(resource_id)'],
  ['statement', statementHashSql],
  ['at', busPositionSql],
] as const satisfies readonly (readonly [keyof SpanFactsRow, string])[];

const compareNumbers = (one: string, other: string): number => {
  if (one === other) return 0;
  const canCompareAsText = one.length === other.length && !one.startsWith('-') && !other.startsWith('-');
  return (canCompareAsText ? one < other : BigInt(one) < BigInt(other)) ? -1 : 1;
};
/** Compares the positions of two spans on the bus as ClickHouse does. */
const comparePositions = (one: string, other: string): number => {
  const parts = other.split('-');
  const differences = one.split('-').map((part, index) => compareNumbers(part, parts[index] ?? ''));
  return differences.find((difference) => difference !== 0) ?? 0;
};

/** Orders rows of several servers by start, longest first. */
export const compareTraceOrder = (
  one: Pick<SpanFactsRow, 'start' | 'lasted' | 'span' | 'at'>,
  other: Pick<SpanFactsRow, 'start' | 'lasted' | 'span' | 'at'>,
): number =>
  compareNumbers(one.start, other.start) ||
  compareNumbers(other.lasted, one.lasted) ||
  (one.span === other.span ? comparePositions(one.at, other.at) : one.span < other.span ? -1 : 1);

/** Returns rounded nanoseconds in the format of responses. */
const formatRoundedNs = (value: number): number | string => toExactNumberOrText(BigInt(Math.round(value)).toString());

/** Tree of a trace's spans with derived values. Spans must be in the order of `compareTraceOrder`, and there must be at least one. */
export class TraceAnalysis {
  readonly incompleteness: Incompleteness[] = [];
  readonly #rows: readonly SpanFactsRow[];
  /** Reference of all times, so that they are exact as numbers. */
  readonly #startNs: bigint;
  readonly #spans: readonly TreeSpan[];
  readonly #tree: SpanTree;
  readonly #path: readonly PathSegment[];
  readonly #selfTimesNs: Float64Array;
  readonly #criticalPathNs: Float64Array;
  readonly #indexes: ReadonlyMap<string, number>;

  constructor(rows: readonly SpanFactsRow[]) {
    this.#rows = rows;
    this.#indexes = new Map(rows.map(({ at }, index) => [at, index]));
    this.#startNs = BigInt(rows[0]?.start ?? 0);
    this.#spans = rows.map(({ span, parent, start, lasted, kind, resource }) => ({
      spanId: span,
      parentSpanId: parent,
      kind,
      resourceId: resource,
      start: Number(BigInt(start) - this.#startNs),
      duration: Number(lasted),
    }));
    this.#tree = buildSpanTree(this.#spans);
    this.#path = computeCriticalPath(this.#tree, this.#tree.roots[0] ?? 0);
    this.#selfTimesNs = computeSelfTimes(this.#tree);
    this.#criticalPathNs = new Float64Array(rows.length);
    for (const { span, start, end } of this.#path)
      this.#criticalPathNs[span] = (this.#criticalPathNs[span] as number) + end - start;
  }

  /** Returns the derived values of a span. */
  getSpanFacts(at: string): SpanFacts {
    const index = this.#indexes.get(at);
    if (index === undefined) return { selfTimeNs: null, criticalPathNs: null, clockShiftNs: null, warnings: [] };
    return {
      selfTimeNs: formatRoundedNs(this.#selfTimesNs[index] as number),
      criticalPathNs: formatRoundedNs(this.#criticalPathNs[index] as number),
      clockShiftNs: formatRoundedNs(this.#tree.shifts[index] as number),
      warnings: [...(this.#tree.warnings[index] ?? [])],
    };
  }

  getTraceFacts(): TraceFacts {
    const { roots, warnings } = this.#tree;
    const { start, end } = findTraceInterval(this.#tree);
    const warningCounts: TraceFacts['warningCounts'] = {};
    for (const each of warnings) for (const warning of each) warningCounts[warning] = (warningCounts[warning] ?? 0) + 1;
    return {
      startTime: this.#formatRelativeTime(start),
      durationNs: formatRoundedNs(end - start),
      spanCount: this.#rows.length,
      errorCount: this.#rows.filter(({ status }) => status === 2).length,
      services: this.#summarizeServices(),
      roots: roots.slice(0, maxRoots).map((root) => this.#toRoot(root)),
      rootCount: roots.length,
      missingParentCount: warningCounts['missing-parent'] ?? 0,
      warningCounts,
      repeatedCalls: this.#listRepeatedCalls(),
      criticalPath: this.#toCriticalPath(roots[0] ?? 0),
    };
  }

  #formatRelativeTime(relative: number): string {
    return formatTime(this.#startNs + BigInt(Math.round(relative)));
  }

  #listRepeatedCalls(): TraceFacts['repeatedCalls'] {
    const repeatedCalls = findRepeatedCalls(this.#rows, {
      parents: this.#tree.parents,
      criticalPathNs: this.#criticalPathNs,
    });
    return repeatedCalls.slice(0, maxRepeatedGroups).map(({ caller, firstCall, count, criticalPathNs }) => {
      const { span, service, name } = this.#rows[firstCall] as SpanFactsRow;
      const { span: callerSpanId } = this.#rows[caller] as SpanFactsRow;
      return { callerSpanId, firstSpanId: span, service, name, count, criticalPathNs: formatRoundedNs(criticalPathNs) };
    });
  }

  #toRoot(index: number): TraceFacts['roots'][number] {
    const { span, service, name, parent } = this.#rows[index] as SpanFactsRow;
    const { start, duration } = this.#spans[index] as TreeSpan;
    return {
      spanId: span,
      service,
      name,
      startTime: this.#formatRelativeTime(start),
      durationNs: formatRoundedNs(duration),
      parentSpanId: /^0*$/.test(parent) ? null : parent,
    };
  }

  #summarizeServices(): TraceFacts['services'] {
    const services = new Map<string, { spanCount: number; errorCount: number; selfTimeNs: number; onPath: number }>();
    for (const [index, { service, status }] of this.#rows.entries()) {
      const sums = services.get(service) ?? { spanCount: 0, errorCount: 0, selfTimeNs: 0, onPath: 0 };
      sums.spanCount++;
      if (status === 2) sums.errorCount++;
      sums.selfTimeNs += this.#selfTimesNs[index] as number;
      sums.onPath += this.#criticalPathNs[index] as number;
      services.set(service, sums);
    }
    if (services.size > maxServices)
      this.incompleteness.push({
        code: 'groups',
        message: `the trace has ${services.size} services: ${maxServices} are listed`,
      });
    return [...services]
      .sort(([one, a], [other, b]) => b.onPath - a.onPath || b.selfTimeNs - a.selfTimeNs || (one < other ? -1 : 1))
      .slice(0, maxServices)
      .map(([service, { selfTimeNs, onPath, ...counts }]) => ({
        service,
        ...counts,
        selfTimeNs: formatRoundedNs(selfTimeNs),
        criticalPathNs: formatRoundedNs(onPath),
      }));
  }

  #toCriticalPath(root: number): TraceFacts['criticalPath'] {
    if (this.#path.length > maxSegments)
      this.incompleteness.push({
        code: 'rows',
        message: `the critical path has ${this.#path.length} segments: the ${maxSegments} longest are listed`,
      });
    return {
      rootSpanId: this.#rows[root]?.span ?? '',
      durationNs: formatRoundedNs(this.#spans[root]?.duration ?? 0),
      segments: selectLongestSegments(this.#path, maxSegments).map(({ span, start, end }) => ({
        spanId: this.#rows[span]?.span ?? '',
        startTime: this.#formatRelativeTime(start),
        durationNs: formatRoundedNs(end - start),
      })),
    };
  }
}

/** Returns the longest segments, in order. */
const selectLongestSegments = (path: readonly PathSegment[], segmentLimit: number): readonly PathSegment[] => {
  if (path.length <= segmentLimit) return path;
  const longest = new Set(
    path.toSorted((one, other) => other.end - other.start - (one.end - one.start)).slice(0, segmentLimit),
  );
  return path.filter((segment) => longest.has(segment));
};
