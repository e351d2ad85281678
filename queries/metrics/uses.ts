/** Finds the documents that reference a metric, as evidence that the metric is used. */
import { z } from 'zod';
import { iterateDocuments } from '../../runtime/documents-in.ts';
import type { CollectionDefinition, TenantDocuments } from '../../schemas/ports/documents.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { dashboards } from '../../schemas/resources/dashboard.ts';
import { recordingGroups } from '../../schemas/resources/recording-group.ts';
import { savedQueries } from '../../schemas/resources/saved-query.ts';
import { findPromqlNames } from '../promql/fetch/stored-metrics.ts';
import { parse } from '../promql/index.ts';
import type { Translation } from '../promql/otlp/labels.ts';
import { compileTest } from '../promql/syntax/matchers.ts';
import { visitExpressions } from '../promql/syntax/tree.ts';
import { Unknown } from '../result.ts';
import type { TenantReader } from '../tenant-reader.ts';

/** Documents that contain queries, in any of their fields. */
export interface QueryCollection {
  /** Plural name for people: `saved queries`. */
  readonly pluralName: string;
  readonly collection: CollectionDefinition<object>;
  /** Returns whether a document is private to its owner: only the fact that it uses a metric is then shown. */
  isPrivate(document: object): boolean;
}

/** All collections that may reference a metric. Add each new resource whose documents contain queries. */
export const queryCollections: readonly QueryCollection[] = [
  {
    pluralName: 'saved queries',
    collection: savedQueries,
    isPrivate: (document) => (document as { visibility?: unknown }).visibility === 'private',
  },
  {
    pluralName: 'dashboards',
    collection: dashboards,
    isPrivate: (document) => (document as { visibility?: unknown }).visibility === 'private',
  },
  { pluralName: 'alert rules', collection: alertRules, isPrivate: () => false },
  { pluralName: 'recording rules', collection: recordingGroups, isPrivate: () => false },
];

const Use = z.strictObject({
  what: z.string(),
  id: z.string().nullable().describe('`null` if it is private'),
  name: z.string().nullable(),
});

/** Uses of a metric. The result only covers the searched documents. */
export const MetricUses = z.strictObject({
  uses: z.union([z.array(Use).describe('At most 100; empty if nothing in `lookedAt` uses the metric'), Unknown]),
  searchedIn: z
    .array(z.strictObject({ what: z.string(), documents: z.int() }))
    .describe(
      'Kinds of documents that contain queries. Queries of other programs, such as Grafana dashboards, are not stored here',
    ),
});
type Use = z.output<typeof Use>;

/** References to metrics in a document: names in builder queries, and tests for names from PromQL selectors. */
interface ReferencedNames {
  readonly builderNames: ReadonlySet<string>;
  readonly tests: readonly ((name: string) => boolean)[];
}

/** Names in PromQL; quoted text may be a name too (`{__name__="…"}`). */
const namePattern = /[A-Za-z_:][\w:.]*/g;

/**
 * Returns a test for each PromQL selector that restricts the name. In text that is not valid PromQL, each word
 * counts as a name, so uses may be reported wrongly but none is missed.
 */
const collectNameTests = (expression: string): ReferencedNames['tests'] => {
  const tests: ((name: string) => boolean)[] = [];
  try {
    visitExpressions(parse(expression).expression, (node) => {
      if (node.kind !== 'selector') return;
      const nameTests = node.matchers.filter(({ name }) => name === '__name__').map(compileTest);
      if (node.name !== '') nameTests.push((name) => name === node.name);
      if (nameTests.length > 0) tests.push((name) => nameTests.every((test) => test(name)));
    });
    return tests;
  } catch {
    const words = new Set(expression.match(namePattern));
    return [(name) => words.has(name)];
  }
};

/** Reads the whole document, because conditions of rules and formulas contain queries too. */
const readQueriedNames = (document: object): ReferencedNames => {
  const builderNames = new Set<string>();
  const tests: ((name: string) => boolean)[] = [];
  JSON.stringify(document, (_key, value: unknown) => {
    const { kind, metric, record, expression } = Object(value) as Readonly<Record<string, unknown>>;
    if (kind === 'metric' && typeof metric === 'string') builderNames.add(metric);
    // A recording rule contains only PromQL.
    if (kind === 'promql' || (typeof record === 'string' && expression !== undefined))
      tests.push(...collectNameTests(String(expression)));
    return value;
  });
  return { builderNames, tests };
};

interface MetricNames {
  /** Names in the builder: for a classic histogram, also the common name of its parts. */
  readonly built: readonly string[];
  /** Names of its series in PromQL. */
  readonly inPromql: readonly string[];
}

const listBuilderNames = (metric: string): readonly string[] => [metric, metric.replace(/_(?:bucket|sum|count)$/, '')];

const referencesMetric = ({ built, inPromql }: MetricNames, queriedNames: ReferencedNames): boolean =>
  built.some((name) => queriedNames.builderNames.has(name)) ||
  queriedNames.tests.some((testName) => inPromql.some(testName));

const maxUses = 100;

/** Dependencies of the search for uses. */
export interface UsesContext extends Pick<TenantReader, 'columns'> {
  readonly documents: Pick<TenantDocuments, 'collection'>;
  readonly translation: Translation;
}

/** Searches all documents of an organization with queries, once for several metrics. */
export const findMetricsUses = async (
  { documents, columns, translation }: UsesContext,
  metrics: readonly string[],
  collections: readonly QueryCollection[] = queryCollections,
): Promise<ReadonlyMap<string, z.output<typeof MetricUses>>> => {
  const inPromql = await findPromqlNames(columns, metrics, translation);
  const metricUses = metrics.map((metric) => ({
    metric,
    uses: [] as Use[],
    built: listBuilderNames(metric),
    inPromql: [...listBuilderNames(metric), ...(inPromql.get(metric) ?? [])],
  }));
  const searchedIn: { what: string; documents: number }[] = [];
  for (const { pluralName, collection, isPrivate } of collections) {
    let count = 0;
    for await (const document of iterateDocuments(documents.collection(collection))) {
      count++;
      const queriedNames = readQueriedNames(document);
      const use = isPrivate(document)
        ? { what: pluralName, id: null, name: null }
        : {
            what: pluralName,
            id: document.id,
            name: String((document as { readonly name?: unknown }).name ?? document.id),
          };
      for (const usesOfMetric of metricUses)
        if (usesOfMetric.uses.length < maxUses && referencesMetric(usesOfMetric, queriedNames))
          usesOfMetric.uses.push(use);
    }
    searchedIn.push({ what: pluralName, documents: count });
  }
  const unknownUses = { value: null, reason: 'no stored document names metrics yet' };
  return new Map(
    metricUses.map(({ metric, uses }) => [metric, { uses: collections.length === 0 ? unknownUses : uses, searchedIn }]),
  );
};

/** As `findMetricsUses`, for one metric. */
export const findMetricUses = async (
  reader: UsesContext,
  metric: string,
  collections: readonly QueryCollection[] = queryCollections,
): Promise<z.output<typeof MetricUses>> => {
  const usesByMetric = await findMetricsUses(reader, [metric], collections);
  return usesByMetric.get(metric) as z.output<typeof MetricUses>;
};
