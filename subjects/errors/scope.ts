/** Scope of an error query: the plan with its retention, the range and the filters */
import { z } from 'zod';
import { requireReadAccess } from '../../queries/entitlement.ts';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import { parseRetainedRange, type Range, requireRetained } from '../../queries/range.ts';
import type { Incompleteness } from '../../queries/result.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import type { QueryParameters } from '../../schemas/ports/columns.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';

/** Query parameters that select occurrences */
export const errorFilterParameters = {
  service: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe('`service.name` of the resource, or `service.namespace/service.name` if it has a namespace'),
  environment: z.string().max(512).optional().describe('`deployment.environment.name` of the resource'),
  release: z.string().max(512).optional().describe('`service.version` of the resource'),
};

export interface ErrorFilter extends ProjectScope {
  readonly service?: string | undefined;
  readonly environment?: string | undefined;
  readonly release?: string | undefined;
}

const sources = { logs: 'log', traces: 'span' } as const;
type SourceSignal = keyof typeof sources;
const dayNs = 86_400_000_000_000n;

/** Returns the telemetry signals whose occurrences the plan includes, the one with the longest retention first. */
const listIncludedSignals = ({ plan }: TenantReader): SourceSignal[] =>
  (Object.keys(sources) as SourceSignal[])
    .filter((signal) => plan.entitlements.includes(signal))
    .sort((left, right) => plan.retentionDays[right] - plan.retentionDays[left]);

/**
 * Returns the telemetry signal against which a range is checked. Throws `UPGRADE_REQUIRED` if the plan includes neither
 * logs nor traces.
 */
const getRetentionSignal = (reader: TenantReader): Signal => {
  const [signal] = listIncludedSignals(reader);
  if (signal === undefined) requireReadAccess(reader, 'traces');
  return signal ?? 'traces';
};

/** Returns the requested range, limited by the retention of logs or traces. */
export const parseErrorRange = (query: Parameters<typeof parseRetainedRange>[0], reader: TenantReader): Range =>
  parseRetainedRange(query, { caller: reader, signal: getRetentionSignal(reader), nowMs: reader.nowMs });

/** Checks a range from a cursor in the same way. */
export const checkCursorRange = (range: Range, reader: TenantReader): void =>
  requireRetained(range, {
    caller: reader,
    signal: getRetentionSignal(reader),
    nowMs: reader.nowMs,
    isFromCursor: true,
  });

/** Returns the start of the retention of a telemetry signal. */
const getRetentionStart = ({ plan, nowMs }: TenantReader, signal: SourceSignal): bigint =>
  BigInt(Math.trunc(nowMs)) * 1_000_000n - BigInt(plan.retentionDays[signal]) * dayNs;

/** SQL condition for the data that the plan includes */
export interface IncludedScope {
  readonly condition: string;
  readonly parameters: QueryParameters;
  readonly partial: readonly Incompleteness[];
}

/** SQL condition for occurrences in a range */
export interface ErrorScope extends IncludedScope {
  /** Part of the condition without times */
  readonly filters: string;
  /** Sources of occurrences, each with its start time */
  readonly sources: readonly { readonly name: string; readonly from: bigint }[];
  /** Epoch milliseconds. */
  readonly receivedBeforeMs: number;
}

/**
 * Returns the condition for data of any time that the plan includes, within the requested projects. Also applies to
 * `error_groups`.
 */
export const createIncludedScope = (reader: TenantReader, filter: ProjectScope): IncludedScope => {
  getRetentionSignal(reader);
  return {
    condition: `tenant_id = {tenant:String} AND source IN {sources:Array(String)}${buildProjectScopeCondition(filter)}`,
    parameters: {
      sources: listIncludedSignals(reader).map((signal) => sources[signal]),
      ...toProjectScopeParameters(filter),
    },
    partial: [],
  };
};

/**
 * Returns the condition for occurrences of a range that match the filters. `receivedBeforeMs` excludes those received after
 * that time, epoch milliseconds.
 */
export const createErrorScope = (
  reader: TenantReader,
  { from, to }: Range,
  filter: ErrorFilter,
  receivedBeforeMs = reader.nowMs,
): ErrorScope => {
  const includedScope = createIncludedScope(reader, filter);
  const filters = [includedScope.condition];
  const timeConditions = [
    "timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')",
    "received_at <= fromUnixTimestamp64Milli({receivedBeforeMs:Int64}, 'UTC')",
  ];
  const parameters: Record<string, QueryParameters[string]> = {
    ...includedScope.parameters,
    from: String(from),
    to: String(to),
    receivedBeforeMs: String(Math.trunc(receivedBeforeMs)),
  };
  for (const name of ['service', 'environment', 'release'] as const) {
    const value = filter[name];
    if (value === undefined) continue;
    filters.push(`${name} = {${name}:String}`);
    parameters[name] = value;
  }
  const partial: Incompleteness[] = [];
  const sourceStarts: { name: string; from: bigint }[] = [];
  for (const signal of listIncludedSignals(reader)) {
    const retentionStart = getRetentionStart(reader, signal);
    sourceStarts.push({ name: sources[signal], from: from >= retentionStart ? from : retentionStart });
    if (from >= retentionStart) continue;
    timeConditions.push(
      `(source != '${sources[signal]}' OR timestamp >= fromUnixTimestamp64Nano({kept_${signal}:Int64}, 'UTC'))`,
    );
    parameters[`kept_${signal}`] = String(retentionStart);
    const message = `the plan ${reader.plan.name} retains ${signal} for ${reader.plan.retentionDays[signal]} days: their errors are counted since ${formatTime(retentionStart)}`;
    if (from < retentionStart - 60_000_000_000n) partial.push({ code: 'retention', message });
  }
  return {
    condition: [...filters, ...timeConditions].join(' AND '),
    filters: filters.join(' AND '),
    parameters,
    partial,
    sources: sourceStarts,
    receivedBeforeMs: Math.trunc(receivedBeforeMs),
  };
};
