/** Vectors of passages and questions, of an endpoint that has them: passages that say the same in other words are found, too. */
import { z } from 'zod';
import type { PassageIndex, Source } from '../../../subjects/runbooks/passage-index.ts';
import { cosine, directionOf, type Vector, Vectors } from '../../../subjects/runbooks/vectors.ts';
import { hasModel, type ModelAsking, sendToModel } from './model.ts';

/** Texts of one request, cut to so many characters. */
const atOnce = 64;
const mostCharacters = 2_000;
const mostBytes = 8 * 1024 * 1024;
/** Passages that one search gives vectors, and how long it begins to: those beyond have theirs with the next ones. */
const mostTexts = 4 * atOnce - 1;
const mostMs = 5_000;

const Embeddings = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1).max(8_192) })),
});

const vectors = new Vectors();

export const EmbeddingsTold = z
  .strictObject({
    used: z.boolean().describe('false: passages are found by their words alone'),
    without: z
      .int()
      .describe('Passages that have no vector yet: they are found by their words, and get one with the next searches'),
    reason: z.string().nullable().describe('Why they were not used, or passages have no vector'),
  })
  .nullable()
  .describe('null: there are none for this organization');

/** One vector for each text, in their order; undefined where what was answered is not that. */
const readVectors = (answer: unknown, count: number): readonly Vector[] | undefined => {
  const { data = [] } = Embeddings.safeParse(answer).data ?? {};
  const byIndex = new Map(data.map(({ index, embedding }) => [index, embedding]));
  const [first = []] = byIndex.values();
  const read: Vector[] = [];
  for (let index = 0; index < count; index++) {
    const numbers = byIndex.get(index) ?? [];
    const vector = numbers.length === first.length ? directionOf(numbers) : undefined;
    if (vector === undefined) return undefined;
    read.push(vector);
  }
  return data.length === count ? read : undefined;
};

const embed = (texts: readonly string[], model: string, asking: ModelAsking) =>
  sendToModel(
    {
      ...{ purpose: 'embedding', counter: 'model-embeddings', path: '/embeddings', model, mostBytes },
      sent: JSON.stringify(texts),
      // A third of the characters is more than any text has tokens of.
      tokens: Math.ceil(texts.reduce((sum, { length }) => sum + length, 0) / 3),
      body: { model, input: texts, encoding_format: 'float' },
      read: (answer) => readVectors(answer, texts.length),
    },
    asking,
  );

export interface Near {
  /** How like the question a passage is, by its text; undefined where that is not known. */
  readonly likeness: (text: string) => number | undefined;
  readonly told: z.output<typeof EmbeddingsTold>;
}

const unknown = (): undefined => undefined;

/** The vectors of the first texts, or of all; why of no more. */
const vectorsOf = async (texts: readonly string[], model: string, asking: ModelAsking) => {
  const begunMs = performance.now();
  const read: Vector[] = [];
  while (read.length < texts.length && performance.now() - begunMs < mostMs) {
    const some = texts.slice(read.length, read.length + atOnce);
    const told = await embed(
      some.map((text) => text.slice(0, mostCharacters).toWellFormed()),
      ...([model, asking] as const),
    );
    if ('reason' in told) return { read, reason: told.reason };
    read.push(...told.read);
  }
  return { read, reason: null };
};

/** Vectors of a question and of the passages that people wrote, some of which get theirs now. */
export const nearTo = async (
  question: string,
  { index, from }: { readonly index: PassageIndex; readonly from: ReadonlySet<Source> },
  asking: ModelAsking,
): Promise<Near> => {
  const { EMBEDDING_MODEL: model } = asking.ports.settings;
  if (model === undefined || !hasModel(asking)) return { likeness: unknown, told: null };
  const { tenantId } = asking.caller;
  const known = vectors.of(tenantId);
  const missing = [...index.writtenTexts(from)].filter((text) => !known.has(text));
  const { read, reason } = await vectorsOf([question, ...missing.slice(0, mostTexts)], model, asking);
  const [to, ...own] = read;
  for (const [nth, vector] of own.entries()) vectors.keep(tenantId, missing[nth] ?? '', vector);
  const without = missing.length - own.length;
  const later = without === 0 ? null : `a search gives ${mostTexts} passages their vectors at most`;
  const told = { used: to !== undefined, without, reason: reason ?? later };
  return to === undefined ? { likeness: unknown, told } : { likeness: (text) => cosine(to, known.get(text)), told };
};
