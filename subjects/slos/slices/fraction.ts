/** Exact fractions, with which SLO values are added and compared without rounding. The division is the last step. */

/** `numerator / denominator`, in lowest terms; `denominator` is positive. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const computeGreatestDivisor = (left: bigint, right: bigint): bigint => {
  let [larger, smaller] = [left < 0n ? -left : left, right < 0n ? -right : right];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
};

/** Returns a fraction of integers. */
export const createFraction = (numerator: bigint, denominator = 1n): Fraction => {
  if (denominator === 0n) throw new RangeError('the denominator of a fraction must not be 0');
  const divisor = computeGreatestDivisor(numerator, denominator) * (denominator < 0n ? -1n : 1n);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
};

/** Returns the fraction of a number in decimal notation: 99.9 is 999/10, not the nearest double. */
export const decimalToFraction = (value: number): Fraction => {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a decimal`);
  const [digits = '0', exponent = '0'] = value.toString().split('e');
  const [whole = '0', fractionDigits = ''] = digits.split('.');
  const power = Number(exponent) - fractionDigits.length;
  const scaled = BigInt(whole + fractionDigits);
  return power >= 0 ? createFraction(scaled * 10n ** BigInt(power)) : createFraction(scaled, 10n ** BigInt(-power));
};

export const add = (left: Fraction, right: Fraction): Fraction =>
  createFraction(
    left.numerator * right.denominator + right.numerator * left.denominator,
    left.denominator * right.denominator,
  );
export const subtract = (left: Fraction, right: Fraction): Fraction =>
  createFraction(
    left.numerator * right.denominator - right.numerator * left.denominator,
    left.denominator * right.denominator,
  );
export const multiply = (left: Fraction, right: Fraction): Fraction =>
  createFraction(left.numerator * right.numerator, left.denominator * right.denominator);
export const divide = (left: Fraction, right: Fraction): Fraction =>
  createFraction(left.numerator * right.denominator, left.denominator * right.numerator);

/** Returns a negative number, 0 or a positive number if `one` is less than, equal to or greater than `other`. */
export const compare = (left: Fraction, right: Fraction): number => {
  const difference = left.numerator * right.denominator - right.numerator * left.denominator;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
};

/** Returns the sum, added pairwise so that denominators grow late. */
export const sumFractions = (terms: readonly Fraction[]): Fraction => {
  let level = terms;
  while (level.length > 1) {
    const next: Fraction[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const [fraction = createFraction(0n), other] = [level[index], level[index + 1]];
      next.push(other === undefined ? fraction : add(fraction, other));
    }
    level = next;
  }
  return level[0] ?? createFraction(0n);
};

/** Returns the nearest double. */
export const fractionToNumber = ({ numerator, denominator }: Fraction): number => {
  const largest = BigInt(Number.MAX_SAFE_INTEGER);
  const absoluteNumerator = numerator < 0n ? -numerator : numerator;
  if (absoluteNumerator <= largest && denominator <= largest) return Number(numerator) / Number(denominator);
  // At least thirty digits of the quotient, which are parsed as a decimal.
  const power = Math.max(0, 30 - (absoluteNumerator.toString().length - denominator.toString().length));
  return Number(`${(numerator * 10n ** BigInt(power)) / denominator}e-${power}`);
};
