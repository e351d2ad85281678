import { z } from 'zod';
import { type ErrorOccurrence, RaisedError } from '../../schemas/error-occurrences.ts';
import { emittedTo } from '../../schemas/records/values.ts';
import { topics } from '../../schemas/topics.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { combinedState, keyedState } from '../engine/state.ts';

/** How far apart records of one exception lie, at most. */
const togetherMs = 10_000;
/** How long an error waits for what else tells of it: SDKs send spans every 5 seconds. */
const waitMs = 8_000;
/** Of one exception: those that wait, and places that are told apart. */
const mostHeld = 100;
const mostPlaces = 64;
const mostWaiting = 20_000;
const mostWaitingBytes = 24 * 1024 * 1024;

/** How often one exception was told in each place, and how many of that have been emitted. */
const Seen = z.strictObject({ lastMs: z.number(), emitted: z.int(), places: z.record(z.string(), z.int()) });
const Waiting = z.strictObject({ dueMs: z.number(), held: z.array(RaisedError) });
type Waiting = z.output<typeof Waiting>;

const emits = { occurrences: topics.errorOccurrences };
const state = combinedState(1, {
  seen: keyedState<z.output<typeof Seen>>({ version: 1, maxEntries: 50_000, schema: Seen }),
  /** Spans of which more is known than that they failed, or below which something failed. */
  explained: keyedState<1>({ version: 1, maxEntries: 100_000 }),
  waiting: keyedState<Waiting>({ version: 1, maxEntries: mostWaiting + 1, schema: Waiting }),
});
type State = ReturnType<typeof state.open>;
type StepContext = Context<typeof emits, Readonly<Record<never, never>>, State>;

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

/** What several records say of one error: the first one's, and what it leaves open from the others. */
const together = (first: RaisedError, other: RaisedError): RaisedError => ({
  ...first,
  userId: first.userId || other.userId,
  environment: first.environment || other.environment,
  release: first.release || other.release,
  handled: first.handled ?? other.handled,
  tags: { ...other.tags, ...first.tags },
});

const keyOfSpan = (traceId: string, spanId: string): string => `span ${traceId} ${spanId}`;
const keyOfException = ({ traceId, service, identity }: RaisedError): string =>
  `exception ${traceId} ${service} ${identity}`;

/** Lets an error wait; where too many do, it counts at once. */
const hold = (
  key: string,
  held: readonly RaisedError[],
  { state: { waiting }, clockMs, emit, setTimer }: StepContext,
): boolean => {
  const known = waiting.get(key);
  const { entries, bytes } = waiting.size;
  if (known === undefined && (entries >= mostWaiting || bytes >= mostWaitingBytes)) {
    for (const raised of held) emit.occurrences(occurrenceOf(raised));
    return false;
  }
  const dueMs = known?.dueMs ?? (Math.floor((clockMs + waitMs) / 1000) + 1) * 1000;
  waiting.set(key, { dueMs, held: [...held] });
  if (known === undefined) setTimer('clock', dueMs, String(dueMs));
  return true;
};

/** Notes that a span needs no error of its own. */
const explain = (traceId: string, spanId: string, { state: { explained, waiting }, drop }: StepContext): void => {
  if (spanId === '') return;
  const key = keyOfSpan(traceId, spanId);
  explained.set(key, 1);
  if (waiting.get(key) === undefined) return;
  waiting.delete(key);
  drop('explained');
};

const release = (key: string, { held }: Waiting, { state: { seen, waiting }, emit }: StepContext): void => {
  waiting.delete(key);
  for (const raised of held) emit.occurrences(occurrenceOf(raised));
  const known = seen.get(key);
  if (known !== undefined) seen.set(key, { ...known, emitted: known.emitted + held.length });
};

/** What was told of an exception so far, and which of it waits. What is too far apart, or too much, no longer waits. */
const toldSoFar = (key: string, { timeMs }: RaisedError, context: StepContext) => {
  const { seen, waiting } = context.state;
  const before = waiting.get(key);
  const known = seen.get(key);
  const isRecent = known !== undefined && Math.abs(timeMs - known.lastMs) <= togetherMs;
  const isKept = isRecent && before !== undefined && before.held.length < mostHeld;
  if (before !== undefined && !isKept) release(key, before, context);
  const entry = isRecent ? seen.get(key) : undefined;
  return { ...(entry ?? { lastMs: timeMs, emitted: 0, places: {} }), held: isKept ? before.held : [] };
};

/** Without a prototype: nearly every place is a name of its own, and each would make a shape of an object. */
const withPlace = (places: Readonly<Record<string, number>>, place: string, count: number): Record<string, number> => {
  const next: Record<string, number> = Object.assign(Object.create(null), places);
  next[place] = count;
  return next;
};

/** An exception or an error log: the nth that a place tells is the nth that happened. */
const tell = (raised: RaisedError, context: StepContext): void => {
  const key = keyOfException(raised);
  const { lastMs, emitted, places, held } = toldSoFar(key, raised, context);
  const place = `${raised.source} ${raised.spanId}`;
  const count = (places[place] ?? 0) + 1;
  if (count === 1 && Object.keys(places).length >= mostPlaces) {
    context.drop('told');
    return;
  }
  const next = { lastMs: Math.max(lastMs, raised.timeMs), emitted, places: withPlace(places, place, count) };
  const at = count - emitted - 1;
  const first = held[at];
  if (at < 0) context.drop('told');
  else if (first !== undefined) {
    hold(key, held.with(at, together(first, raised)), context);
    context.drop('told');
  } else if (!hold(key, [...held, raised], context)) next.emitted++;
  context.state.seen.set(key, next);
};

/** Counts an exception once, in however many spans and logs of its trace it was recorded. `README.md` has the rules. */
export const errorOccurrences = defineProcessor({
  name: 'error-occurrences',
  summary: 'Counts each error of a trace once, and finds where failures of spans arose.',
  reads: emittedTo(topics.raisedErrors),
  emits,
  state,

  step(raised, context) {
    const { traceId, spanId, parentSpanId, isStatusOnly } = raised;
    if (traceId === '') {
      context.emit.occurrences(occurrenceOf(raised));
      return;
    }
    explain(traceId, parentSpanId, context);
    if (!isStatusOnly) {
      explain(traceId, spanId, context);
      tell(raised, context);
      return;
    }
    const key = keyOfSpan(traceId, spanId);
    if (context.state.explained.get(key) !== undefined) context.drop('explained');
    else hold(key, [raised], context);
  },

  timer(_, context) {
    for (const [key, waiting] of [...context.state.waiting.entries()])
      if (waiting.dueMs <= context.clockMs) release(key, waiting, context);
  },
});
