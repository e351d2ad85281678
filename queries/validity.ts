/** Validates names in queries: record attributes against stored counts, metrics against their series. */

import { z } from 'zod';
import { type Reference, referenceOf } from '../schemas/fields.ts';
import { anyRow } from '../schemas/tables/any-row.ts';
import { figuresOf } from './aggregate/measures.ts';
import { invalid, QueryError } from './errors.ts';
import { forecastProblem } from './forecast/run-forecast.ts';
import { namesIn, parseFormula } from './formula/parse.ts';
import type { Query } from './query.ts';
import type { Reading } from './reading.ts';
import { parseSearch } from './search/parse.ts';
import type { Search, SearchReference } from './search/tree.ts';
import { type QuerySignal, signals } from './signals/index.ts';
import { ValueReader } from './values.ts';

export const Validity = z.strictObject({
  isValid: z.boolean().nullable().describe('`null` if unknown, for the given reasons'),
  problems: z.array(z.strictObject({ path: z.string(), message: z.string() })),
  reason: z.string().nullable().describe('Why it is unknown'),
});
export type Validity = z.output<typeof Validity>;

type Problem = Validity['problems'][number];

/** Names in a query besides the fields of every record. */
type Named =
  | {
      readonly what: 'attribute';
      readonly signal: QuerySignal;
      readonly topic: string;
      readonly kinds: readonly string[];
      readonly key: string;
      readonly path: string;
    }
  | { readonly what: 'metric'; readonly metric: string; readonly path: string };

const kindsOf = (kind: Exclude<Reference['kind'], 'field'>): readonly string[] =>
  kind === 'any' ? ['attribute', 'resource'] : [kind];

/** Attributes of parts, and of data sources without counts, are not in the catalog, so their names may be valid. */
const attribute = (reference: SearchReference, signal: QuerySignal, path: string): Named[] => {
  const topic = signals[signal].countedBy?.name;
  return reference.kind === 'field' || reference.kind === 'events' || reference.kind === 'links' || topic === undefined
    ? []
    : [{ what: 'attribute', signal, topic, kinds: kindsOf(reference.kind), key: reference.key, path }];
};

const inSearch = (search: Search, signal: QuerySignal, path: string): Named[] => {
  switch (search.is) {
    case 'and':
    case 'or':
      return search.parts.flatMap((part) => inSearch(part, signal, path));
    case 'not':
      return inSearch(search.part, signal, path);
    case 'value':
      return attribute(search.reference, signal, path);
    default:
      return [];
  }
};

/** Collects the names in queries, and errors that do not depend on data. */
class QueryInspector {
  readonly named: Named[] = [];
  readonly problems: Problem[] = [];

  query(query: Query, path = 'query'): this {
    switch (query.kind) {
      case 'rows':
        this.#search(query.search, query.signal, path, 'search');
        for (const [index, name] of (query.fields ?? []).entries())
          this.#field(name, query.signal, `${path}.fields.${index}`);
        return this;
      case 'aggregate':
        return this.#aggregate(query, path);
      case 'metric':
        this.#attempt(path, () => {
          if (query.overTime === 'quantile' && query.quantile === undefined)
            throw invalid('quantile', 'is required for quantile, such as 0.95');
          if (query.search !== undefined) parseSearch(query.search, 'metrics', { path: 'search' });
        });
        this.named.push({ what: 'metric', metric: query.metric, path: `${path}.metric` });
        return this;
      case 'anomaly':
        return query.query === undefined ? this : this.query(query.query, `${path}.query`);
      case 'forecast': {
        const [at, message = ''] = forecastProblem(query) ?? [];
        if (at !== undefined) this.problems.push({ path: `${path}.${at}`, message });
        return this.query(query.query, `${path}.query`);
      }
      case 'formula':
        this.#attempt(path, () => {
          const names = namesIn(parseFormula(query.expression));
          if (names.length === 0) throw invalid('expression', 'must name at least one query');
          for (const name of names)
            if (!Object.hasOwn(query.queries, name))
              throw invalid('expression', `names ${name}, which is not one of the queries`);
        });
        for (const [name, part] of Object.entries(query.queries)) this.query(part, `${path}.queries.${name}`);
        return this;
      default:
        return this;
    }
  }

  #aggregate({ signal, search, measures, groupBy }: Extract<Query, { kind: 'aggregate' }>, path: string): this {
    this.#search(search, signal, path, 'search');
    for (const [index, name] of groupBy.entries()) this.#field(name, signal, `${path}.groupBy.${index}`);
    this.#attempt(path, () => {
      figuresOf(measures, signal, new ValueReader(signal));
      for (const [index, measure] of measures.entries()) {
        if (measure.field !== undefined) this.#field(measure.field, signal, `${path}.measures.${index}.field`);
        this.#search(measure.search, signal, path, `measures.${index}.search`);
      }
    });
    return this;
  }

  /** Records an error and continues with the rest. */
  #attempt(path: string, read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      this.problems.push({
        path: [path, ...(error.path === undefined ? [] : [error.path])].join('.'),
        message: error.message,
      });
    }
  }

  #search(text: string | undefined, signal: QuerySignal, path: string, at: string): void {
    if (text === undefined) return;
    this.#attempt(path, () => {
      this.named.push(...inSearch(parseSearch(text, signal, { path: at }), signal, `${path}.${at}`));
    });
  }

  #field(name: string, signal: QuerySignal, path: string): void {
    this.named.push(...attribute(referenceOf(signals[signal].fields, name) as Reference, signal, path));
  }
}

