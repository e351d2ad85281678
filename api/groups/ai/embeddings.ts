/** Vectors of passages and questions, of an endpoint that has them: passages that say the same in other words are found, too. */
import { z } from 'zod';
import { KeyedMutex } from '../../../runtime/keyed-mutex.ts';
import type { PassageIndex, Source } from '../../../subjects/runbooks/passage-index.ts';
import { cosine, directionOf, type Vector, Vectors } from '../../../subjects/runbooks/vectors.ts';
import { hasModel, type ModelAsking, sendToModel, type Told } from './model.ts';

/** Texts of one request, cut to so many characters. Some endpoints take no more. */
const atOnce = 32;
const mostCharacters = 2_000;
const mostBytes = 8 * 1024 * 1024;
/** Passages that one search gives vectors, and how long it begins to: those beyond have theirs with the next ones. */
const mostTexts = 8 * atOnce;
const mostMs = 5_000;

const Embeddings = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1).max(8_192) })),
});

const vectors = new Vectors();
/** One search of an organization at a time gives passages their vectors, so that each is paid for once. */
const turns = new KeyedMutex();
/** Of what an endpoint says no to: the texts, and not the time or the key. */
const ofTexts: ReadonlySet<number | undefined> = new Set([400, 413, 422]);

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

const embed = (texts: readonly string[], model: string, asking: ModelAsking): Promise<Told<readonly Vector[]>> => {
  const inputs = texts.map((text) => text.slice(0, mostCharacters).toWellFormed());
  return sendToModel(
    {
      ...{ purpose: 'embedding', counter: 'model-embeddings', path: '/embeddings', model, mostBytes },
      sent: JSON.stringify(inputs),
      // About as many as English has.
      tokens: Math.ceil(inputs.reduce((sum, { length }) => sum + length, 0) / 3),
      body: { model, input: inputs, encoding_format: 'float' },
      read: (answer) => readVectors(answer, inputs.length),
    },
    asking,
  );
};

export interface Near {
  /** How like the question a passage is, by its text; undefined where that is not known. */
  readonly likeness: (text: string) => number | undefined;
  readonly told: z.output<typeof EmbeddingsTold>;
}

const unknown = (): undefined => undefined;

const keep = (tenantId: string, texts: readonly string[], read: readonly Vector[]): void => {
  for (const [nth, text] of texts.entries()) vectors.keep(tenantId, text, read[nth] ?? new Int8Array());
};

const halves = (texts: readonly string[]): (readonly string[])[] => {
  const middle = Math.ceil(texts.length / 2);
  return [texts.slice(0, middle), texts.slice(middle)];
};

/**
 * Gives texts their vectors; answers why some have none yet. A text that is refused by itself gets one that is like nothing, so that it is
 * not sent again.
 */
const fill = async (texts: readonly string[], nothing: Vector, model: string, asking: ModelAsking) => {
  const { tenantId } = asking.caller;
  const begunMs = performance.now();
  const batches = Array.from({ length: Math.ceil(texts.length / atOnce) }, (_, nth) =>
    texts.slice(nth * atOnce, (nth + 1) * atOnce),
  ) as (readonly string[])[];
  for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
    if (performance.now() - begunMs > mostMs) return 'the endpoint of embeddings takes long';
    const told = await embed(batch, model, asking);
    if ('read' in told) keep(tenantId, batch, told.read);
    else if (!ofTexts.has(told.status)) return told.reason;
    else if (batch.length === 1) keep(tenantId, batch, [nothing]);
    else batches.unshift(...halves(batch));
  }
  return null;
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
  const texts = [...index.writtenTexts(from)];
  if (texts.length === 0)
    return { likeness: unknown, told: { used: false, without: 0, reason: 'nothing that people wrote is looked for' } };
  const asked = await embed([question], model, asking);
  if ('reason' in asked)
    return { likeness: unknown, told: { used: false, without: texts.length, reason: asked.reason } };
  const [to = new Int8Array()] = asked.read;
  const lookUp = (): ReadonlyMap<string, Vector | undefined> =>
    new Map(texts.map((text) => [text, vectors.get(tenantId, text)]));
  const before = lookUp();
  const missing = texts.filter((text) => before.get(text)?.length !== to.length);
  const near = (known: typeof before) => (text: string) => cosine(to, known.get(text));
  if (missing.length === 0) return { likeness: near(before), told: { used: true, without: 0, reason: null } };
  const reason = turns.isBusy(tenantId)
    ? 'another search gives passages their vectors'
    : await turns.run(tenantId, () => fill(missing.slice(0, mostTexts), new Int8Array(to.length), model, asking));
  const known = lookUp();
  const without = texts.filter((text) => known.get(text)?.length !== to.length).length;
  const later = `a search gives ${mostTexts} passages their vectors at most`;
  return {
    likeness: near(known),
    told: { used: true, without, reason: without === 0 ? null : (reason ?? later) },
  };
};
