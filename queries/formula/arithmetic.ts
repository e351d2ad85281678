/** Arithmetic over values by group: groups are joined by equal labels, and combined value by value. */
import type { Formula, Operator } from './parse.ts';

type Value = number | null;

/** Values of one group: one per step for a series, or a single value for a table. All groups have equal lengths. */
export interface Group {
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly Value[];
}

export interface Quantity {
  readonly groups: readonly Group[];
  readonly unit: string;
  /** Whether it is a plain number, which has no unit and combines with every group. */
  readonly isNumber: boolean;
  /**
   * Whether it was multiplied by 100; if it is then divided by a quantity of the same unit, the result is a percentage.
   */
  readonly isTimesHundred: boolean;
}

/** Applies an operator. The result is null for a division by zero, an overflow, or an unknown operand. */
const calculate = (operator: Operator, left: Value, right: Value): Value => {
  if (left === null || right === null) return null;
  const result = operations[operator](left, right);
  return Number.isFinite(result) ? result : null;
};
const operations: Readonly<Record<Operator, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
  '^': (left, right) => left ** right,
};

const toGroupKey = ({ labels }: Group): string => JSON.stringify(Object.entries(labels).sort());
const hasOnlyUnlabeledGroup = ({ groups }: Quantity): boolean =>
  groups.length === 1 && Object.keys(groups[0]?.labels ?? {}).length === 0;

const getRatioUnit = (left: Quantity, right: Quantity): string => {
  if (right.isNumber) return left.unit;
  if (left.unit !== right.unit || left.unit === '') return '';
  return left.isTimesHundred ? '%' : '1';
};

const getResultUnit = (operator: Operator, left: Quantity, right: Quantity): string => {
  if (left.isNumber && right.isNumber) return '';
  if (operator === '/') return getRatioUnit(left, right);
  if (operator === '^') return '';
  const [number, other] = left.isNumber ? [left, right] : [right, left];
  if (number.isNumber) {
    const isPercent = operator === '*' && other.unit === '1' && number.groups[0]?.values[0] === 100;
    return isPercent ? '%' : other.unit;
  }
  return operator !== '*' && left.unit === right.unit ? left.unit : '';
};

const isHundred = ({ isNumber, groups }: Quantity): boolean => isNumber && groups[0]?.values[0] === 100;

/**
 * Joins the groups of both sides. A side without labels combines with every group of the other; a group that one side
 * lacks has no value.
 */
const joinGroups = (left: Quantity, right: Quantity, combine: (left: Value, right: Value) => Value): Group[] => {
  const combinePair = (labels: Group['labels'], left: Group | undefined, right: Group | undefined): Group => ({
    labels,
    values: Array.from({ length: Math.max(left?.values.length ?? 0, right?.values.length ?? 0) }, (_, index) =>
      combine(left?.values[index] ?? null, right?.values[index] ?? null),
    ),
  });
  if (hasOnlyUnlabeledGroup(right))
    return left.groups.map((group) => combinePair(group.labels, group, right.groups[0]));
  if (hasOnlyUnlabeledGroup(left)) return right.groups.map((group) => combinePair(group.labels, left.groups[0], group));
  const rightByKey = new Map(right.groups.map((group) => [toGroupKey(group), group]));
  const leftKeys = new Set(left.groups.map(toGroupKey));
  return [
    ...left.groups.map((group) => combinePair(group.labels, group, rightByKey.get(toGroupKey(group)))),
    ...right.groups
      .filter((group) => !leftKeys.has(toGroupKey(group)))
      .map((group) => combinePair(group.labels, undefined, group)),
  ];
};

/**
 * Evaluates a formula. `valueCount` is the number of values of each group; `resolveName` returns the values of a name.
 */
export const evaluate = (formula: Formula, valueCount: number, resolveName: (name: string) => Quantity): Quantity => {
  switch (formula.is) {
    case 'number': {
      const values = Array.from({ length: valueCount }, () => formula.value);
      return { groups: [{ labels: {}, values }], unit: '', isNumber: true, isTimesHundred: false };
    }
    case 'name':
      return resolveName(formula.name);
    case 'minus': {
      const part = evaluate(formula.part, valueCount, resolveName);
      const negate = (value: Value): Value => (value === null ? null : -value);
      return {
        ...part,
        groups: part.groups.map(({ labels, values }) => ({ labels, values: values.map(negate) })),
      };
    }
    default: {
      const left = evaluate(formula.left, valueCount, resolveName);
      const right = evaluate(formula.right, valueCount, resolveName);
      const { operator } = formula;
      return {
        groups: joinGroups(left, right, (left, right) => calculate(operator, left, right)),
        unit: getResultUnit(operator, left, right),
        isNumber: left.isNumber && right.isNumber,
        isTimesHundred: operator === '*' && (isHundred(left) || isHundred(right)),
      };
    }
  }
};
