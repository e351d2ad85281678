/**
 * The next state of an alert, from a verdict about its group. Pure functions of the stored state, the verdict and the
 * time.
 */
import type { AlertSeverity, AlertState } from '../../schemas/alerts.ts';
import { formatDuration, parseDurationMs } from './durations.ts';
import { type AlertRule, getHighestSeverity, isCountCompared, isPresenceBased } from './rule.ts';
import type { AlertMemo, Labels } from './state.ts';
import { evaluateGroup, type Verdict } from './verdict.ts';

export interface NextState {
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

const isoTime = (ms: number): string => new Date(ms).toISOString();

export const isActive = (state: AlertState): boolean =>
  state === 'pending' || state === 'firing' || state === 'recovering';

/** Keeps the state of the alert. */
export const keepState = ({ memo }: Pick<PreviousGroup, 'memo'>, reason: string): NextState => ({
  memo,
  reason,
  value: memo?.value ?? null,
  state: memo?.state ?? 'inactive',
});

/** Ends the alert, and deletes its state. */
export const endAlert = (reason: string): NextState => ({ memo: undefined, state: 'inactive', reason, value: null });

/** Next state of an alert whose condition holds: pending or firing. */
export const applyHeld = (
  { rule, nowMs, labels, memo }: PreviousGroup,
  { value, reason, ...verdict }: Verdict,
): NextState => {
  const previousState = memo?.state ?? 'inactive';
  const forMs = parseDurationMs(rule.for);
  const firedAtMs = previousState === 'inactive' ? undefined : memo?.firedAtMs;
  const sinceMs = isActive(previousState) || firedAtMs !== undefined ? (memo?.sinceMs ?? nowMs) : nowMs;
  const seenMs = value === null ? (memo?.seenMs ?? nowMs) : nowMs;
  const { compared } = verdict;
  const memoFields = {
    labels,
    severity: verdict.severity ?? getHighestSeverity(rule),
    sinceMs,
    seenMs,
    value,
    held: { value, ...(compared !== undefined && { compared }) },
  };
  if (firedAtMs === undefined && nowMs - sinceMs < forMs)
    return {
      memo: { ...memoFields, state: 'pending' },
      state: 'pending',
      value,
      reason: `${reason}; it fires if this lasts until ${isoTime(sinceMs + forMs)}`,
    };
  const durationText = forMs > 0 && firedAtMs === undefined ? `, for ${formatDuration(nowMs - sinceMs)}` : '';
  return {
    memo: { ...memoFields, firedAtMs: firedAtMs ?? nowMs, state: 'firing' },
    state: 'firing',
    value,
    reason: `${reason}${durationText}`,
  };
};

/** Returns whether a group without records has the value 0. */
const countsMissingAsZero = (rule: AlertRule): boolean => rule.noData === undefined && isCountCompared(rule);

/** Returns the verdict about a count of no records. */
const evaluateNoRecords = (rule: AlertRule, unit: string, active: AlertSeverity | undefined): Verdict =>
  evaluateGroup(rule, { labels: {}, points: [0], eventCount: 0, isCount: true }, unit, active);

/** Returns whether inactive groups are stored, so that a lack of data is detected. */
const storesInactiveGroups = (rule: AlertRule): boolean =>
  !isPresenceBased(rule) &&
  (rule.condition.kind === 'absence' ||
    rule.noData === 'alert' ||
    rule.noData === 'unknown' ||
    (countsMissingAsZero(rule) && evaluateNoRecords(rule, '', undefined).kind === 'held'));

/** Next state of an alert whose condition does not hold: recovering or inactive. */
export const applyCleared = ({ rule, nowMs, labels, memo }: PreviousGroup, { value, reason }: Verdict): NextState => {
  const keepFiringMs = parseDurationMs(rule.keepFiringFor);
  const seenMs = value === null ? (memo?.seenMs ?? nowMs) : nowMs;
  if (memo !== undefined && (memo.state === 'firing' || memo.state === 'recovering') && keepFiringMs > 0) {
    const clearedAtMs = memo.clearedAtMs ?? nowMs;
    if (nowMs - clearedAtMs < keepFiringMs)
      return {
        memo: { ...memo, state: 'recovering', clearedAtMs, seenMs, value },
        state: 'recovering',
        value,
        reason: `${reason}; it keeps firing until ${isoTime(clearedAtMs + keepFiringMs)}`,
      };
  }
  if (!storesInactiveGroups(rule)) return { ...endAlert(reason), value };
  const sinceMs = memo?.state === 'inactive' ? memo.sinceMs : nowMs;
  const memoFields = { labels, severity: memo?.severity ?? getHighestSeverity(rule), sinceMs, seenMs, value };
  return { memo: { ...memoFields, state: 'inactive' }, state: 'inactive', reason, value };
};

/** Next state of an alert whose rule reports missing data as `unknown`. */
export const applyUnknown = ({ rule, nowMs, labels, memo }: PreviousGroup, reason: string): NextState => {
  const sinceMs = memo?.state === 'unknown' ? memo.sinceMs : nowMs;
  const memoFields = { severity: getHighestSeverity(rule), seenMs: nowMs, ...memo, labels, sinceMs, value: null };
  return { memo: { ...memoFields, state: 'unknown' }, state: 'unknown', reason, value: null };
};

/**
 * Returns whether a group had no data for so long that its state is deleted. This never applies to the group of an
 * ungrouped rule.
 */
const isExpired = ({ rule, nowMs, labels, memo }: PreviousGroup): boolean =>
  memo !== undefined && Object.keys(labels).length > 0 && nowMs - memo.seenMs >= parseDurationMs(rule.forgetAfter);

/** Next state of a group without a verdict, according to the rule's `noData` policy. */
export const applyNoVerdict = (previousGroup: PreviousGroup, verdict: Verdict): NextState => {
  const { rule, memo } = previousGroup;
  if (isExpired(previousGroup))
    return endAlert(`the group had no data for ${rule.forgetAfter}: it was removed without recovering`);
  switch (rule.noData) {
    case 'resolve':
      return applyCleared(previousGroup, verdict);
    case 'alert':
      return applyHeld(previousGroup, { ...verdict, severity: getHighestSeverity(rule) });
    case 'unknown':
      return applyUnknown(previousGroup, verdict.reason);
    default:
      return keepState(
        previousGroup,
        memo === undefined ? verdict.reason : `${verdict.reason}: its state is unchanged`,
      );
  }
};

/** Next state of a counted group without records: its value is 0, and its last-seen time is unchanged. */
const applyZeroCount = (previousGroup: PreviousGroup, unit: string): NextState => {
  const { rule, memo } = previousGroup;
  const verdict = evaluateNoRecords(rule, unit, memo !== undefined && isActive(memo.state) ? memo.severity : undefined);
  if (verdict.kind === 'missing' || isExpired(previousGroup)) return applyNoVerdict(previousGroup, verdict);
  const next = verdict.kind === 'held' ? applyHeld(previousGroup, verdict) : applyCleared(previousGroup, verdict);
  return memo === undefined || next.memo === undefined
    ? next
    : { ...next, memo: { ...next.memo, seenMs: memo.seenMs } };
};

/** Next state of a group that the query no longer returns. */
export const applyMissingGroup = (
  previousGroup: PreviousGroup,
  { unit, isSameForm }: { unit: string; isSameForm: boolean },
): NextState => {
  const { rule } = previousGroup;
  const { condition } = rule;
  if (!isSameForm) return endAlert('the rule was changed and no longer has this group');
  const verdict: Verdict = { kind: 'missing', severity: undefined, value: null, reason: '' };
  if (condition.kind === 'composite')
    return applyCleared(previousGroup, { ...verdict, reason: `${condition.expression} does not hold` });
  if (isPresenceBased(rule))
    return applyCleared(previousGroup, { ...verdict, reason: 'the query no longer returns it' });
  if (condition.kind === 'absence' && !isExpired(previousGroup))
    return applyHeld(previousGroup, evaluateGroup(rule, undefined, unit, undefined));
  if (countsMissingAsZero(rule)) return applyZeroCount(previousGroup, unit);
  return applyNoVerdict(previousGroup, { ...verdict, reason: `there was no data for ${condition.window}` });
};
