/** Calendar times repeat after 400 years, except for the year. */
const cycleSeconds = 12_622_780_800;
const dayMs = 86_400_000;

/**
 * Date parts that Prometheus returns for a time that is not a 64-bit number of seconds: those of the first valid time.
 */
const invalidTimeParts: Readonly<Record<string, number>> = {
  days_in_month: 31,
  day_of_month: 4,
  day_of_week: 0,
  day_of_year: 339,
  hour: 15,
  minute: 30,
  month: 12,
  year: 292_277_026_596,
};

const createDatePartFunction =
  (name: string, getPart: (time: Date) => number) =>
  (value: number): number => {
    const seconds = Math.trunc(value);
    if (!(Math.abs(seconds) < 2 ** 63)) return invalidTimeParts[name] as number;
    const cycles = Math.floor(seconds / cycleSeconds);
    const part = getPart(new Date((seconds - cycles * cycleSeconds) * 1000));
    return name === 'year' ? part + 400 * cycles : part;
  };

const getYearStart = (time: Date): number => Date.UTC(time.getUTCFullYear(), 0, 1);

/** Functions that return parts of a date from seconds since the epoch. */
export const dateFunctions: Readonly<Record<string, (value: number) => number>> = Object.fromEntries(
  Object.entries({
    days_in_month: (time: Date) => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 0)).getUTCDate(),
    day_of_month: (time: Date) => time.getUTCDate(),
    day_of_week: (time: Date) => time.getUTCDay(),
    day_of_year: (time: Date) => Math.floor((time.getTime() - getYearStart(time)) / dayMs) + 1,
    hour: (time: Date) => time.getUTCHours(),
    minute: (time: Date) => time.getUTCMinutes(),
    month: (time: Date) => time.getUTCMonth() + 1,
    year: (time: Date) => time.getUTCFullYear(),
  }).map(([name, getPart]) => [name, createDatePartFunction(name, getPart)]),
);

/**
 * Returns the binary logarithm, computed from the exponent and the logarithm of the fraction. It is exact for powers
 * of two, and equals that of Prometheus to the last digit.
 */
export const computeLog2 = (value: number): number => {
  if (!(value > 2 ** -1000) || value === Number.POSITIVE_INFINITY) return Math.log2(value);
  let exponent = Math.floor(Math.log2(value)) + 1;
  let fraction = value / 2 ** exponent;
  if (fraction >= 1) {
    fraction /= 2;
    exponent++;
  } else if (fraction < 0.5) {
    fraction *= 2;
    exponent--;
  }
  return fraction === 0.5 ? exponent - 1 : Math.log(fraction) * (1 / Math.LN2) + exponent;
};

export const computeLog10 = (value: number): number => computeLog2(value) * (Math.LN2 / Math.LN10);
