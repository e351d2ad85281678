/**
 * Vectors of passages and questions from an embedding endpoint. They also find passages with the same meaning in other
 * words.
 */
import { z } from 'zod';
import { KeyedMutex } from '../../../runtime/keyed-mutex.ts';
import { type PassageIndex, type Source, sources } from '../../../subjects/runbooks/passage-index.ts';
import { computeCosine, quantize, toVectorKey, type Vector, VectorCache } from '../../../subjects/runbooks/vectors.ts';
import type { Ports } from '../../kernel/ports.ts';
import { canUseModel, type ModelContext, type ModelResult, sendToModel } from './model.ts';
import { readVectors, storeVectors } from './stored-vectors.ts';

/** Texts per request, each truncated to the maximum length. Some endpoints accept no more. */
const textsPerRequest = 32;
const maxCharacters = 2_000;
const maxBytes = 8 * 1024 * 1024;
/**
 * Maximum number of passages that one search embeds, and for how long it starts new requests; later searches embed the
 * rest.
 */
const maxTexts = 8 * textsPerRequest;
const maxMs = 5_000;
/** How long a search waits for the vector of its question */
const questionTimeoutMs = 3_000;
/** How long an endpoint is not called for an organization after a failure or timeout */
const pauseMs = 30_000;

const Embeddings = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1).max(8_192) })),
});

/** Embedding state that a process keeps in memory. */
class ProcessState {
  readonly vectors = new VectorCache();
  /** One search of an organization at a time embeds passages, so that each passage is embedded, and billed, only once. */
  readonly mutex = new KeyedMutex();
  /** By organization: why the endpoint is not called, and until when. */
  readonly pausedUntil = new Map<string, { readonly reason: string; readonly untilMs: number }>();
}
const processStates = new WeakMap<Ports['settings'], ProcessState>();
const getProcessState = ({ settings }: Pick<Ports, 'settings'>): ProcessState => {
  const processState = processStates.get(settings) ?? new ProcessState();
  processStates.set(settings, processState);
  return processState;
};

/** HTTP statuses that reject the texts themselves, as opposed to the request rate or the API key. */
const textErrorStatuses: ReadonlySet<number | undefined> = new Set([400, 413, 422]);

export const EmbeddingUsage = z
  .strictObject({
    used: z.boolean().describe('false: passages are found by their words alone'),
    without: z
      .int()
      .describe('Number of passages without a vector: they are found by their words, and embedded by later searches'),
    reason: z.string().nullable().describe('Why embeddings were not used, or passages have no vector'),
  })
  .nullable()
  .describe('null: not available for this organization');

/** Parses one vector per text, in the order of the texts; undefined if the response has another format. */
const parseVectors = (answer: unknown, count: number): readonly Vector[] | undefined => {
  const { data = [] } = Embeddings.safeParse(answer).data ?? {};
  const byIndex = new Map(data.map(({ index, embedding }) => [index, embedding]));
  const [first = []] = byIndex.values();
  const vectors: Vector[] = [];
  for (let index = 0; index < count; index++) {
    const numbers = byIndex.get(index) ?? [];
    const vector = numbers.length === first.length ? quantize(numbers) : undefined;
    if (vector === undefined) return undefined;
    vectors.push(vector);
  }
  return data.length === count ? vectors : undefined;
};

/** Text as sent to the endpoint. */
const truncateText = (text: string): string => text.slice(0, maxCharacters).toWellFormed();

/** Requests the vectors of texts. After a failure or timeout, the endpoint is paused, so that later searches do not wait for it. */
const embed = async (
  texts: readonly string[],
  { model, timeoutMs }: { readonly model: string; readonly timeoutMs?: number },
  context: ModelContext,
): Promise<ModelResult<readonly Vector[]>> => {
  const { pausedUntil } = getProcessState(context.ports);
  const { tenantId } = context.caller;
  const nowMs = context.ports.clock.now();
  const pause = pausedUntil.get(tenantId);
  if (pause !== undefined && nowMs < pause.untilMs)
    return {
      reason: `${pause.reason}; the endpoint is called again after ${new Date(pause.untilMs).toISOString()}`,
    };
  pausedUntil.delete(tenantId);
  const inputs = texts.map(truncateText);
  const result = await sendToModel(
    {
      purpose: 'embedding',
      counter: 'model-embeddings',
      path: '/embeddings',
      model,
      maxBytes,
      timeoutMs,
      sentText: JSON.stringify(inputs),
      // An estimate, about right for English.
      tokens: Math.ceil(inputs.reduce((sum, { length }) => sum + length, 0) / 3),
      body: { model, input: inputs, encoding_format: 'float' },
      read: (answer) => parseVectors(answer, inputs.length),
    },
    context,
  );
  if ('status' in result && !textErrorStatuses.has(result.status))
    pausedUntil.set(tenantId, { reason: result.reason, untilMs: context.ports.clock.now() + pauseMs });
  return result;
};

export interface QuestionSimilarity {
  /** Returns the similarity of a passage's text to the question; undefined if unknown. */
  readonly similarity: (text: string) => number | undefined;
  readonly usage: z.output<typeof EmbeddingUsage>;
}

