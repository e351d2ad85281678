import { z } from 'zod';
import { type ErrorOccurrence, RaisedError } from '../../schemas/error-occurrences.ts';
import { emittedTo } from '../../schemas/records/values.ts';
import { topics } from '../../schemas/topics.ts';
import { defineProcessor } from '../engine/definition.ts';
import { combinedState, keyedState } from '../engine/state.ts';

/** How far apart records of one exception lie, at most. */
const togetherMs = 10_000;
/** How long a span that failed waits for what tells more. */
const waitMs = 15_000;
const mostWaiting = 20_000;

const Waiting = z.strictObject({ dueMs: z.number(), raised: RaisedError });

/** How often one exception was told in each place, and how often it counts: as often as in the place that tells it most often. */
const Seen = z.strictObject({ lastMs: z.number(), counted: z.int(), places: z.record(z.string(), z.int()) });
type Seen = z.output<typeof Seen>;

const occurrenceOf = ({
  timeMs,
  parentSpanId,
  identity,
  isStatusOnly,
  ...occurrence
}: RaisedError): ErrorOccurrence => {
  void [timeMs, parentSpanId, identity, isStatusOnly];
  return occurrence;
};

/** Whether it is one more than what is counted already. */
const isAnother = (seen: Seen, { source, spanId }: RaisedError): boolean => {
  const place = `${source} ${spanId}`;
  const count = (seen.places[place] ?? 0) + 1;
  seen.places[place] = count;
  if (count <= seen.counted) return false;
  seen.counted = count;
  return true;
};

/** Counts an exception once, in however many spans and logs of its trace it was recorded. `README.md` has the rules. */
export const errorOccurrences = defineProcessor({
  name: 'error-occurrences',
  summary: 'Counts each error of a trace once, and finds where failures of spans arose.',
  reads: emittedTo(topics.raisedErrors),
  emits: { occurrences: topics.errorOccurrences },
  latenessMs: waitMs,
  state: combinedState(1, {
    seen: keyedState<Seen>({ version: 1, maxEntries: 50_000, schema: Seen }),
    /** Spans of which more is known than that they failed, or below which something failed. */
    explained: keyedState<1>({ version: 1, maxEntries: 100_000 }),
    waiting: keyedState<z.output<typeof Waiting>>({ version: 1, maxEntries: mostWaiting + 1, schema: Waiting }),
  }),

  step(raised, { state: { seen, explained, waiting }, emit, drop, setTimer, watermarkMs }) {
    const { traceId, spanId, parentSpanId, isStatusOnly, service, identity, timeMs } = raised;
    if (traceId === '') {
      emit.occurrences(occurrenceOf(raised));
      return;
    }
    const explain = (span: string): void => {
      const key = `${traceId} ${span}`;
      explained.set(key, 1);
      if (waiting.get(key) === undefined) return;
      waiting.delete(key);
      drop('explained');
    };
    if (parentSpanId !== '') explain(parentSpanId);
    if (isStatusOnly) {
      const key = `${traceId} ${spanId}`;
      if (explained.get(key) !== undefined) drop('explained');
      else if (waiting.size.entries >= mostWaiting) emit.occurrences(occurrenceOf(raised));
      else {
        const second = Math.floor(Math.max(timeMs, watermarkMs + waitMs) / 1000) + 1;
        waiting.set(key, { dueMs: second * 1000, raised });
        setTimer('watermark', second * 1000, String(second));
      }
      return;
    }
    if (spanId !== '') explain(spanId);
    const key = `${traceId} ${service} ${identity}`;
    const known = seen.get(key);
    const isRecent = known !== undefined && Math.abs(timeMs - known.lastMs) <= togetherMs;
    const entry = isRecent ? known : { lastMs: timeMs, counted: 0, places: {} };
    entry.lastMs = Math.max(entry.lastMs, timeMs);
    if (isAnother(entry, raised)) emit.occurrences(occurrenceOf(raised));
    else drop('told');
    seen.set(key, entry);
  },

  timer(_, { state: { waiting }, emit, watermarkMs }) {
    for (const [key, { dueMs, raised }] of [...waiting.entries()]) {
      if (dueMs > watermarkMs) continue;
      waiting.delete(key);
      emit.occurrences(occurrenceOf(raised));
    }
  },
});
