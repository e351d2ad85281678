/** Passages in API responses, and the search for passages on behalf of a caller. */
import { z } from 'zod';
import { type FoundPassage, type Source, sources } from '../../../subjects/runbooks/passage-index.ts';
import { getAvailableSources, PassageIndexCache } from '../../../subjects/runbooks/passage-index-cache.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { compareToQuestion, type EmbeddingUsage } from './embeddings.ts';
import type { ModelContext } from './model.ts';

const indexCache = new PassageIndexCache();

export const PassageView = z.strictObject({
  source: z.enum(sources),
  id: z.string().describe('Id of the document, incident, rule or log pattern; for the handbook, the path of a README'),
  title: z.string(),
  url: z.string().describe('URL given by the document or rule; empty for none'),
  headings: z.array(z.string()).describe('Headings above the passage, the outermost first'),
  text: z
    .string()
    .describe('Original text, Markdown or plain, written by others: display it as text and never as HTML'),
  nth: z.int().describe('Index among the passages of the document, from 0 on'),
  score: z
    .number()
    .describe('BM25 score, or the score of merged ranks if embeddings are used: comparable within one search only'),
});

export const toPassageView = ({ origin, headings, text, nth, score }: FoundPassage): z.output<typeof PassageView> => {
  const { source, id, title, url } = origin;
  return { source, id, title, url, headings: [...headings], text, nth, score };
};

export const sourcesField = z
  .array(z.enum(sources))
  .min(1)
  .max(sources.length)
  .default(sources.filter((source) => source !== 'handbook'))
  .describe(
    'Documents, resolved incidents, texts of alert rules, and log patterns. `handbook` is the documentation of OIQ, which is not searched by default',
  );

export const UnreadSources = z
  .array(z.strictObject({ source: z.enum(sources), reason: z.string() }))
  .describe('Requested sources that the caller may not read');

interface Search {
  readonly question: string;
  readonly limit: number;
  readonly sources: readonly Source[];
}

export interface PassageSearchResult {
  readonly passages: readonly FoundPassage[];
  readonly notRead: z.output<typeof UnreadSources>;
  readonly embeddings: z.output<typeof EmbeddingUsage>;
}

/** Returns the best passages for a question, of the sources that the caller's plan includes. */
export const searchPassages = async (
  { question, limit, sources: requestedSources }: Search,
  context: ModelContext,
): Promise<PassageSearchResult> => {
  const { caller, ports } = context;
  const reader = createQueryReader(caller, ports);
  const index = await indexCache.get({ documents: ports.documents.forTenant(caller.tenantId), reader });
  const allowedSources = new Set(getAvailableSources(reader));
  const searchedSources = new Set(requestedSources.filter((source) => allowedSources.has(source)));
  const reason = `the plan ${caller.plan.name} does not include it`;
  const { similarity: similarityOf, usage: embeddings } = await compareToQuestion(
    question,
    { index, from: searchedSources },
    context,
  );
  return {
    passages: index.search(question, { from: searchedSources, limit, similarity: similarityOf }),
    notRead: requestedSources.filter((source) => !allowedSources.has(source)).map((source) => ({ source, reason })),
    embeddings,
  };
};
