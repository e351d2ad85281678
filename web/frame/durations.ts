/** Formats durations */
const units: readonly (readonly [name: string, nanoseconds: number])[] = [
  ['h', 3_600e9],
  ['min', 60e9],
  ['s', 1e9],
  ['ms', 1e6],
  ['µs', 1e3],
];

/** Formats nanoseconds, for example as `12.3 ms`. API responses have large values as strings. */
export const formatDuration = (
  nanoseconds: number | string,
  formatNumber: (value: number) => string = (value) => String(Number(value.toPrecision(3))),
): string => {
  const value = Number(nanoseconds);
  if (value === 0) return `${formatNumber(0)} s`;
  const [name, size] = units.find(([, unitSize]) => Math.abs(value) >= unitSize) ?? ['ns', 1];
  return `${formatNumber(value / size)} ${name}`;
};
