import { z } from 'zod';
import { type ErrorOccurrence, RaisedError } from '../../schemas/error-occurrences.ts';
import { createItemSource } from '../../schemas/records/values.ts';
import { topics } from '../../schemas/topics.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { codedState, combinedState, keyedState, type ValueCodec } from '../engine/state.ts';

/** Maximum time between records of one exception. */
const maxGapMs = 10_000;
/** Time an error waits for further records about it: SDKs send spans every 5 seconds. */
const waitMs = 8_000;
/** Maximum number of waiting errors and distinct locations per exception. */
const maxWaitingPerException = 100;
const maxLocations = 64;
const maxWaiting = 20_000;
const maxWaitingBytes = 24 * 1024 * 1024;

const SavedSeen = z.strictObject({ lastMs: z.number(), emitted: z.int(), places: z.record(z.string(), z.int()) });
/** Count of an exception per location, and number already emitted. */
interface ExceptionCounts {
  lastMs: number;
  emitted: number;
  /** Lists, because nearly every location has a unique name, and each would create a new object shape. */
  readonly locations: string[];
  readonly counts: number[];
}
const countsCodec: ValueCodec<ExceptionCounts, z.output<typeof SavedSeen>> = {
  restore: ({ lastMs, emitted, places }) => ({
    lastMs,
    emitted,
    locations: Object.keys(places),
    counts: Object.values(places),
  }),
  json({ lastMs, emitted, locations, counts }) {
    const entries = locations.map((location, index) => `${JSON.stringify(location)}:${counts[index]}`);
    return `{"lastMs":${lastMs},"emitted":${emitted},"places":{${entries}}}`;
  },
  weigh: ({ locations }) => 128 + 24 * locations.length,
};
const Waiting = z.strictObject({ dueMs: z.number(), held: z.array(RaisedError) });
type Waiting = z.output<typeof Waiting>;

const emits = { occurrences: topics.errorOccurrences };
const state = combinedState(1, {
  seen: codedState({ version: 1, maxEntries: 50_000, schema: SavedSeen, form: countsCodec }),
  /** Spans with a known reason of failure, or with a failed descendant. */
  explained: keyedState<1>({ version: 1, maxEntries: 100_000 }),
  waiting: keyedState<Waiting>({ version: 1, maxEntries: maxWaiting + 1, schema: Waiting }),
});
type State = ReturnType<typeof state.open>;
type StepContext = Context<typeof emits, Readonly<Record<never, never>>, State>;

/** Lists the fields because it runs for each error, and omitting fields from a copy takes ten times as long. */
const toOccurrence = (raised: RaisedError): ErrorOccurrence => ({
  tenantId: raised.tenantId,
  projectId: raised.projectId,
  service: raised.service,
  environment: raised.environment,
  release: raised.release,
  source: raised.source,
  fingerprint: raised.fingerprint,
  components: raised.components,
  type: raised.type,
  message: raised.message,
  culprit: raised.culprit,
  stack: raised.stack,
  handled: raised.handled,
  userId: raised.userId,
  tags: raised.tags,
  traceId: raised.traceId,
  spanId: raised.spanId,
  at: raised.at,
  recordId: raised.recordId,
});

/** Merges several records of one error: the first one's fields, completed from the others. */
const mergeErrors = (first: RaisedError, other: RaisedError): RaisedError => ({
  ...first,
  userId: first.userId || other.userId,
  environment: first.environment || other.environment,
  release: first.release || other.release,
  handled: first.handled ?? other.handled,
  tags: { ...other.tags, ...first.tags },
});

const spanKey = (traceId: string, spanId: string): string => `span ${traceId} ${spanId}`;
const exceptionKey = ({ traceId, service, identity }: RaisedError): string =>
  `exception ${traceId} ${service} ${identity}`;

/** Adds an error to the waiting errors of its key; if there are too many, the error is emitted immediately. */
const bufferErrors = (
  key: string,
  existing: Waiting | undefined,
  held: readonly RaisedError[],
  { state: { waiting }, clockMs, emit, setTimer }: StepContext,
): boolean => {
  const { entries, bytes } = waiting.size;
  if (existing === undefined && (entries >= maxWaiting || bytes >= maxWaitingBytes)) {
    for (const raised of held) emit.occurrences(toOccurrence(raised));
    return false;
  }
  const dueMs = existing?.dueMs ?? (Math.floor((clockMs + waitMs) / 1000) + 1) * 1000;
  waiting.set(key, { dueMs, held: [...held] });
  if (existing === undefined) setTimer('clock', dueMs, String(dueMs));
  return true;
};

