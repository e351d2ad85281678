/** Verdict on a group: whether the condition of a rule holds, and why. */
import type { AlertSeverity } from '../../schemas/alerts.ts';
import type { GroupAnswer } from './answer.ts';
import type { AlertRule, Threshold } from './rule.ts';
import { severityRank } from './rule.ts';
import type { Compared } from './state.ts';
import { conversion, toReadableUnit } from './units.ts';

/** `missing`: the state of the group is unknown. */
export interface Verdict {
  readonly is: 'held' | 'clear' | 'missing';
  readonly severity: AlertSeverity | undefined;
  /** Compared value, in the unit of the query. */
  readonly value: number | null;
  /** Reason, as part of a sentence for people. */
  readonly reason: string;
  /** Absent if no threshold was evaluated. */
  readonly compared?: Compared;
}

type ThresholdCondition = Extract<AlertRule['condition'], { kind: 'threshold' }>;
type Composite = Extract<AlertRule['condition'], { kind: 'composite' }>;
type Absence = Extract<AlertRule['condition'], { kind: 'absence' }>;

const missing = (reason: string): Verdict => ({ is: 'missing', severity: undefined, value: null, reason: reason });

/** Formats a number for people. */
export const formatNumber = (value: number | null | undefined, unit: string): string => {
  if (value === null || value === undefined) return 'no value';
  const number = Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
  return unit === '' || unit === '1' || unit.startsWith('{') ? number : `${number} ${unit}`;
};

interface Limits {
  readonly value: number;
  readonly upper: number;
}

/** Returns whether a value crosses a threshold. An active alert ends only beyond the recovery threshold. */
const crosses = ({ operator }: Threshold, { value, upper }: Limits, one: number): boolean => {
  switch (operator) {
    case 'above':
      return one > value;
    case 'at-least':
      return one >= value;
    case 'below':
      return one < value;
    case 'equal':
      return one === value;
    case 'not-equal':
      return one !== value;
    case 'outside':
      return one < value || one > upper;
    default:
      return true;
  }
};

/** Returns the deciding value of a window, and whether it crosses. */
const decided = (
  match: ThresholdCondition['match'],
  points: readonly number[],
  crossesAt: (one: number) => boolean,
): readonly [value: number, crosses: boolean] => {
  const last = points.at(-1) as number;
  switch (match) {
    case 'at-least-once': {
      const first = points.findLast(crossesAt);
      return first === undefined ? [last, false] : [first, true];
    }
    case 'all-the-time': {
      const other = points.findLast((one) => !crossesAt(one));
      return other === undefined ? [last, true] : [other, false];
    }
    case 'on-average':
    case 'in-total': {
      const sum = points.reduce((total, one) => total + one, 0);
      const value = match === 'in-total' ? sum : sum / points.length;
      return [value, crossesAt(value)];
    }
    default:
      return [last, crossesAt(last)];
  }
};

const matchTexts: Readonly<Record<ThresholdCondition['match'], string>> = {
  'at-least-once': 'at least once in',
  'all-the-time': 'all the time in',
  'on-average': 'on average over',
  'in-total': 'in total over',
  last: 'in the last step of',
};

/** A value of a threshold: in the threshold's unit or, without one, in the most readable unit of the query. */
const inUnitOf = ({ unit }: Threshold, value: number | undefined, unitOfQuery: string): string =>
  unit !== undefined || value === undefined
    ? formatNumber(value, unit ?? unitOfQuery)
    : formatNumber(...toReadableUnit(value, unitOfQuery));

const sides: Readonly<Partial<Record<Threshold['operator'], string>>> = {
  'not-equal': 'not equal to',
  equal: 'equal to',
  'at-least': 'at least',
};

const sideOf = (threshold: Threshold, unitOfQuery: string): string => {
  const { operator, value, upper } = threshold;
  const figure = (one: number | undefined): string => inUnitOf(threshold, one, unitOfQuery);
  if (operator === 'outside') return `outside ${figure(value)} to ${figure(upper)}`;
  return `${sides[operator] ?? operator} ${figure(value)}`;
};

/** Negates a comparison: "not equal to" becomes "equal to". */
const otherSide = (side: string): string => (side.startsWith('not ') ? side.slice('not '.length) : `not ${side}`);

const comparedOf = (threshold: Threshold, value: number, unit: string): Compared => {
  const text = inUnitOf(threshold, value * (conversion(unit, threshold.unit ?? unit) ?? 1), unit);
  if (threshold.operator === 'any') return { text, threshold: '', limit: null };
  const factor = threshold.unit === undefined ? 1 : (conversion(threshold.unit, unit) ?? 1);
  // Conversion turns 1 s into 999999999.9999999 ns.
  const limit = Number(((threshold.value ?? 0) * factor).toPrecision(15));
  return { text, threshold: sideOf(threshold, unit), limit };
};

