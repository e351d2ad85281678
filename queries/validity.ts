/** Validates names in queries: record attributes against stored counts, metrics against their series. */

import { z } from 'zod';
import { type Reference, referenceOf } from '../schemas/fields.ts';
import { anyRow } from '../schemas/tables/any-row.ts';
import { QueryError } from './errors.ts';
import type { Query } from './query.ts';
import { kindOf, partsOf, type QueryInspection } from './query-kind.ts';
import type { Reading } from './reading.ts';
import { parseSearch } from './search/parse.ts';
import type { Search, SearchReference } from './search/tree.ts';
import { type QuerySignal, signals } from './signals/index.ts';

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
    kindOf(query).inspect?.(query, this.#inspectionAt(path));
    for (const [at, part] of partsOf(query)) this.query(part, `${path}.${at}`);
    return this;
  }

  #inspectionAt(path: string): QueryInspection {
    const attempt: QueryInspection['attempt'] = (read) => this.#attempt(path, read);
    return {
      attempt,
      problem: (at, message) => this.problems.push({ path: `${path}.${at}`, message }),
      search: (text, signal, at) =>
        text === undefined
          ? undefined
          : attempt(() => {
              this.named.push(...inSearch(parseSearch(text, signal, { path: at }), signal, `${path}.${at}`));
            }),
      field: (name, signal, at) => {
        const reference = referenceOf(signals[signal].fields, name) as Reference;
        this.named.push(...attribute(reference, signal, `${path}.${at}`));
      },
      metric: (metric, at) => this.named.push({ what: 'metric', metric, path: `${path}.${at}` }),
    };
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
