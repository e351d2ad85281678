/** Definition of a kind of query, and the definitions of all kinds. `README.md` describes how to add one. */

import type { QueryOutcome, ReportOutcome } from './outcome.ts';
import type { QueryReader } from './promql/query-reader.ts';
import {
  type AggregateQuery,
  type Measure,
  type MetricQuery,
  type PartQuerySchemas,
  type Query,
  type QuerySchemas,
  registerQuerySchemas,
} from './query.ts';
import type { QueryContext, ResultData } from './query-result.ts';
import type { Range } from './range.ts';
import type { QuerySignal, ReadSignal } from './signals/index.ts';

/** Runs a query that is part of another one. */
export type RunPartQuery = (part: Query, context: QueryContext) => Promise<ResultData>;

/** Context of a run whose statements and evaluations end with the signal. */
export interface RunContext extends QueryContext {
  readonly signal?: AbortSignal | undefined;
}

/** Queries within a query. */
export interface QueryParts<KindQuery> {
  /** Returns the parts with their paths, such as `queries.errors`. */
  list(query: KindQuery): readonly (readonly [path: string, part: Query])[];
  /** Returns the query with changed parts. */
  change(query: KindQuery, change: (part: Query) => Query): Query;
}

/** Statements that serve several queries of a kind. */
export interface QueryBatch<Of> {
  /** Maximum number of queries in one batch. */
  readonly max: number;
  /** Returns the key that the queries of a batch share; undefined for a query that must run alone. */
  key(query: Of, context: QueryContext): string | undefined;
  /** Runs queries, each with its context. May report the outcome of a query before all outcomes are known. */
  run(
    queries: readonly Of[],
    reader: QueryReader,
    contexts: readonly [QueryContext, ...QueryContext[]],
    report: ReportOutcome,
  ): Promise<QueryOutcome[]>;
}

/** Changes of the texts in a query, by their language. */
export interface TextChanges {
  text(text: string): string;
  names(names: readonly string[]): string[];
  search(search: string): string;
  promql(expression: string): string;
  formula(expression: string): string;
}

/** Additions to the conditions of a query. */
export interface FilterChanges {
  search(search: string | undefined, signal: ReadSignal): string;
  promql(expression: string): string;
}

/** Collects the names in a query, and its errors. Paths are relative to the query. */
export interface QueryInspection {
  /** Collects the error that `read` throws. */
  attempt(read: () => void): void;
  problem(path: string, message: string): void;
  search(search: string | undefined, signal: QuerySignal, path: string): void;
  field(name: string, signal: QuerySignal, path: string): void;
  metric(name: string, path: string): void;
}

/** Texts within the sentence of a query. */
export interface SentenceParts {
  /** Returns a search in words; empty for a search without conditions. */
  search(search: string, signal: ReadSignal): string;
  query(part: Query): string;
}

/** Group of a result with its state, for the conditions of alert rules. */
export interface StateGroup {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly (number | null)[];
  /** Number of events behind the value, if a minimum is required. */
  readonly eventCount?: number | undefined;
  /** Reason why the state is unknown, as part of a sentence. */
  readonly unknownReason?: string | undefined;
  /** Reason why the value is ignored, as part of a sentence. */
  readonly ignoredReason?: string | undefined;
  /** Meaning of the value. */
  readonly explanation?: { readonly text: string; readonly reason: string } | undefined;
}

