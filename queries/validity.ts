/** Validates names in queries: record attributes against stored counts, metrics against their series. */

import { z } from 'zod';
import { type Reference, resolveReference } from '../schemas/fields.ts';
import { anyRowClause } from '../schemas/tables/any-row.ts';
import { QueryError } from './errors.ts';
import type { Query } from './query.ts';
import { getQueryKind, listPartQueries, type QueryInspection } from './query-kind.ts';
import { parseSearch } from './search/parse.ts';
import type { Search, SearchReference } from './search/tree.ts';
import { type QuerySignal, signalDefinitions } from './signals/index.ts';
import type { TenantReader } from './tenant-reader.ts';

export const Validity = z.strictObject({
  isValid: z.boolean().nullable().describe('`null` if unknown, for the given reasons'),
  problems: z.array(z.strictObject({ path: z.string(), message: z.string() })),
  reason: z.string().nullable().describe('Why it is unknown'),
});
export type Validity = z.output<typeof Validity>;

type Problem = Validity['problems'][number];

/** Names in a query besides the fields of every record. */
type NameReference =
  | {
      readonly what: 'attribute';
      readonly signal: QuerySignal;
      readonly topic: string;
      readonly kinds: readonly string[];
      readonly key: string;
      readonly path: string;
    }
  | { readonly what: 'metric'; readonly metric: string; readonly path: string };

const toStoredKinds = (kind: Exclude<Reference['kind'], 'field'>): readonly string[] =>
  kind === 'any' ? ['attribute', 'resource'] : [kind];

/**
 * Returns the attribute to check. Attributes of span events and links, and those of data sources without counts, are
 * not in the catalog, so they cannot be checked.
 */
const collectAttribute = (reference: SearchReference, signal: QuerySignal, path: string): NameReference[] => {
  const topic = signalDefinitions[signal].countedBy?.name;
  return reference.kind === 'field' || reference.kind === 'events' || reference.kind === 'links' || topic === undefined
    ? []
    : [{ what: 'attribute', signal, topic, kinds: toStoredKinds(reference.kind), key: reference.key, path }];
};

const collectSearchNames = (search: Search, signal: QuerySignal, path: string): NameReference[] => {
  switch (search.is) {
    case 'and':
    case 'or':
      return search.parts.flatMap((part) => collectSearchNames(part, signal, path));
    case 'not':
      return collectSearchNames(search.part, signal, path);
    case 'value':
      return collectAttribute(search.reference, signal, path);
    default:
      return [];
  }
};

/** Collects the names in queries, and errors that do not depend on data. */
class QueryInspector {
  readonly references: NameReference[] = [];
  readonly problems: Problem[] = [];

  query(query: Query, path = 'query'): this {
    getQueryKind(query).inspect?.(query, this.#createInspection(path));
    for (const [subpath, part] of listPartQueries(query)) this.query(part, `${path}.${subpath}`);
    return this;
  }

  #createInspection(path: string): QueryInspection {
    const attempt: QueryInspection['attempt'] = (read) => this.#attempt(path, read);
    return {
      attempt,
      problem: (at, message) => this.problems.push({ path: `${path}.${at}`, message }),
      search: (text, signal, at) =>
        text === undefined
          ? undefined
          : attempt(() => {
              this.references.push(
                ...collectSearchNames(parseSearch(text, signal, { path: at }), signal, `${path}.${at}`),
              );
            }),
      field: (name, signal, at) => {
        const reference = resolveReference(signalDefinitions[signal].fields, name) as Reference;
        this.references.push(...collectAttribute(reference, signal, `${path}.${at}`));
      },
      metric: (metric, at) => this.references.push({ what: 'metric', metric, path: `${path}.${at}` }),
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
export const listStaticErrors = (query: Query, path?: string): readonly Problem[] =>
  new QueryInspector().query(query, path).problems;

/**
 * Checked names that are stored: attributes as `topic kind key`, and metrics. Also states whether any data is stored.
 */
interface StoredNames {
  readonly attributes: ReadonlySet<string>;
  readonly topics: ReadonlySet<string>;
  readonly metrics: ReadonlySet<string>;
  readonly hasMetrics: boolean;
}

const readStoredNames = async ({ columns }: TenantReader, name: readonly NameReference[]): Promise<StoredNames> => {
  const keys = [
    ...new Set(name.flatMap((nameReference) => (nameReference.what === 'attribute' ? [nameReference.key] : []))),
  ];
  const metrics = [
    ...new Set(
      name.flatMap((nameReference) =>
        nameReference.what === 'metric' ? [nameReference.metric, `${nameReference.metric}_bucket`] : [],
      ),
    ),
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
          UNION ALL SELECT '' AS metric FROM (SELECT 1 FROM series WHERE tenant_id = {tenant:String} ${anyRowClause})`,
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

const checkName = (name: NameReference, landed: StoredNames): Finding => {
  const { path } = name;
  if (name.what === 'metric') {
    if (landed.metrics.has(name.metric) || landed.metrics.has(`${name.metric}_bucket`)) return undefined;
    if (!landed.hasMetrics) return { unknown: 'no metrics are stored yet' };
    return { problem: { path, message: `metric ${name.metric} does not exist` } };
  }
  if (name.kinds.some((kind) => landed.attributes.has(`${name.topic} ${kind} ${name.key}`))) return undefined;
  if (!landed.topics.has(name.topic)) return { unknown: `no ${name.signal} are stored yet` };
  const kindNames = name.kinds.join(' or ');
  return {
    problem: { path, message: `no ${name.signal} have the ${kindNames} ${name.key}, or they no longer have it` },
  };
};

/** Checks several queries against the stored data. Returns their validity in the same order. */
export const checkValidity = async (queries: readonly Query[], reader: TenantReader): Promise<Validity[]> => {
  const inspectors = queries.map((query) => new QueryInspector().query(query));
  const storedNames = await readStoredNames(
    reader,
    inspectors.flatMap(({ references }) => references),
  );
  return inspectors.map(({ references, problems: staticProblems }) => {
    const findings = references.map((reference) => checkName(reference, storedNames));
    const problems = [
      ...staticProblems,
      ...findings.flatMap((finding) => (finding !== undefined && 'problem' in finding ? [finding.problem] : [])),
    ];
    const unknown = new Set(
      findings.flatMap((finding) => (finding !== undefined && 'unknown' in finding ? [finding.unknown] : [])),
    );
    if (problems.length > 0) return { isValid: false, problems, reason: null };
    return unknown.size > 0
      ? { isValid: null, problems, reason: [...unknown].join('; ') }
      : { isValid: true, problems, reason: null };
  });
};
