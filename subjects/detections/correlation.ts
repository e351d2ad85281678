/** Correlation windows: matches of one group by record time. */

import { z } from 'zod';
import { computeHashId } from '../../runtime/hash-id.ts';
import { type DetectionMatch, DetectionSignal, SignalEvent } from '../../schemas/signals.ts';
import type { DeployedCorrelation } from './deployment.ts';
import { deduplicateEntities, toSignalRuleFields } from './detect.ts';
import type { Condition, SigmaCorrelation } from './documents.ts';
import { parseNumber } from './value-tests.ts';

/** A matched record: its time, the index of the rule, and the measured value. */
const Entry = z.tuple([z.number(), z.int(), z.string().nullable()]);
type Entry = z.output<typeof Entry>;

/** State of one group. Plain JSON. */
export const CorrelationWindow = z.strictObject({
  /** Entries in order of time. */
  entries: z.array(Entry),
  /** Some of the records, in order of time. */
  events: z.array(z.strictObject({ event: SignalEvent, entities: DetectionSignal.shape.entities })),
  /** End of the window of the last signal; null for none. */
  firedMs: z.number().nullable(),
  /** Number of dropped entries. */
  dropped: z.int(),
});
export type CorrelationWindow = z.output<typeof CorrelationWindow>;

export const createEmptyWindow = (): CorrelationWindow => ({
  entries: [],
  events: [],
  firedMs: null,
  dropped: 0,
});

const maxEntries = 5_000;
const minEntries = 100;
/**
 * Maximum events stored for a group. A signal contains fewer, so that enough remain for a record that arrives later.
 */
const maxEvents = 20;
const maxSignalEvents = 10;
const maxEntities = 20;

/** Returns whether the condition can only be decided at the end of the window: upper bounds and exact counts. */
export const isDecidedAtEnd = ({ bounds }: SigmaCorrelation): boolean =>
  bounds.some(({ is }) => is === 'lt' || is === 'lte' || is === 'eq' || is === 'neq');

/** Returns a percentile, by linear interpolation between the two adjacent values. */
const computePercentile = (values: readonly number[], percentile: number): number => {
  const sorted = values.toSorted((left, right) => left - right);
  const rank = ((sorted.length - 1) * percentile) / 100;
  const low = sorted[Math.floor(rank)] ?? Number.NaN;
  const high = sorted[Math.ceil(rank)] ?? Number.NaN;
  return low + (high - low) * (rank - Math.floor(rank));
};

const computeMeasure = ({ type, percentile }: SigmaCorrelation, entries: readonly Entry[]): number => {
  const values = (): number[] =>
    entries.map(([, , value]) => parseNumber(value ?? '')).filter((value) => !Number.isNaN(value));
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0);
  switch (type) {
    case 'event_count':
      return entries.length;
    case 'value_count':
      return new Set(entries.flatMap(([, , value]) => value ?? [])).size;
    case 'value_sum':
      return sum(values());
    case 'value_avg':
      return sum(values()) / values().length;
    case 'value_median':
      return computePercentile(values(), 50);
    case 'value_percentile':
      return computePercentile(values(), percentile);
    default:
      return new Set(entries.map(([, rule]) => rule)).size;
  }
};

const isWithin = ({ bounds }: SigmaCorrelation, value: number): boolean =>
  !Number.isNaN(value) &&
  bounds.every(({ is, value: bound }) => {
    if (is === 'gt') return value > bound;
    if (is === 'gte') return value >= bound;
    if (is === 'lt') return value < bound;
    if (is === 'lte') return value <= bound;
    return is === 'eq' ? value === bound : value !== bound;
  });

/** Returns whether all rules matched successively, in the order of the correlation. */
const isInOrder = ({ rules }: SigmaCorrelation, entries: readonly Entry[]): boolean => {
  let nextRule = 0;
  for (const [, rule] of entries) if (rule === nextRule) nextRule++;
  return nextRule >= rules.length;
};

const evaluateCondition = (condition: Condition, isRuleMet: (name: string) => boolean): boolean => {
  switch (condition.is) {
    case 'and':
      return condition.parts.every((part) => evaluateCondition(part, isRuleMet));
    case 'or':
      return condition.parts.some((part) => evaluateCondition(part, isRuleMet));
    case 'not':
      return !evaluateCondition(condition.part, isRuleMet);
    case 'selection':
      return isRuleMet(condition.name);
    default:
      return condition.all ? condition.names.every(isRuleMet) : condition.names.some(isRuleMet);
  }
};

