/** Verdict on a group: whether the condition of a rule holds, and why. */
import type { AlertSeverity } from '../../schemas/alerts.ts';
import { compareNumbers } from '../../schemas/comparisons.ts';
import type { AlertRule, Threshold } from './rule.ts';
import { getSeverityRank } from './rule.ts';
import type { GroupQueryResult } from './rule-query-result.ts';
import type { ThresholdComparison } from './state.ts';
import { getConversionFactor, toReadableUnit } from './units.ts';

/** Result for a group. `held`: the condition holds; `clear`: it does not hold; `missing`: it cannot be evaluated. */
export interface Verdict {
  readonly kind: 'held' | 'clear' | 'missing';
  readonly severity: AlertSeverity | undefined;
  /** Compared value, in the unit of the query. */
  readonly value: number | null;
  /** Reason, as part of a sentence for people. */
  readonly reason: string;
  /** Absent if no threshold was evaluated. */
  readonly compared?: ThresholdComparison;
}

type ThresholdCondition = Extract<AlertRule['condition'], { kind: 'threshold' }>;
type Composite = Extract<AlertRule['condition'], { kind: 'composite' }>;
type Absence = Extract<AlertRule['condition'], { kind: 'absence' }>;

const createMissingVerdict = (reason: string): Verdict => ({
  kind: 'missing',
  severity: undefined,
  value: null,
  reason,
});

/** Formats a number for people: bytes are `B`, not `By` as in UCUM. Digits before the point are preserved. */
export const formatNumber = (value: number | null | undefined, unit: string, digits = 6): string => {
  if (value === null || value === undefined) return 'no value';
  const number = String(Math.abs(value) >= 10 ** digits ? Math.round(value) : Number(value.toPrecision(digits)));
  return unit === '' || unit === '1' || unit.startsWith('{') ? number : `${number} ${unit.replace(/By(?=$|\/)/, 'B')}`;
};

interface ThresholdLimits {
  readonly value: number;
  readonly upper: number;
}

/** Returns whether a value crosses a threshold. An active alert ends only beyond the recovery threshold. */
const isCrossing = ({ operator }: Threshold, { value, upper }: ThresholdLimits, pointValue: number): boolean => {
  switch (operator) {
    case 'above':
    case 'at-least':
    case 'below':
      return compareNumbers(operator, pointValue, value);
    case 'equal':
      return pointValue === value;
    case 'not-equal':
      return pointValue !== value;
    case 'outside':
      return pointValue < value || pointValue > upper;
    default:
      return true;
  }
};

/** Returns the value of a window that decides, and whether it crosses the threshold. */
const evaluateMatch = (
  match: ThresholdCondition['match'],
  points: readonly number[],
  isCrossedAt: (one: number) => boolean,
): readonly [value: number, crosses: boolean] => {
  const last = points.at(-1) as number;
  switch (match) {
    case 'at-least-once': {
      const first = points.findLast(isCrossedAt);
      return first === undefined ? [last, false] : [first, true];
    }
    case 'all-the-time': {
      const lastUncrossed = points.findLast((point) => !isCrossedAt(point));
      return lastUncrossed === undefined ? [last, true] : [lastUncrossed, false];
    }
    case 'on-average':
    case 'in-total': {
      const sum = points.reduce((total, point) => total + point, 0);
      const value = match === 'in-total' ? sum : sum / points.length;
      return [value, isCrossedAt(value)];
    }
    default:
      return [last, isCrossedAt(last)];
  }
};

const matchTexts: Readonly<Record<ThresholdCondition['match'], string>> = {
  'at-least-once': 'at least once in',
  'all-the-time': 'all the time in',
  'on-average': 'on average over',
  'in-total': 'in total over',
  last: 'in the last step of',
};

/**
 * Formats a value in the threshold's unit, or else in the most readable unit that the query's unit can be converted to.
 */