const getUnknownSimilarity = (): undefined => undefined;

const splitInHalf = (texts: readonly string[]): (readonly string[])[] => {
  const middle = Math.ceil(texts.length / 2);
  return [texts.slice(0, middle), texts.slice(middle)];
};

interface EmbeddingBatchOptions {
  readonly model: string;
  /** Vector of a text that the endpoint rejects: similar to nothing, and not sent again. */
  readonly rejectedVector: Vector;
  /** Stores the returned vectors immediately. */
  readonly store: (texts: readonly string[], vectors: readonly Vector[]) => Promise<void>;
}

/** Embeds texts; returns why some have no vector yet. */
const embedMissing = async (
  texts: readonly string[],
  { model, rejectedVector, store }: EmbeddingBatchOptions,
  context: ModelContext,
) => {
  const startedMs = performance.now();
  const batches = Array.from({ length: Math.ceil(texts.length / textsPerRequest) }, (_, batchIndex) =>
    texts.slice(batchIndex * textsPerRequest, (batchIndex + 1) * textsPerRequest),
  ) as (readonly string[])[];
  for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
    if (performance.now() - startedMs > maxMs) return 'the embeddings endpoint is slow';
    const result = await embed(batch, { model }, context);
    if ('read' in result) await store(batch, result.read);
    else if (!textErrorStatuses.has(result.status)) return result.reason;
    else if (batch.length === 1) await store(batch, [rejectedVector]);
    else batches.unshift(...splitInHalf(batch));
  }
  return null;
};

/** Loads the stored vectors and requests some of the missing ones. Returns why some are still missing, or null. */
const fillMissing = async (
  texts: readonly string[],
  { index, model, length }: { readonly index: PassageIndex; readonly model: string; readonly length: number },
  context: ModelContext,
): Promise<string | null> => {
  const { tenantId } = context.caller;
  const { vectors } = getProcessState(context.ports);
  const documents = context.ports.documents.forTenant(tenantId);
  const keys = new Set([...index.writtenTexts(new Set(sources))].map(toVectorKey));
  await readVectors(documents, { model, keys, nowMs: context.ports.clock.now() }, (key, vector) => {
    if (vector.length === length) vectors.set(tenantId, key, vector);
  });
  const missing = texts.filter((text) => vectors.get(tenantId, toVectorKey(text))?.length !== length);
  return await embedMissing(
    missing.slice(0, maxTexts),
    {
      model,
      rejectedVector: new Int8Array(length),
      async store(batchTexts, read) {
        const entries = batchTexts.map((text, nth) => [toVectorKey(text), read[nth] ?? new Int8Array()] as const);
        for (const [key, vector] of entries) vectors.set(tenantId, key, vector);
        await storeVectors(documents, model, entries);
      },
    },
    context,
  );
};

/** Compares a question with user-written passages by their vectors; embeds some passages that have no vector yet. */
export const compareToQuestion = async (
  question: string,
  { index, from }: { readonly index: PassageIndex; readonly from: ReadonlySet<Source> },
  context: ModelContext,
): Promise<QuestionSimilarity> => {
  const { EMBEDDING_MODEL: model } = context.ports.settings;
  if (model === undefined || !canUseModel(context)) return { similarity: getUnknownSimilarity, usage: null };
  const { tenantId } = context.caller;
  const { vectors, mutex } = getProcessState(context.ports);
  const texts = [...index.writtenTexts(from)];
  if (texts.length === 0)
    return {
      similarity: getUnknownSimilarity,
      usage: { used: false, without: 0, reason: 'no text written by people is searched' },
    };
  const questionResult = await embed([question], { model, timeoutMs: questionTimeoutMs }, context);
  if ('reason' in questionResult)
    return {
      similarity: getUnknownSimilarity,
      usage: { used: false, without: texts.length, reason: questionResult.reason },
    };
  const [to = new Int8Array()] = questionResult.read;
  const lookUp = (): ReadonlyMap<string, Vector | undefined> =>
    new Map(texts.map((text) => [text, vectors.get(tenantId, toVectorKey(text))]));
  const withoutVector = (currentVectors: ReturnType<typeof lookUp>) =>
    texts.filter((text) => currentVectors.get(text)?.length !== to.length);
  const createSimilarity = (held: ReturnType<typeof lookUp>) => (text: string) => computeCosine(to, held.get(text));
  const before = lookUp();
  const missing = withoutVector(before);
  if (missing.length === 0)
    return { similarity: createSimilarity(before), usage: { used: true, without: 0, reason: null } };
  const reason = mutex.isBusy(tenantId)
    ? 'another search is computing the vectors of passages'
    : await mutex.run(tenantId, () => fillMissing(missing, { index, model, length: to.length }, context));
  const after = lookUp();
  const { length: missingCount } = withoutVector(after);
  const limitReason = `a search computes the vectors of at most ${maxTexts} passages`;
  return {
    similarity: createSimilarity(after),
    usage: { used: true, without: missingCount, reason: missingCount === 0 ? null : (reason ?? limitReason) },
  };
};