/** Records that a span needs no error of its own. */
const markExplained = (traceId: string, spanId: string, { state: { explained, waiting }, drop }: StepContext): void => {
  if (spanId === '') return;
  const key = spanKey(traceId, spanId);
  explained.set(key, 1);
  if (waiting.get(key) === undefined) return;
  waiting.delete(key);
  drop('explained');
};

const emitWaiting = (key: string, { held }: Waiting, { state: { seen, waiting }, emit }: StepContext): void => {
  waiting.delete(key);
  for (const raised of held) emit.occurrences(toOccurrence(raised));
  const exceptionCounts = seen.get(key);
  if (exceptionCounts !== undefined) exceptionCounts.emitted += held.length;
};

/**
 * Returns the occurrences of an exception so far, and its waiting errors. Errors that are too far apart or too many
 * stop waiting.
 */
const findOccurrence = (
  key: string,
  { timeMs }: RaisedError,
  context: StepContext,
): [ExceptionCounts | undefined, Waiting | undefined] => {
  const { seen, waiting } = context.state;
  const waitingErrors = waiting.get(key);
  const exceptionCounts = seen.get(key);
  const recent =
    exceptionCounts !== undefined && Math.abs(timeMs - exceptionCounts.lastMs) <= maxGapMs
      ? exceptionCounts
      : undefined;
  if (waitingErrors === undefined || (recent !== undefined && waitingErrors.held.length < maxWaitingPerException))
    return [recent, waitingErrors];
  emitWaiting(key, waitingErrors, context);
  return [recent, undefined];
};

/**
 * Adds a record of an exception that was not emitted: it waits, or is merged into the waiting one. Returns how many
 * were emitted.
 */
const bufferOrMerge = (
  key: string,
  waitingErrors: Waiting | undefined,
  index: number,
  raised: RaisedError,
  context: StepContext,
): number => {
  const held = waitingErrors?.held ?? [];
  const first = held[index];
  if (first === undefined) return bufferErrors(key, waitingErrors, [...held, raised], context) ? 0 : 1;
  bufferErrors(key, waitingErrors, held.with(index, mergeErrors(first, raised)), context);
  context.drop('duplicate');
  return 0;
};

/** Handles an exception or an error log. The nth record at a location is the nth occurrence. */
const handleError = (raised: RaisedError, context: StepContext): void => {
  const key = exceptionKey(raised);
  const [existing, waiting] = findOccurrence(key, raised, context);
  const occurrence = existing ?? { lastMs: raised.timeMs, emitted: 0, locations: [], counts: [] };
  const { locations, counts } = occurrence;
  const location = `${raised.source} ${raised.spanId}`;
  const locationIndex = locations.indexOf(location);
  if (locationIndex < 0 && locations.length >= maxLocations) {
    context.drop('duplicate');
    return;
  }
  const count = (locationIndex < 0 ? 0 : (counts[locationIndex] as number)) + 1;
  if (count <= occurrence.emitted) context.drop('duplicate');
  else occurrence.emitted += bufferOrMerge(key, waiting, count - occurrence.emitted - 1, raised, context);
  occurrence.lastMs = Math.max(occurrence.lastMs, raised.timeMs);
  if (locationIndex >= 0) counts[locationIndex] = count;
  else if (existing !== undefined) {
    locations.push(location);
    counts.push(count);
  }
  // A grown list reserves extra slots, and most exceptions are recorded in one location.
  context.state.seen.set(key, existing ?? { ...occurrence, locations: [location], counts: [count] });
};

/**
 * Counts an exception once, regardless of how many spans and logs of its trace recorded it.
 * `docs/reference/errors.md` describes the rules.
 */
export const errorOccurrences = defineProcessor({
  name: 'error-occurrences',
  summary: 'Counts each error of a trace once, and finds where span failures originate.',
  reads: createItemSource(topics.raisedErrors),
  emits,
  state,

  step(raised, context) {
    const { traceId, spanId, parentSpanId, isStatusOnly } = raised;
    if (traceId === '') {
      context.emit.occurrences(toOccurrence(raised));
      return;
    }
    markExplained(traceId, parentSpanId, context);
    if (!isStatusOnly) {
      markExplained(traceId, spanId, context);
      handleError(raised, context);
      return;
    }
    const key = spanKey(traceId, spanId);
    if (context.state.explained.get(key) !== undefined) context.drop('explained');
    else bufferErrors(key, context.state.waiting.get(key), [raised], context);
  },

  timer(_, context) {
    const due: [string, Waiting][] = [];
    for (const entry of context.state.waiting.entries()) if (entry[1].dueMs <= context.clockMs) due.push(entry);
    for (const [key, waiting] of due) emitWaiting(key, waiting, context);
  },
});
