/** Exact fractions: SLO values are added and compared without rounding, and divided last. */

/** `over / under`, in lowest terms; `under` is positive. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

const divisorOf = (one: bigint, other: bigint): bigint => {
  let [larger, smaller] = [one < 0n ? -one : one, other < 0n ? -other : other];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
};

/** Returns a fraction of integers. */
export const fraction = (over: bigint, under = 1n): Fraction => {
  if (under === 0n) throw new RangeError('the denominator of a fraction must not be 0');
  const divisor = divisorOf(over, under) * (under < 0n ? -1n : 1n);
  return { over: over / divisor, under: under / divisor };
};

/** Returns a number as written: 99.9 is 999/10, not the nearest double. */
export const decimal = (value: number): Fraction => {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a decimal`);
  const [digits = '0', exponent = '0'] = value.toString().split('e');
  const [whole = '0', part = ''] = digits.split('.');
  const power = Number(exponent) - part.length;
  const scaled = BigInt(whole + part);
  return power >= 0 ? fraction(scaled * 10n ** BigInt(power)) : fraction(scaled, 10n ** BigInt(-power));
};

export const plus = (one: Fraction, other: Fraction): Fraction =>
  fraction(one.over * other.under + other.over * one.under, one.under * other.under);
export const minus = (one: Fraction, other: Fraction): Fraction =>
  fraction(one.over * other.under - other.over * one.under, one.under * other.under);
export const times = (one: Fraction, other: Fraction): Fraction =>
  fraction(one.over * other.over, one.under * other.under);
export const dividedBy = (one: Fraction, other: Fraction): Fraction =>
  fraction(one.over * other.under, one.under * other.over);

/** Returns a negative number, 0 or a positive number if `one` is less than, equal to or greater than `other`. */
export const compared = (one: Fraction, other: Fraction): number => {
  const difference = one.over * other.under - other.over * one.under;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
};

/** Returns the sum, added pairwise so that denominators grow late. */
export const sumOf = (terms: readonly Fraction[]): Fraction => {
  let level = terms;
  while (level.length > 1) {
    const next: Fraction[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const [one = fraction(0n), other] = [level[index], level[index + 1]];
      next.push(other === undefined ? one : plus(one, other));
    }
    level = next;
  }
  return level[0] ?? fraction(0n);
};

/** Returns the nearest double. */
export const asNumber = ({ over, under }: Fraction): number => {
  const largest = BigInt(Number.MAX_SAFE_INTEGER);
  const size = over < 0n ? -over : over;
  if (size <= largest && under <= largest) return Number(over) / Number(under);
  // At least thirty digits of the quotient, which are parsed as a decimal.
  const power = Math.max(0, 30 - (size.toString().length - under.toString().length));
  return Number(`${(over * 10n ** BigInt(power)) / under}e-${power}`);
};