/** Parts of a definition that only some kinds have. */
interface OptionalParts<KindQuery> {
  readonly parts?: QueryParts<KindQuery>;
  /**
   * For kinds whose values at a time depend only on the values of their parts at that time: runs the query, with the
   * results that `runPart` returns.
   */
  combine?(query: KindQuery, runPart: (part: Query) => Promise<ResultData>): Promise<ResultData>;
  readonly batch?: QueryBatch<KindQuery>;
  /** Minimum step in milliseconds, besides the resolution of the signals. */
  minStepMs?(query: KindQuery): number;
  /** Returns the hint for a result without the requested values. */
  hint?(query: KindQuery, result: ResultData, range: Range, reader: QueryReader): Promise<string | undefined>;
  /** Inspects the query without its parts. */
  inspect?(query: KindQuery, inspection: QueryInspection): void;
  /** Returns why a formula cannot use the query as a part, with the path in the query. */
  formulaProblem?(query: KindQuery): readonly [path: readonly string[], message: string] | undefined;
  /** Returns the query with this maximum number of groups. */
  limitGroups?(query: KindQuery, maxGroups: number): Query;
  /** Returns the query with its texts changed, except those of its parts. */
  changeTexts?(query: KindQuery, changes: TextChanges): Query;
  /** Returns the query with additional conditions, except those of its parts. */
  addFilters?(query: KindQuery, changes: FilterChanges): Query;
  /** Returns the grouping labels of the result; undefined if only the result determines them. */
  groupBy?(query: KindQuery): readonly string[] | undefined;
  /** Returns the aggregates over records. */
  measures?(query: KindQuery): readonly Measure[];
  /** Returns the metrics that the query reads, without those of its parts. */
  metrics?(query: KindQuery): readonly string[];
  /** Returns the PromQL expression of the query. */
  promql?(query: KindQuery): string;
  /** Returns a query without other conditions than this search, which shows whether any records match. */
  countMatches?(query: KindQuery, search: string | undefined): Query;
  /** Returns a query that counts values, to show whether there are any. */
  countValues?(query: KindQuery): Query;
  /** Returns a query of one measure whose groups add up to the total, or the reason why there is none. */
  splittable?(query: KindQuery, columnName: string, maxGroups: number): AggregateQuery | MetricQuery | string;
  /** Returns the groups of a table with their states, for kinds whose values are states. */
  states?(query: KindQuery, table: ResultData, minimumEvents: number | undefined): StateGroup[];
  /** For kinds with only one value at a time: the reason, as a sentence without a period. */
  readonly singleValue?: string;
  /** Whether only the current value exists, and none of the past. */
  readonly isCurrentOnly?: true;
  /** Whether the result has records instead of values. */
  readonly returnsRecords?: true;
  /** Whether the value of a step is taken at its end, as in PromQL, instead of from its records. */
  readonly isAtStepEnds?: true;
  /** Whether a group without records has the value 0. */
  readonly hasZeros?: true;
  /** Group of the API whose read scope an API token needs, for kinds that read stored results instead of signals. */
  readonly group?: string;
  /** Whether the result is predicted from values, so that it is never absent, and needs the entitlement `ai`. */
  readonly isPrediction?: true;
}

export interface QueryKindDefinition<KindQuery extends Query> extends OptionalParts<KindQuery> {
  readonly schema: QuerySchemas[KindQuery['kind']];
  /** Whether a formula accepts such queries as parts. */
  readonly isFormulaPart: KindQuery['kind'] extends keyof PartQuerySchemas ? true : false;
  /** Returns the signals that the query reads, without those of its parts. */
  signals(query: KindQuery): readonly ReadSignal[];
  /** Runs a query: series with a step, a table without one. */
  run(query: KindQuery, reader: QueryReader, context: RunContext, runPart: RunPartQuery): Promise<ResultData>;
  /** Describes the result in words, as part of a sentence. */
  sentence(query: KindQuery, parts: SentenceParts): string;
}

/** Declares a kind of query. */
export const defineQueryKind = <Of extends Query>(definition: QueryKindDefinition<Of>): QueryKindDefinition<Of> =>
  definition;

/** Definitions of all kinds. */
export type QueryKinds = {
  readonly [Kind in keyof QuerySchemas]: QueryKindDefinition<Extract<Query, { readonly kind: Kind }>>;
};

const registry: { kinds?: QueryKinds } = {};

/** Sets the definitions of all kinds, before any other function for queries is called. */
export const registerQueryKinds = (kinds: QueryKinds): void => {
  registry.kinds = kinds;
  const definitions = Object.values(kinds);
  registerQuerySchemas(
    definitions.map(({ schema }) => schema),
    definitions.flatMap((definition) => (definition.isFormulaPart ? [definition.schema] : [])),
  );
};

/** Returns the definition of a query's kind. */
export const getQueryKind = ({ kind }: Pick<Query, 'kind'>): QueryKindDefinition<Query> => {
  if (registry.kinds === undefined) throw new Error('no kinds of queries are registered');
  return registry.kinds[kind];
};

/** Returns the queries within a query, with their paths. */
export const listPartQueries = (query: Query): readonly (readonly [path: string, part: Query])[] =>
  getQueryKind(query).parts?.list(query) ?? [];

/** Returns a query with changed parts. */
export const changeParts = (query: Query, change: (part: Query) => Query): Query =>
  getQueryKind(query).parts?.change(query, change) ?? query;

/** Returns whether the values of all steps are taken at their ends, as in PromQL, instead of from their records. */
export const isAtStepEnds = (query: Query): boolean => {
  const { isAtStepEnds: isAtEnds = false, combine } = getQueryKind(query);
  return isAtEnds || (combine !== undefined && listPartQueries(query).every(([, part]) => isAtStepEnds(part)));
};

/** Returns the PromQL expression of a query; undefined for other kinds. */
export const getPromql = (query: Query): string | undefined => getQueryKind(query).promql?.(query);

/** Returns the aggregates over records in a query; none for other queries. */
export const listMeasures = (query: Query): readonly Measure[] => getQueryKind(query).measures?.(query) ?? [];

/** Returns whether a query returns records instead of values. */
export const returnsRecords = (query: Pick<Query, 'kind'>): boolean => getQueryKind(query).returnsRecords === true;