const isConditionMet = (correlation: SigmaCorrelation, entries: readonly Entry[]): boolean => {
  const { type, rules, bounds, condition } = correlation;
  if (type !== 'temporal' && type !== 'temporal_ordered')
    return isWithin(correlation, computeMeasure(correlation, entries));
  const matchedRules = new Set(entries.map(([, rule]) => rule));
  const isEnough =
    condition !== undefined
      ? evaluateCondition(condition, (name) => matchedRules.has(rules.indexOf(name)))
      : bounds.length > 0
        ? isWithin(correlation, matchedRules.size)
        : matchedRules.size === rules.length;
  return isEnough && (type === 'temporal' || isInOrder(correlation, entries));
};

/** Returns the maximum number of relevant entries; for event counts, it depends on the highest bound. */
const getEntryLimit = (correlation: SigmaCorrelation): number =>
  correlation.type === 'event_count'
    ? Math.min(maxEntries, Math.max(minEntries, ...correlation.bounds.map(({ value }) => value + 1)))
    : maxEntries;

/** Inserts an element into an order that does not depend on the order of arrival. */
const insertSorted = <Item>(
  list: readonly Item[],
  item: Item,
  isAfter: (left: Item, right: Item) => boolean,
): Item[] => {
  let position = list.length;
  while (position > 0 && isAfter(list[position - 1] as Item, item)) position--;
  return list.toSpliced(position, 0, item);
};

/** By time, then by rule order, so that an ordered correlation receives simultaneous matches in the required order. */
const isEntryAfter = ([time, rule]: Entry, [otherTime, otherRule]: Entry): boolean =>
  time === otherTime ? rule > otherRule : time > otherTime;
type WindowEvent = CorrelationWindow['events'][number];
const isEventAfter = ({ event: left }: WindowEvent, { event: right }: WindowEvent): boolean => {
  if (left.timeMs !== right.timeMs) return left.timeMs > right.timeMs;
  return left.recordId === right.recordId ? left.ruleId > right.ruleId : left.recordId > right.recordId;
};

const toEntityKey = ({ type, value }: DetectionSignal['entities'][number]): string => `${type} ${value}`;

const insertMatch = (
  window: CorrelationWindow,
  match: DetectionMatch,
  { document }: DeployedCorrelation,
): CorrelationWindow => {
  const { timeMs, events, entities } = match.signal;
  const rule = document.rules.findIndex((name) => match.names.includes(name));
  const value = match.values.some((value) => value === null)
    ? null
    : match.values.length === 1
      ? (match.values[0] ?? null)
      : JSON.stringify(match.values);
  const newestMs = Math.max(timeMs, window.entries.at(-1)?.[0] ?? timeMs);
  // Windows that are evaluated at their end are deleted then.
  const oldestMs = isDecidedAtEnd(document) ? Number.NEGATIVE_INFINITY : newestMs - 2 * document.timespanMs;
  const sortedEntries = insertSorted(window.entries, [timeMs, rule, value], isEntryAfter).filter(
    ([at]) => at > oldestMs,
  );
  const limit = getEntryLimit(document);
  const sortedEvents = events.reduce(
    (list, event) => insertSorted(list, { event, entities }, isEventAfter),
    window.events,
  );
  const recentEvents = sortedEvents.filter(({ event }) => event.timeMs > oldestMs);
  return {
    entries: sortedEntries.slice(-limit),
    events: recentEvents.slice(-maxEvents),
    firedMs: window.firedMs,
    dropped: window.dropped + Math.max(0, sortedEntries.length - limit),
  };
};

