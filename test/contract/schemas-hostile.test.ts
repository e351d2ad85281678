/**
 * The schema of every operation parses hostile and very long texts in each field without blocking the process.
 *
 * The test measures the processor time of this thread, which hardly depends on other load. A slow text is parsed again,
 * and counts only if it is slow each time.
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
/** At one of these lengths, exponential time is too slow but still ends; at full length it would not end. */
const shortLengths = [26, 39, 58, 87, 130] as const;
/** Maximum length of a path and query: the server accepts 64 KiB of headers. */
const maxPathLength = 64 * 1024;

const measureCpuMs = (run: () => unknown): number => {
  const before = getThreadCpuMs();
  run();
  return getThreadCpuMs() - before;
};

/** The minimum time of several attempts, if the first exceeds the limit. */
const minMsOf = (run: () => unknown): number => {
  let minMs = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < tries && minMs > limitMs; tried++) minMs = Math.min(minMs, measureCpuMs(run));
  return minMs;
};

/** Each field parses one text in this many, and consecutive fields different ones; a run selects the first. */
const parts = 8;
let fieldsRead = 0;

const drawnOf = (texts: object): object => Object.fromEntries(selectPartAt(fieldsRead++, Object.entries(texts), parts));

/** Returns the first length of a text that takes too long. */
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

/** Set by hand: also the longest texts in repeated fields, such as a schema used in many parts of a dashboard. */
const readsAll = process.env['TEST_HOSTILE_ALL'] === 'true';
const readAtLength = new Set<string>();

/** Whether this is the first field of the group with its name, parent name and length. */
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
    // Refused texts are parsed as well.
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
