/**
 * The next state of an alert, from a verdict about its group. Pure functions of the stored state, the verdict and the
 * time.
 */
import type { AlertSeverity, AlertState } from '../../schemas/alerts.ts';
import { durationText, msOf } from './durations.ts';
import { type AlertRule, highestSeverity, isByPresence, isOfCount } from './rule.ts';
import type { AlertMemo, Labels } from './state.ts';
import { type Verdict, verdictOf } from './verdict.ts';

export interface Next {
  /** Undefined if there is nothing to store. */
  readonly memo: AlertMemo | undefined;
  readonly state: AlertState;
  /** Reason, as a sentence for people. */
  readonly reason: string;
  /** Compared value. */
  readonly value: number | null;
}

/** The previous state of a group, and the evaluation time. */
export interface PreviousGroup {
  readonly rule: AlertRule;
  readonly nowMs: number;
  readonly labels: Labels;
  readonly memo: AlertMemo | undefined;
}

const at = (ms: number): string => new Date(ms).toISOString();

export const isActive = (state: AlertState): boolean =>
  state === 'pending' || state === 'firing' || state === 'recovering';

/** Leaves the alert unchanged. */
export const unchanged = ({ memo }: Pick<PreviousGroup, 'memo'>, reason: string): Next => ({
  memo,
  reason,
  value: memo?.value ?? null,
  state: memo?.state ?? 'inactive',
});

/** Ends the alert, and deletes its state. */
export const ended = (reason: string): Next => ({ memo: undefined, state: 'inactive', reason, value: null });

/** The condition holds. */
export const held = ({ rule, nowMs, labels, memo }: PreviousGroup, { value, reason, ...verdict }: Verdict): Next => {
  const before = memo?.state ?? 'inactive';
  const forMs = msOf(rule.for);
  const fired = before === 'inactive' ? undefined : memo?.firedAtMs;
  const sinceMs = isActive(before) || fired !== undefined ? (memo?.sinceMs ?? nowMs) : nowMs;
  const seenMs = value === null ? (memo?.seenMs ?? nowMs) : nowMs;
  const { compared } = verdict;
  const own = {
    labels,
    severity: verdict.severity ?? highestSeverity(rule),
    sinceMs,
    seenMs,
    value,
    held: { value, ...(compared !== undefined && { compared }) },
  };
  if (fired === undefined && nowMs - sinceMs < forMs)
    return {
      memo: { ...own, state: 'pending' },
      state: 'pending',
      value,
      reason: `${reason}; it fires if this lasts until ${at(sinceMs + forMs)}`,
    };
  const lasted = forMs > 0 && fired === undefined ? `, for ${durationText(nowMs - sinceMs)}` : '';
  return {
    memo: { ...own, firedAtMs: fired ?? nowMs, state: 'firing' },
    state: 'firing',
    value,
    reason: `${reason}${lasted}`,
  };
};

/** Returns whether a group without records has the value 0. */
const countsMissingAsZero = (rule: AlertRule): boolean => rule.noData === undefined && isOfCount(rule);

/** Returns the verdict about a count of no records. */
const verdictOfNoRecords = (rule: AlertRule, unit: string, active: AlertSeverity | undefined): Verdict =>
  verdictOf(rule, { labels: {}, points: [0], events: 0, isCount: true }, unit, active);

/** Returns whether inactive groups are stored, so that a lack of data is detected. */
const remembersGroups = (rule: AlertRule): boolean =>
  !isByPresence(rule) &&
  (rule.condition.kind === 'absence' ||
    rule.noData === 'alert' ||
    rule.noData === 'unknown' ||
    (countsMissingAsZero(rule) && verdictOfNoRecords(rule, '', undefined).is === 'held'));