/** A threshold that is crossed, or that an active alert has not left yet */
interface Crossing {
  readonly value: number;
  readonly isCrossed: boolean;
  readonly isHeldBack: boolean;
}

interface Judged {
  readonly condition: ThresholdCondition;
  readonly points: readonly number[];
  readonly unit: string;
  /** Severity of the active alert. */
  readonly active: AlertSeverity | undefined;
}

const crossingOf = (threshold: Threshold, { condition, points, unit, active }: Judged): Crossing => {
  const factor = threshold.unit === undefined ? 1 : (conversion(threshold.unit, unit) ?? 1);
  const { value = 0, upper = 0, recovery = value, severity } = threshold;
  const judge = (limit: number) =>
    decided(condition.match, points, (one) =>
      crosses(threshold, { value: limit * factor, upper: upper * factor }, one),
    );
  const [compared, isCrossed] = judge(value);
  const wasActive = active !== undefined && severityRank(severity) <= severityRank(active);
  const isHeldBack = !isCrossed && wasActive && recovery !== value && judge(recovery)[1];
  return { value: compared, isCrossed, isHeldBack };
};

const sideNow = (threshold: Threshold, { isHeldBack }: Crossing, unit: string): string => {
  if (!isHeldBack) return sideOf(threshold, unit);
  const { operator, value, recovery } = threshold;
  return `no longer ${operator} ${inUnitOf(threshold, value, unit)}, but not yet beyond the recovery threshold of ${inUnitOf(threshold, recovery, unit)}`;
};

/** Evaluates a group's thresholds, highest severity first. */
const byThresholds = (judged: Judged): Verdict => {
  const { condition, unit } = judged;
  const { match, window, step, thresholds } = condition;
  const over = step === undefined ? `over ${window}` : `${matchTexts[match]} ${window}`;
  const ordered = thresholds.toSorted((one, other) => severityRank(other.severity) - severityRank(one.severity));
  let last: Verdict = missing('the rule has no threshold');
  for (const threshold of ordered) {
    const crossing = crossingOf(threshold, judged);
    const { value, isCrossed, isHeldBack } = crossing;
    const { operator, severity } = threshold;
    const compared = comparedOf(threshold, value, unit);
    const { text } = compared;
    if (operator === 'any') return { is: 'held', severity, value, reason: `the query returns ${text}`, compared };
    const reason = `${text} is ${sideNow(threshold, crossing, unit)} ${over}`;
    if (isCrossed || isHeldBack) return { is: 'held', severity, value, reason: reason, compared };
    last = {
      is: 'clear',
      severity: undefined,
      value,
      reason: `${text} is ${otherSide(compared.threshold)} ${over}`,
      compared,
    };
  }
  return last;
};

const ofComposite = ({ expression, severity }: Composite, points: readonly number[]): Verdict =>
  points.at(-1) === 1
    ? { is: 'held', severity, value: 1, reason: `${expression} holds` }
    : { is: 'clear', severity: undefined, value: 0, reason: `${expression} does not hold` };

const ofAbsence = ({ window, severity }: Absence, points: readonly number[], isCount: boolean): Verdict => {
  const value = points.at(-1) ?? null;
  return points.length === 0 || (isCount && points.every((one) => one === 0))
    ? { is: 'held', severity, value: null, reason: `there was no data for ${window}` }
    : { is: 'clear', severity: undefined, value, reason: `there was data within ${window}` };
};

/** Replaces the texts of a verdict with those of the result. */
const withStatus = (verdict: Verdict, group: GroupAnswer | undefined): Verdict => {
  if (group?.says === undefined) return verdict;
  const { text, reason } = group.says;
  return {
    ...verdict,
    reason: reason,
    ...(verdict.compared && { compared: { ...verdict.compared, text, threshold: '' } }),
  };
};

/** Returns the verdict on one group's result. */
export const verdictOf = (
  rule: Pick<AlertRule, 'condition' | 'minimumEvents'>,
  group: GroupAnswer | undefined,
  unit: string,
  active: AlertSeverity | undefined,
): Verdict => {
  const { condition, minimumEvents } = rule;
  const points = (group?.points ?? []).filter((one) => one !== null);
  if (condition.kind === 'composite') return ofComposite(condition, points);
  if (condition.kind === 'absence') return ofAbsence(condition, points, group?.isCount === true);
  if (group?.unknown !== undefined) return missing(group.unknown);
  if (points.length === 0) return missing(`there was no data for ${condition.window}`);
  const events = group?.events ?? points.length;
  if (minimumEvents !== undefined && events < minimumEvents)
    return missing(`${events} events in ${condition.window} are fewer than the required ${minimumEvents}`);
  const verdict = withStatus(byThresholds({ condition, points, unit, active }), group);
  return verdict.is === 'held' && group?.tooFew !== undefined
    ? { ...verdict, is: 'clear', severity: undefined, reason: `${verdict.reason}, but ${group.tooFew}` }
    : verdict;
};