/** Returns the errors of a query that do not depend on stored data. */
export const staticErrorsOf = (query: Query, path?: string): readonly Problem[] =>
  new QueryInspector().query(query, path).problems;

/** Stored names among those checked: `topic kind key`, and metrics. `null` if no data is stored at all. */
interface Landed {
  readonly attributes: ReadonlySet<string>;
  readonly topics: ReadonlySet<string>;
  readonly metrics: ReadonlySet<string>;
  readonly hasMetrics: boolean;
}

const landedOf = async ({ columns }: Reading, named: readonly Named[]): Promise<Landed> => {
  const keys = [...new Set(named.flatMap((each) => (each.what === 'attribute' ? [each.key] : [])))];
  const metrics = [
    ...new Set(named.flatMap((each) => (each.what === 'metric' ? [each.metric, `${each.metric}_bucket`] : []))),
  ];
  const [fields, signals, series] = await Promise.all([
    keys.length === 0
      ? []
      : columns.query<{ topic: string; kind: string; key: string }>(
          `SELECT DISTINCT toString(topic) AS topic, toString(kind) AS kind, toString(key) AS key FROM fields
          WHERE tenant_id = {tenant:String} AND key IN {keys:Array(String)}`,
          { keys },
        ),
    keys.length === 0
      ? []
      : columns.query<{ topic: string }>(
          `SELECT DISTINCT toString(topic) AS topic FROM fields WHERE tenant_id = {tenant:String} AND kind = 'record'`,
        ),
    metrics.length === 0
      ? []
      : columns.query<{ metric: string }>(
          `SELECT DISTINCT toString(metric) AS metric FROM series WHERE tenant_id = {tenant:String} AND metric IN {metrics:Array(String)}
          UNION ALL SELECT '' AS metric FROM (SELECT 1 FROM series WHERE tenant_id = {tenant:String} ${anyRow})`,
          { metrics },
        ),
  ]);
  return {
    attributes: new Set(fields.map(({ topic, kind, key }) => `${topic} ${kind} ${key}`)),
    topics: new Set(signals.map(({ topic }) => topic)),
    metrics: new Set(series.map(({ metric }) => metric)),
    hasMetrics: series.some(({ metric }) => metric === ''),
  };
};

type Finding = { readonly problem: Problem } | { readonly unknown: string } | undefined;

const findingOf = (named: Named, landed: Landed): Finding => {
  const { path } = named;
  if (named.what === 'metric') {
    if (landed.metrics.has(named.metric) || landed.metrics.has(`${named.metric}_bucket`)) return undefined;
    if (!landed.hasMetrics) return { unknown: 'no metrics are stored yet' };
    return { problem: { path, message: `metric ${named.metric} does not exist` } };
  }
  if (named.kinds.some((kind) => landed.attributes.has(`${named.topic} ${kind} ${named.key}`))) return undefined;
  if (!landed.topics.has(named.topic)) return { unknown: `no ${named.signal} are stored yet` };
  const where = named.kinds.join(' or ');
  return { problem: { path, message: `no ${named.signal} have the ${where} ${named.key}, or they no longer have it` } };
};

/** Returns the validity of several queries in order, by the data within the retention. */
export const validitiesOf = async (queries: readonly Query[], reading: Reading): Promise<Validity[]> => {
  const inspected = queries.map((query) => new QueryInspector().query(query));
  const landed = await landedOf(
    reading,
    inspected.flatMap(({ named }) => named),
  );
  return inspected.map(({ named, problems: own }) => {
    const findings = named.map((each) => findingOf(each, landed));
    const problems = [
      ...own,
      ...findings.flatMap((each) => (each !== undefined && 'problem' in each ? [each.problem] : [])),
    ];
    const unknown = new Set(
      findings.flatMap((each) => (each !== undefined && 'unknown' in each ? [each.unknown] : [])),
    );
    if (problems.length > 0) return { isValid: false, problems, reason: null };
    return unknown.size > 0
      ? { isValid: null, problems, reason: [...unknown].join('; ') }
      : { isValid: true, problems, reason: null };
  });
};
