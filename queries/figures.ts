/** Figures as they are told. */

/** Beyond so many digits sums and differences of doubles say nothing. */
const digits = 12;
/** A double has no more that count. */
const maxDigits = 15;

/** A computed figure without the noise of floating point: 6.999999999998056 is 7. Stored values are not for it, and integers stay. */
export const withoutNoise = (figure: number): number => {
  if (!Number.isFinite(figure) || Number.isInteger(figure)) return figure;
  return Number(figure.toPrecision(Math.abs(figure) < 10 ** digits ? digits : maxDigits));
};
