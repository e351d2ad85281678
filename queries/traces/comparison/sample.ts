/** SQL for the compared units: spans or entire traces of both sets. Large sets are sampled. */

import type { QueryParameters } from '../../../schemas/ports/columns.ts';
import { buildProjectScopeCondition, type ProjectScope, toProjectScopeParameters } from '../../project-scope.ts';
import type { Range } from '../../range.ts';
import { buildRangeCondition, buildRangeParameters } from '../../records.ts';
import { buildSearchCondition } from '../../search/condition.ts';
import { parseSearch } from '../../search/parse.ts';
import type { TenantReader } from '../../tenant-reader.ts';
import { normalizedStatementSql } from '../statement.ts';
import {
  mayHaveSkewSql,
  readCorrectedDurations,
  rootDurationSql,
  type SentTrace,
  traceDurationSql,
} from '../summary.ts';

export type Unit = 'spans' | 'traces';

/** Compared sets. At least one of the last four properties is given. */
export interface Selection extends ProjectScope {
  readonly by: Unit;
  /** Service of all units. */
  readonly service?: string | undefined;
  readonly search?: string | undefined;
  /** Additional condition of the selected units. */
  readonly selection?: string | undefined;
  readonly status?: 'error' | 'ok' | 'unset' | undefined;
  readonly minDurationNs?: bigint | undefined;
  readonly maxDurationNs?: bigint | undefined;
}

/** Approximate maximum number of sampled units per set. */
export const sampleSize = 20_000;

export interface SetSizes {
  /** Number of units of each set in the range; an approximation for traces. */
  readonly selected: number;
  readonly baseline: number;
}

/** Sampling interval of each set. */
interface SamplingIntervals {
  readonly selected: number;
  readonly baseline: number;
}

const spanStatus = { error: 'status_code = 2', ok: 'status_code != 2', unset: 'status_code = 0' } as const;
const traceStatus = {
  error: 'countIf(status_code = 2) > 0',
  ok: 'countIf(status_code = 2) = 0',
  unset: 'countIf(status_code != 0) = 0',
} as const;
/** Maximum number of traces whose durations are corrected */
const maxCorrectedTraces = 1000;

/** A sample: statements read from `rowsSql`, whose columns are those of spans, `selected` and `unit`. */
export class Sample {
  readonly parameters: QueryParameters;
  /** Returns SQL that counts each unit once, by a condition. */
  readonly buildCountSql: (condition: string) => string;
  /** Returns the aggregate state of a count, and the merged count of states that may share units. */
  readonly buildCountStateSql: (condition: string) => string;
  readonly buildCountMergeSql: (state: string) => string;
  readonly by: Unit;
  readonly #baseSql: string;
  readonly #populationSql: string;
  #selectedSql: string;
  readonly #selection: Selection;
  #samplingIntervals: SamplingIntervals = { selected: 1, baseline: 1 };

  constructor(selection: Selection, range: Range) {
    this.#selection = selection;
    const parameters: Record<string, string> = {
      ...buildRangeParameters(range),
      ...toProjectScopeParameters(selection),
    };
    this.by = selection.by;
    this.parameters = parameters;
    this.buildCountSql = (condition) =>
      this.by === 'spans' ? `countIf(${condition})` : `uniqExactIf(trace_id, ${condition})`;
    this.buildCountStateSql = (condition) =>
      this.by === 'spans' ? `countIfState(${condition})` : `uniqExactIfState(trace_id, ${condition})`;
    this.buildCountMergeSql = (state) =>
      this.by === 'spans' ? `countIfMerge(${state})` : `uniqExactIfMerge(${state})`;
    this.#baseSql = `tenant_id = {tenant:String} AND ${buildRangeCondition('traces')}${buildProjectScopeCondition(selection)}`;
    const population: string[] = [];
    if (selection.service !== undefined) {
      parameters['service'] = selection.service;
      population.push('service = {service:String}');
    }
    if (selection.search !== undefined) population.push(buildCondition(selection.search, 'search', 'p_', parameters));
    this.#populationSql = this.#buildPopulationCondition(population);
    this.#selectedSql =
      this.by === 'spans'
        ? buildSpanCondition(selection, parameters)
        : this.#buildTraceCondition(buildTraceConditions(selection, parameters));
  }