const formatThresholdValue = ({ unit }: Threshold, value: number | undefined, unitOfQuery: string): string =>
  unit !== undefined || value === undefined
    ? formatNumber(value, unit ?? unitOfQuery)
    : formatNumber(...toReadableUnit(value, unitOfQuery));

const comparisonTexts: Readonly<Partial<Record<Threshold['operator'], string>>> = {
  'not-equal': 'not equal to',
  equal: 'equal to',
  'at-least': 'at least',
};

const describeThreshold = (threshold: Threshold, unitOfQuery: string): string => {
  const { operator, value, upper } = threshold;
  const formatLimit = (limit: number | undefined): string => formatThresholdValue(threshold, limit, unitOfQuery);
  if (operator === 'outside') return `outside ${formatLimit(value)} to ${formatLimit(upper)}`;
  return `${comparisonTexts[operator] ?? operator} ${formatLimit(value)}`;
};

/** Negates a comparison: "not equal to" becomes "equal to". */
const negateComparison = (comparison: string): string =>
  comparison.startsWith('not ') ? comparison.slice('not '.length) : `not ${comparison}`;

/** Significant digits of a value in a reason, unless it would then be on the other side of the threshold */
const reasonDigits = 3;

/** Formats a compared value, in the unit of the threshold, with as few digits as agree with the verdict. */
const formatCompared = (threshold: Threshold, value: number, unitOfQuery: string): string => {
  const [readable, unit] = threshold.unit === undefined ? toReadableUnit(value, unitOfQuery) : [value, threshold.unit];
  const rounded = readable === 0 ? 0 : Number(readable.toPrecision(reasonDigits)) * (value / readable);
  const isSameSide = [threshold.value, threshold.upper, threshold.recovery].every(
    (limit) => limit === undefined || Math.sign(rounded - limit) === Math.sign(value - limit),
  );
  return isSameSide ? formatNumber(readable, unit, reasonDigits) : formatNumber(readable, unit);
};

const toComparison = (threshold: Threshold, value: number, unit: string): ThresholdComparison => {
  const text = formatCompared(threshold, value * (getConversionFactor(unit, threshold.unit ?? unit) ?? 1), unit);
  if (threshold.operator === 'any') return { text, threshold: '', limit: null };
  const factor = threshold.unit === undefined ? 1 : (getConversionFactor(threshold.unit, unit) ?? 1);
  // Rounding removes floating-point noise: the conversion of 1 s results in 999999999.9999999 ns.
  const limit = Number(((threshold.value ?? 0) * factor).toPrecision(15));
  return { text, threshold: describeThreshold(threshold, unit), limit };
};

/**
 * Result of a threshold: whether it is crossed, or whether an active alert has not reached its recovery threshold yet.
 */
interface ThresholdCrossing {
  readonly value: number;
  readonly isCrossed: boolean;
  readonly isHeldByRecovery: boolean;
}

interface GroupInput {
  readonly condition: ThresholdCondition;
  readonly points: readonly number[];
  readonly unit: string;
  /** Severity of the active alert. */
  readonly active: AlertSeverity | undefined;
}

const evaluateThreshold = (
  threshold: Threshold,
  { condition, points, unit, active }: GroupInput,
): ThresholdCrossing => {
  const factor = threshold.unit === undefined ? 1 : (getConversionFactor(threshold.unit, unit) ?? 1);
  const { value = 0, upper = 0, recovery = value, severity } = threshold;
  const evaluateLimit = (limit: number) =>
    evaluateMatch(condition.match, points, (point) =>
      isCrossing(threshold, { value: limit * factor, upper: upper * factor }, point),
    );
  const [compared, isCrossed] = evaluateLimit(value);
  const wasActive = active !== undefined && getSeverityRank(severity) <= getSeverityRank(active);
  const isHeldByRecovery = !isCrossed && wasActive && recovery !== value && evaluateLimit(recovery)[1];
  return { value: compared, isCrossed, isHeldByRecovery };
};