const createSignal = (
  { id, stored, document }: DeployedCorrelation,
  match: Pick<DetectionMatch, 'key' | 'tenantId'> & { readonly projectId: string },
  window: CorrelationWindow,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): DetectionSignal => {
  const signalEvents = window.events
    .filter(({ event: { timeMs } }) => timeMs > fromMs && timeMs <= toMs)
    .slice(-maxSignalEvents);
  const events = signalEvents.map(({ event }) => event);
  return {
    tenantId: match.tenantId,
    projectId: match.projectId,
    kind: 'correlation',
    id: computeHashId(id, match.key, toMs, events.at(-1)?.recordId),
    ...toSignalRuleFields(stored, document.tags),
    timeMs: toMs,
    events,
    eventCount: window.entries.filter(([at]) => at > fromMs && at <= toMs).length,
    entities: deduplicateEntities(signalEvents.flatMap(({ entities }) => entities))
      .toSorted((left, right) => (toEntityKey(left) < toEntityKey(right) ? -1 : 1))
      .slice(0, maxEntities),
    group: Object.fromEntries(document.groupBy.map((field, at) => [field, match.key[at] ?? ''])),
    suppressedBy: '',
  };
};

/** Returns the sort key of simultaneous matches for a chained correlation, independent of their arrival. */
export const toChainOrder = ({ forRule, key, names, signal }: DetectionMatch, rules: readonly string[]): string => {
  const rule = rules.findIndex((name) => names.includes(name));
  return JSON.stringify([forRule, key, rule, signal.id]);
};

export interface AddResult {
  readonly window: CorrelationWindow;
  readonly signal: DetectionSignal | undefined;
  /** Whether the match is too old to count in the window. */
  readonly isLate: boolean;
}

/**
 * Adds a match to the window of its group. After a signal, the group raises no other signal for the correlation's
 * timespan.
 */
export const addMatch = (
  correlation: DeployedCorrelation,
  window: CorrelationWindow,
  match: DetectionMatch,
): AddResult => {
  const { document } = correlation;
  const { timespanMs } = document;
  const { timeMs, projectId } = match.signal;
  const newestMs = window.entries.at(-1)?.[0];
  if (newestMs !== undefined && timeMs <= newestMs - 2 * timespanMs) return { window, signal: undefined, isLate: true };
  const updated = insertMatch(window, match, correlation);
  if (isDecidedAtEnd(document)) return { window: updated, signal: undefined, isLate: false };
  const isSuppressed = (at: number): boolean => updated.firedMs !== null && Math.abs(at - updated.firedMs) < timespanMs;
  // A late record also counts in the windows that end at later records.
  const endTimes = updated.entries
    .map(([at]) => at)
    .filter((at) => at >= timeMs && at < timeMs + timespanMs && !isSuppressed(at));
  for (const toMs of endTimes) {
    const fromMs = toMs - timespanMs;
    if (
      !isConditionMet(
        document,
        updated.entries.filter(([at]) => at > fromMs && at <= toMs),
      )
    )
      continue;
    const signal = createSignal(correlation, { ...match, projectId }, updated, { fromMs, toMs });
    return { window: { ...updated, firedMs: toMs }, signal, isLate: false };
  }
  return { window: updated, signal: undefined, isLate: false };
};

/** Returns when a window needs processing without further matches: at its end, or when it can be deleted. */
export const getWindowDueMs = ({ document }: DeployedCorrelation, { entries }: CorrelationWindow): number => {
  const [first] = entries;
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return 0;
  return isDecidedAtEnd(document) ? first[0] + document.timespanMs : last[0] + document.timespanMs + 1;
};

/**
 * Ends the first window of a group if its condition is evaluated at the end. Returns the remaining state, or
 * `undefined` if there is none.
 */
export const endWindow = (
  correlation: DeployedCorrelation,
  window: CorrelationWindow,
  group: Pick<DetectionMatch, 'key' | 'tenantId'> & { readonly projectId: string },
): { readonly window: CorrelationWindow | undefined; readonly signal: DetectionSignal | undefined } => {
  const { document } = correlation;
  const [first] = window.entries;
  if (!isDecidedAtEnd(document) || first === undefined) return { window: undefined, signal: undefined };
  const endMs = first[0] + document.timespanMs;
  const windowEntries = window.entries.filter(([at]) => at < endMs);
  const toMs = windowEntries.at(-1)?.[0] ?? endMs;
  const signal = isConditionMet(document, windowEntries)
    ? createSignal(correlation, group, window, { fromMs: first[0] - 1, toMs })
    : undefined;
  const entries = window.entries.filter(([at]) => at >= endMs);
  const events = window.events.filter(({ event }) => event.timeMs >= endMs);
  return { window: entries.length === 0 ? undefined : { ...window, entries, events }, signal };
};
