/** Asks what the texts of rules ask (`templates/queries.ts`). */
import { PromqlQuery } from '../../queries/query.ts';
import type { Reading } from '../../queries/reading.ts';
import { Answers } from '../../queries/together/answers.ts';
import { askLimits, messageOf, numberOf } from './ask.ts';
import type { AskText } from './templates/queries.ts';

/** How long all texts of one evaluation wait for answers: an alert counts more than what it says. */
const withinMs = 10_000;
const mostSamples = 1_000;

interface AskTextOptions {
  readonly signal?: AbortSignal | undefined;
  /** Of the rule's tenant; questions of the same moment are asked together. */
  readonly answers?: Answers;
}

/** With the organization's own data. What cannot be asked is an error, which the text then says. */
export const askingTexts = (
  reading: Reading,
  { signal, answers = new Answers({ ...askLimits, gatherMs: 0 }) }: AskTextOptions = {},
): AskText => {
  let over: AbortSignal | undefined;
  return async (expression, atMs) => {
    // Nothing is waited for until something is asked.
    over ??= AbortSignal.timeout(withinMs);
    const ending = AbortSignal.any([signal, over].filter((each) => each !== undefined));
    const read = PromqlQuery.safeParse({ kind: 'promql', expression });
    if (!read.success) return { error: read.error.issues[0]?.message ?? 'the query cannot be read' };
    // One step, so that the answer is series with all their labels.
    const at = BigInt(atMs) * 1_000_000n;
    const asked = { range: { from: at, to: at }, stepMs: 1000, stepsFrom: 'range' } as const;
    try {
      const { series } = await answers.ask(read.data, reading, asked, { signal: ending, dueMs: atMs });
      if (series.length > mostSamples) return { error: `the query gives more than ${mostSamples} series` };
      const samples = series.flatMap(({ labels, points }) => {
        const value = numberOf(points.at(-1)?.[1]);
        return value === null ? [] : [{ labels, value }];
      });
      return { samples };
    } catch (error) {
      signal?.throwIfAborted();
      return { error: over.aborted ? `no answer within ${withinMs / 1000} seconds` : messageOf(error) };
    }
  };
};