const describeCrossing = (threshold: Threshold, { isHeldByRecovery }: ThresholdCrossing, unit: string): string => {
  if (!isHeldByRecovery) return describeThreshold(threshold, unit);
  const { operator, value, recovery } = threshold;
  return `no longer ${operator} ${formatThresholdValue(threshold, value, unit)}, but not yet beyond the recovery threshold of ${formatThresholdValue(threshold, recovery, unit)}`;
};

/** Evaluates a group's thresholds, highest severity first. */
const evaluateThresholds = (input: GroupInput): Verdict => {
  const { condition, unit } = input;
  const { match, window, step, thresholds } = condition;
  const windowText = step === undefined ? `over ${window}` : `${matchTexts[match]} ${window}`;
  const thresholdsByRank = thresholds.toSorted(
    (left, right) => getSeverityRank(right.severity) - getSeverityRank(left.severity),
  );
  let last: Verdict = createMissingVerdict('the rule has no threshold');
  for (const threshold of thresholdsByRank) {
    const crossing = evaluateThreshold(threshold, input);
    const { value, isCrossed, isHeldByRecovery } = crossing;
    const { operator, severity } = threshold;
    const compared = toComparison(threshold, value, unit);
    const { text } = compared;
    if (operator === 'any') return { kind: 'held', severity, value, reason: `the query returns ${text}`, compared };
    const reason = `${text} is ${describeCrossing(threshold, crossing, unit)} ${windowText}`;
    if (isCrossed || isHeldByRecovery) return { kind: 'held', severity, value, reason, compared };
    last = {
      kind: 'clear',
      severity: undefined,
      value,
      reason: `${text} is ${negateComparison(compared.threshold)} ${windowText}`,
      compared,
    };
  }
  return last;
};

const evaluateComposite = ({ expression, severity }: Composite, points: readonly number[]): Verdict =>
  points.at(-1) === 1
    ? { kind: 'held', severity, value: 1, reason: `${expression} holds` }
    : { kind: 'clear', severity: undefined, value: 0, reason: `${expression} does not hold` };

const evaluateAbsence = ({ window, severity }: Absence, points: readonly number[], isCount: boolean): Verdict => {
  const value = points.at(-1) ?? null;
  return points.length === 0 || (isCount && points.every((point) => point === 0))
    ? { kind: 'held', severity, value: null, reason: `there was no data for ${window}` }
    : { kind: 'clear', severity: undefined, value, reason: `there was data within ${window}` };
};

/** Replaces the texts of a verdict with those of the result. */
const withExplanation = (verdict: Verdict, group: GroupQueryResult | undefined): Verdict => {
  if (group?.explanation === undefined) return verdict;
  const { text, reason } = group.explanation;
  return {
    ...verdict,
    reason,
    ...(verdict.compared && { compared: { ...verdict.compared, text, threshold: '' } }),
  };
};

/** Returns the verdict on one group's result. */
export const evaluateGroup = (
  rule: Pick<AlertRule, 'condition' | 'minimumEvents'>,
  group: GroupQueryResult | undefined,
  unit: string,
  active: AlertSeverity | undefined,
): Verdict => {
  const { condition, minimumEvents } = rule;
  const points = (group?.points ?? []).filter((point) => point !== null);
  if (condition.kind === 'composite') return evaluateComposite(condition, points);
  if (condition.kind === 'absence') return evaluateAbsence(condition, points, group?.isCount === true);
  if (group?.unknownReason !== undefined) return createMissingVerdict(group.unknownReason);
  if (points.length === 0) return createMissingVerdict(`there was no data for ${condition.window}`);
  const events = group?.eventCount ?? points.length;
  if (minimumEvents !== undefined && events < minimumEvents)
    return createMissingVerdict(`${events} events in ${condition.window} are fewer than the required ${minimumEvents}`);
  const verdict = withExplanation(evaluateThresholds({ condition, points, unit, active }), group);
  return verdict.kind === 'held' && group?.ignoredReason !== undefined
    ? { ...verdict, kind: 'clear', severity: undefined, reason: `${verdict.reason}, but ${group.ignoredReason}` }
    : verdict;
};
