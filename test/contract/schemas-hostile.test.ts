/**
 * The schema of every operation reads the longest and nastiest texts in each of its fields without holding up the process.
 *
 * What counts is the processor time of this thread, which hardly depends on how busy the machine is. What exceeds the limit is read again,
 * and counts if it does so each time.
 */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import type { z } from 'zod';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { parseExpression, parseSelector } from '../../queries/promql/syntax/parse.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import { getThreadCpuMs } from '../../runtime/thread-time.ts';
import { runSeed, selectPartAt } from '../parts.ts';
import { isLong, plainTexts, structuredTexts, type TextField, textFields } from './hostile-texts.ts';
import { schemaOf } from './schema-values.ts';

const limitMs = 100;
const tries = 3;
const allTexts = { ...plainTexts, ...structuredTexts };
/** At one of these what takes exponential time takes too long and still ends; at its full length it would not. */
const shortLengths = [26, 39, 58, 87, 130] as const;
/** Of a path and its query: the server takes 64 KiB of headers. */
const maxPathLength = 64 * 1024;

const measureCpuMs = (run: () => unknown): number => {
  const before = getThreadCpuMs();
  run();
  return getThreadCpuMs() - before;
};

/** The least time of some tries, where the first one is above the limit. */
const minMsOf = (run: () => unknown): number => {
  let minMs = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < tries && minMs > limitMs; tried++) minMs = Math.min(minMs, measureCpuMs(run));
  return minMs;
};

/** Each field reads one text in so many, fields one after the other another one: a run draws with which they begin. */
const parts = 8;
let fieldsRead = 0;

const drawnOf = (texts: object): object => Object.fromEntries(selectPartAt(fieldsRead++, Object.entries(texts), parts));

/** Tells of the first length of a text that takes too long. */
const slowReads = (
  what: string,
  texts: object,
  lengths: readonly number[],
  read: (text: string) => unknown,
): string[] =>
  Object.entries(texts as typeof allTexts).flatMap(([name, textOf]) => {
    for (const length of lengths) {
      const text = textOf(length);
      const durationMs = minMsOf(() => read(text));
      if (durationMs > limitMs) return [`${what} took ${Math.round(durationMs)} ms over ${name}, ${length} characters`];
    }
    return [];
  });

/** Set by hand: the longest texts also in fields that are alike, as the same schema stands in many places of a dashboard or a rule. */
const readsAll = process.env['TEST_HOSTILE_ALL'] === 'true';
const readAtLength = new Set<string>();

/** Whether no field of the group with the same name below the same name, and of the same length, came before. */
const isFirstOfItsKind = (operation: Operation, { path, maxLength }: TextField): boolean => {
  const kind = [operation.group, ...path.split('.').slice(-2), maxLength].join(' ');
  const isFirst = readsAll || !readAtLength.has(kind);
  readAtLength.add(kind);
  return isFirst;
};

const slowFields = (operation: Operation, part: 'params' | 'query' | 'body', schema: z.ZodType): string[] => {
  const maxPartLength = part === 'body' ? Math.min(operation.maxBodyBytes, 1024 * 1024) : maxPathLength;
  const fields = textFields(schemaOf(schema), { path: part, base: undefined, place: (value) => value });
  return [...fields].flatMap((field) => {
    const maxLength = Math.min(field.maxLength ?? maxPartLength, maxPartLength);
    const short = shortLengths.filter((length) => length < maxLength);
    const lengths = isFirstOfItsKind(operation, field) ? [...short, maxLength] : short;
    const texts = drawnOf(isLong(field) ? allTexts : plainTexts);
    return slowReads(`${operation.operationId} ${field.path}`, texts, lengths, (text) =>
      schema.safeParse(field.placed(text)),
    );
  });
};

test('every field of every operation reads hostile texts quickly', (t) => {
  t.log(`each field reads one text of ${parts} (TEST_SEED=${runSeed})`);
  const slow = operations
    .filter(({ built }) => built)
    .flatMap((operation) =>
      (['params', 'query', 'body'] as const).flatMap((part) => {
        const schema = operation[part];
        return schema === undefined ? [] : slowFields(operation, part, schema);
      }),
    );
  t.deepEqual(slow, []);
});

const refused = (read: (text: string) => unknown) => (text: string) => {
  try {
    read(text);
  } catch {
    // A text that is refused was read as well.
  }
};

for (const [what, read] of [
  ['a search', (text: string) => parseSearch(text, 'logs')],
  ['an expression of PromQL', parseExpression],
  ['a selector of PromQL', parseSelector],
] as const)
  test(`${what} is parsed quickly for every hostile text`, (t) => {
    t.deepEqual(slowReads(what, allTexts, [...shortLengths, 5_000, 100_000, 1024 * 1024], refused(read)), []);
  });