  /**
   * Selects traces by the durations that lists show: on the clocks of callers. Beyond `maxCorrectedTraces`, older traces
   * whose clocks may differ are selected by the clocks of their senders.
   */
  async correctClocks({ columns }: TenantReader): Promise<void> {
    const { minDurationNs = 0n, maxDurationNs } = this.#selection;
    if (this.by === 'spans' || (minDurationNs === 0n && maxDurationNs === undefined)) return;
    const { durations, others } = buildTraceConditions(this.#selection, {});
    // A corrected duration is at least that of the root, and at most that by the clocks of the senders.
    const having = [
      mayHaveSkewSql,
      `${traceDurationSql} >= ${minDurationNs}`,
      ...(maxDurationNs === undefined ? [] : [`${rootDurationSql} <= ${maxDurationNs}`]),
    ];
    const candidates = await columns.query<SentTrace>(
      `SELECT lower(hex(trace_id)) AS trace, toString(toUnixTimestamp64Nano(min(timestamp))) AS start,
        toString(${traceDurationSql}) AS sent_duration, toString(count()) AS span_count
      FROM spans WHERE ${this.#baseSql}${this.#populationSql} GROUP BY trace_id HAVING ${having.join(' AND ')}
      ORDER BY min(timestamp) DESC LIMIT ${maxCorrectedTraces}`,
      this.parameters,
    );
    if (candidates.length === 0) return;
    const corrected = [...(await readCorrectedDurations(columns, candidates))];
    const isSelected = (duration: bigint): boolean =>
      duration >= minDurationNs && (maxDurationNs === undefined || duration <= maxDurationNs);
    const listIds = (ids: readonly (readonly [string, bigint])[]): string =>
      // Ids are hexadecimal from stored rows.
      `[${ids.map(([trace]) => `'${trace}'`).join(', ')}]`;
    const selectedIds = listIds(corrected.filter(([, duration]) => isSelected(duration)));
    const correctedIds = listIds(corrected);
    const duration = `if(has(${correctedIds}, lower(hex(trace_id))), has(${selectedIds}, lower(hex(trace_id))), ${durations.join(' AND ')})`;
    this.#selectedSql = this.#buildTraceCondition({ durations: [duration], others });
  }

  /** Measures the sizes of the sets. From then on, `rowsSql` has about `sampleSize` units of each. */
  async measureSizes({ columns }: TenantReader): Promise<SetSizes> {
    const buildSizeSql = (condition: string): string =>
      this.by === 'spans' ? `countIf(${condition})` : `uniqIf(trace_id, ${condition})`;
    const [found] = await columns.query<{ n: string; m: string }>(
      `SELECT ${buildSizeSql('selected')} AS n, ${buildSizeSql('NOT selected')} AS m
      FROM (SELECT trace_id, ${this.#selectedSql} AS selected FROM spans WHERE ${this.#baseSql}${this.#populationSql})`,
      this.parameters,
    );
    const sizes = { selected: Number(found?.n ?? 0), baseline: Number(found?.m ?? 0) };
    this.#samplingIntervals = {
      selected: Math.max(1, Math.ceil(sizes.selected / sampleSize)),
      baseline: Math.max(1, Math.ceil(sizes.baseline / sampleSize)),
    };
    return sizes;
  }

  get isSampled(): boolean {
    return this.#samplingIntervals.selected > 1 || this.#samplingIntervals.baseline > 1;
  }

  /**
   * SQL of the sampled rows. The hash of the trace id decides, so that the sample is reproducible and contains entire
   * traces.
   */
  get rowsSql(): string {
    const { selected, baseline } = this.#samplingIntervals;
    const samplingCondition = this.isSampled
      ? ` AND cityHash64(trace_id) % if(${this.#selectedSql}, ${selected}, ${baseline}) = 0`
      : '';
    return `(SELECT trace_id, service, name, kind, resource_id, attributes, attribute_types, ${normalizedStatementSql} AS statement, ${this.#selectedSql} AS selected
      FROM spans WHERE ${this.#baseSql}${this.#populationSql}${samplingCondition})`;
  }

  /** Returns the conditions of all units. If units are traces, a trace with a matching span is included entirely. */
  #buildPopulationCondition(conditions: readonly string[]): string {
    if (conditions.length === 0) return '';
    const all = conditions.join(' AND ');
    return this.by === 'spans'
      ? ` AND ${all}`
      : ` AND trace_id IN (SELECT trace_id FROM spans WHERE ${this.#baseSql} AND ${all})`;
  }

  #buildTraceCondition({ durations, others }: TraceConditions): string {
    const having = [...durations, ...others].join(' AND ');
    return `(trace_id IN (SELECT trace_id FROM spans WHERE ${this.#baseSql} GROUP BY trace_id HAVING ${having}))`;
  }
}

/** SQL conditions of a group of spans with one trace id */
interface TraceConditions {
  readonly durations: readonly string[];
  readonly others: readonly string[];
}

const buildTraceConditions = (selection: Selection, parameters: Record<string, string>): TraceConditions => {
  const { status, selection: search } = selection;
  const durations = durationBounds.flatMap(([name, comparison]) => {
    const bound = selection[name];
    if (bound === undefined) return [];
    parameters[name] = String(bound);
    return [`${traceDurationSql} ${comparison} {${name}:Int64}`];
  });
  const others = [
    ...(status === undefined ? [] : [traceStatus[status]]),
    ...(search === undefined ? [] : [`countIf(${buildCondition(search, 'selection', 's_', parameters)}) > 0`]),
  ];
  return { durations, others };
};

const durationBounds = [
  ['minDurationNs', '>='],
  ['maxDurationNs', '<='],
] as const;

const buildCondition = (text: string, path: string, prefix: string, parameters: Record<string, string>): string => {
  const found = buildSearchCondition(parseSearch(text, 'traces', { path }), 'traces', { prefix });
  Object.assign(parameters, found.parameters);
  return found.sql;
};

const buildSpanCondition = (selection: Selection, parameters: Record<string, string>): string => {
  const conditions: string[] = [];
  if (selection.status !== undefined) conditions.push(spanStatus[selection.status]);
  for (const [name, comparison] of durationBounds) {
    const bound = selection[name];
    if (bound === undefined) continue;
    parameters[name] = String(bound);
    conditions.push(`spans.duration ${comparison} {${name}:UInt64}`);
  }
  if (selection.selection !== undefined)
    conditions.push(buildCondition(selection.selection, 'selection', 's_', parameters));
  return `(${conditions.join(' AND ')})`;
};
