/** Who names a metric: proof that it is used, from the queries that documents hold. */
import { z } from 'zod';
import { documentsIn } from '../../runtime/documents-in.ts';
import type { CollectionDefinition, TenantDocuments } from '../../schemas/ports/documents.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { dashboards } from '../../schemas/resources/dashboard.ts';
import { recordingGroups } from '../../schemas/resources/recording-group.ts';
import { savedQueries } from '../../schemas/resources/saved-query.ts';
import { promqlNamesOf } from '../promql/fetch/stored-metrics.ts';
import { parse } from '../promql/index.ts';
import type { Translation } from '../promql/otlp/labels.ts';
import { testOf } from '../promql/syntax/matchers.ts';
import { walk } from '../promql/syntax/tree.ts';
import type { Reading } from '../reading.ts';
import { Unknown } from '../result.ts';

/** Documents that hold queries, in whichever of their fields. */
export interface QueryHolder {
  /** What they are, in the plural, for people: `saved queries`. */
  readonly what: string;
  readonly collection: CollectionDefinition<object>;
  /** Whether a document is its owner's alone: that it uses a metric is told, and nothing else of it. */
  isPrivate(document: object): boolean;
}

/** Everything that may name a metric. A resource that holds queries adds itself here. */
export const queryHolders: readonly QueryHolder[] = [
  {
    what: 'saved queries',
    collection: savedQueries,
    isPrivate: (document) => (document as { visibility?: unknown }).visibility === 'private',
  },
  {
    what: 'dashboards',
    collection: dashboards,
    isPrivate: (document) => (document as { visibility?: unknown }).visibility === 'private',
  },
  { what: 'alert rules', collection: alertRules, isPrivate: () => false },
  { what: 'recording rules', collection: recordingGroups, isPrivate: () => false },
];

const Use = z.strictObject({
  what: z.string(),
  id: z.string().nullable().describe('null: it is private'),
  name: z.string().nullable(),
});

/** `unused` is said of what was looked at, and of nothing else. */
export const MetricUses = z.strictObject({
  uses: z.union([z.array(Use).describe('At most 100; empty: unused by everything in `lookedAt`'), Unknown]),
  searchedIn: z
    .array(z.strictObject({ what: z.string(), documents: z.int() }))
    .describe(
      'Kinds of documents that hold queries. Queries of other programs, such as dashboards in Grafana, are not kept here',
    ),
});
type Use = z.output<typeof Use>;

/** What a document asks for: names of metrics in queries of the builder, and tests of names in PromQL. */
interface QueriedNames {
  readonly built: ReadonlySet<string>;
  readonly tests: readonly ((name: string) => boolean)[];
}

/** Names in PromQL; what stands in quotes may be a name too (`{__name__="…"}`). */
const words = /[A-Za-z_:][\w:.]*/g;

/** A test for each selector of PromQL that says something about the name; of text that is no PromQL each word is a name, which can only be too many. */
const testsIn = (expression: string): QueriedNames['tests'] => {
  const tests: ((name: string) => boolean)[] = [];
  try {
    walk(parse(expression).expression, (node) => {
      if (node.kind !== 'selector') return;
      const ofName = node.matchers.filter(({ name }) => name === '__name__').map(testOf);
      if (node.name !== '') ofName.push((name) => name === node.name);
      if (ofName.length > 0) tests.push((name) => ofName.every((passes) => passes(name)));
    });
    return tests;
  } catch {
    const found = new Set(expression.match(words));
    return [(name) => found.has(name)];
  }
};

/** Looks into the whole document: queries stand in conditions of rules and in formulas too. */
const readQueriedNames = (document: object): QueriedNames => {
  const built = new Set<string>();
  const tests: ((name: string) => boolean)[] = [];
  JSON.stringify(document, (_key, value: unknown) => {
    const { kind, metric, record, expression } = Object(value) as Readonly<Record<string, unknown>>;
    if (kind === 'metric' && typeof metric === 'string') built.add(metric);
    // A recording rule is PromQL alone.
    if (kind === 'promql' || (typeof record === 'string' && expression !== undefined))
      tests.push(...testsIn(String(expression)));
    return value;
  });
  return { built, tests };
};

interface Names {
  /** As the builder names it: a classic histogram also by what its parts have in common. */
  readonly built: readonly string[];
  /** As PromQL names its series. */
  readonly inPromql: readonly string[];
}

const builtNamesOf = (metric: string): readonly string[] => [metric, metric.replace(/_(?:bucket|sum|count)$/, '')];

const isNamed = ({ built, inPromql }: Names, queriedNames: QueriedNames): boolean =>
  built.some((name) => queriedNames.built.has(name)) || queriedNames.tests.some((passes) => inPromql.some(passes));

const maxUses = 100;

/** What uses of metrics are looked for in. */
export interface UsesReading extends Pick<Reading, 'columns'> {
  readonly documents: Pick<TenantDocuments, 'collection'>;
  readonly translation: Translation;
}

/** Looks through all documents of an organization that hold queries, once for several metrics. */
export const usesOfMetrics = async (
  { documents, columns, translation }: UsesReading,
  metrics: readonly string[],
  holders: readonly QueryHolder[] = queryHolders,
): Promise<ReadonlyMap<string, z.output<typeof MetricUses>>> => {
  const inPromql = await promqlNamesOf(columns, metrics, translation);
  const all = metrics.map((metric) => ({
    metric,
    uses: [] as Use[],
    built: builtNamesOf(metric),
    inPromql: [...builtNamesOf(metric), ...(inPromql.get(metric) ?? [])],
  }));
  const searchedIn: { what: string; documents: number }[] = [];
  for (const { what, collection, isPrivate } of holders) {
    let count = 0;
    for await (const document of documentsIn(documents.collection(collection))) {
      count++;
      const queriedNames = readQueriedNames(document);
      const use = isPrivate(document)
        ? { what, id: null, name: null }
        : { what, id: document.id, name: String((document as { readonly name?: unknown }).name ?? document.id) };
      for (const one of all) if (one.uses.length < maxUses && isNamed(one, queriedNames)) one.uses.push(use);
    }
    searchedIn.push({ what, documents: count });
  }
  const nothing = { value: null, reason: 'nothing is kept here yet that names metrics' };
  return new Map(
    all.map(({ metric, uses }) => [metric, { uses: holders.length === 0 ? nothing : uses, searchedIn: searchedIn }]),
  );
};

/** The same for one metric. */
export const usesOfMetric = async (
  reading: UsesReading,
  metric: string,
  holders: readonly QueryHolder[] = queryHolders,
): Promise<z.output<typeof MetricUses>> => {
  const found = await usesOfMetrics(reading, [metric], holders);
  return found.get(metric) as z.output<typeof MetricUses>;
};
