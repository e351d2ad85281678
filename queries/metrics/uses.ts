/** Who names a metric: proof that it is used, from the queries that documents hold. */
import { z } from 'zod';
import { documentsIn } from '../../runtime/documents-in.ts';
import type { CollectionDefinition, TenantDocuments } from '../../schemas/ports/documents.ts';
import { savedQueries } from '../../schemas/resources/saved-query.ts';
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
];

const Use = z.strictObject({
  what: z.string(),
  id: z.string().nullable().describe('null: it is private'),
  name: z.string().nullable(),
});

/** `unused` is said of what was looked at, and of nothing else. */
export const MetricUses = z.strictObject({
  uses: z.union([z.array(Use).describe('At most 100; empty: unused by everything in `lookedAt`'), Unknown]),
  lookedAt: z.array(z.strictObject({ what: z.string(), documents: z.int() })),
});
type Use = z.output<typeof Use>;

/** Names in PromQL; what stands in quotes may be a name too (`{__name__="…"}`). */
const names = /[A-Za-z_:][\w:.]*/g;

/** Metrics that a document names anywhere in it: of metric queries, and every word of PromQL, which can only be too many. */
const namesIn = (document: object): Set<string> => {
  const found = new Set<string>();
  JSON.stringify(document, (_key, value: unknown) => {
    const { kind, metric, expression } = Object(value) as { kind?: unknown; metric?: unknown; expression?: unknown };
    if (kind === 'metric' && typeof metric === 'string') found.add(metric);
    if (kind === 'promql') for (const name of String(expression).match(names) ?? []) found.add(name);
    return value;
  });
  return found;
};

/** A classic histogram is asked for by its own name or by those of its parts. */
const namesOf = (metric: string): readonly string[] => [metric, metric.replace(/_(?:bucket|sum|count)$/, '')];
const mostUses = 100;

/** Looks through all documents of an organization that hold queries, once for several metrics. */
export const usesOfMetrics = async (
  documents: Pick<TenantDocuments, 'collection'>,
  metrics: readonly string[],
  holders: readonly QueryHolder[] = queryHolders,
): Promise<ReadonlyMap<string, z.output<typeof MetricUses>>> => {
  const uses = new Map(metrics.map((metric) => [metric, [] as Use[]]));
  const lookedAt: { what: string; documents: number }[] = [];
  for (const { what, collection, isPrivate } of holders) {
    let count = 0;
    for await (const document of documentsIn(documents.collection(collection))) {
      count++;
      const named = namesIn(document);
      const use = isPrivate(document)
        ? { what, id: null, name: null }
        : { what, id: document.id, name: String((document as { readonly name?: unknown }).name ?? document.id) };
      const using = [...uses].filter(([metric]) => namesOf(metric).some((name) => named.has(name)));
      for (const [, own] of using) if (own.length < mostUses) own.push(use);
    }
    lookedAt.push({ what, documents: count });
  }
  const nothing = { value: null, reason: 'nothing is kept here yet that names metrics' };
  return new Map([...uses].map(([metric, own]) => [metric, { uses: holders.length === 0 ? nothing : own, lookedAt }]));
};

/** The same for one metric. */
export const usesOfMetric = async (
  documents: Pick<TenantDocuments, 'collection'>,
  metric: string,
  holders: readonly QueryHolder[] = queryHolders,
): Promise<z.output<typeof MetricUses>> => {
  const found = await usesOfMetrics(documents, [metric], holders);
  return found.get(metric) as z.output<typeof MetricUses>;
};