/** The condition does not hold. */
export const cleared = ({ rule, nowMs, labels, memo }: PreviousGroup, { value, reason }: Verdict): Next => {
  const keepFiringMs = msOf(rule.keepFiringFor);
  const seenMs = value === null ? (memo?.seenMs ?? nowMs) : nowMs;
  if (memo !== undefined && (memo.state === 'firing' || memo.state === 'recovering') && keepFiringMs > 0) {
    const clearedAtMs = memo.clearedAtMs ?? nowMs;
    if (nowMs - clearedAtMs < keepFiringMs)
      return {
        memo: { ...memo, state: 'recovering', clearedAtMs, seenMs, value },
        state: 'recovering',
        value,
        reason: `${reason}; it keeps firing until ${at(clearedAtMs + keepFiringMs)}`,
      };
  }
  if (!remembersGroups(rule)) return { ...ended(reason), value };
  const sinceMs = memo?.state === 'inactive' ? memo.sinceMs : nowMs;
  const own = { labels, severity: memo?.severity ?? highestSeverity(rule), sinceMs, seenMs, value };
  return { memo: { ...own, state: 'inactive' }, state: 'inactive', reason: reason, value };
};

/** The state is unknown, and the rule reports that. */
export const unknown = ({ rule, nowMs, labels, memo }: PreviousGroup, reason: string): Next => {
  const sinceMs = memo?.state === 'unknown' ? memo.sinceMs : nowMs;
  const own = { severity: highestSeverity(rule), seenMs: nowMs, ...memo, labels, sinceMs, value: null };
  return { memo: { ...own, state: 'unknown' }, state: 'unknown', reason, value: null };
};

/** The group of an ungrouped rule is never deleted. */
const isForgotten = ({ rule, nowMs, labels, memo }: PreviousGroup): boolean =>
  memo !== undefined && Object.keys(labels).length > 0 && nowMs - memo.seenMs >= msOf(rule.forgetAfter);

/** The state of the group is unknown: the rule determines the next state. */
export const withoutVerdict = (place: PreviousGroup, verdict: Verdict): Next => {
  const { rule, memo } = place;
  if (isForgotten(place))
    return ended(`the group had no data for ${rule.forgetAfter}: it was removed without recovering`);
  switch (rule.noData) {
    case 'resolve':
      return cleared(place, verdict);
    case 'alert':
      return held(place, { ...verdict, severity: highestSeverity(rule) });
    case 'unknown':
      return unknown(place, verdict.reason);
    default:
      return unchanged(place, memo === undefined ? verdict.reason : `${verdict.reason}: its state is unchanged`);
  }
};

/** The group has no records. It was last seen when it had some. */
const countedNone = (place: PreviousGroup, unit: string): Next => {
  const { rule, memo } = place;
  const verdict = verdictOfNoRecords(
    rule,
    unit,
    memo !== undefined && isActive(memo.state) ? memo.severity : undefined,
  );
  if (verdict.is === 'missing' || isForgotten(place)) return withoutVerdict(place, verdict);
  const next = verdict.is === 'held' ? held(place, verdict) : cleared(place, verdict);
  return memo === undefined || next.memo === undefined
    ? next
    : { ...next, memo: { ...next.memo, seenMs: memo.seenMs } };
};

/** The query returned the group before, and no longer returns it. */
export const vanished = (place: PreviousGroup, { unit, isSameForm }: { unit: string; isSameForm: boolean }): Next => {
  const { rule } = place;
  const { condition } = rule;
  if (!isSameForm) return ended('the rule was changed and no longer has this group');
  const verdict: Verdict = { is: 'missing', severity: undefined, value: null, reason: '' };
  if (condition.kind === 'composite')
    return cleared(place, { ...verdict, reason: `${condition.expression} does not hold` });
  if (isByPresence(rule)) return cleared(place, { ...verdict, reason: 'the query no longer returns it' });
  if (condition.kind === 'absence' && !isForgotten(place))
    return held(place, verdictOf(rule, undefined, unit, undefined));
  if (countsMissingAsZero(rule)) return countedNone(place, unit);
  return withoutVerdict(place, { ...verdict, reason: `there was no data for ${condition.window}` });
};
