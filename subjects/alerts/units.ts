/** Conversion of values between units of one kind, in UCUM as OpenTelemetry uses it. */

/** The kind of each unit, and its factor to the base unit of that kind. */
const units: ReadonlyMap<string, readonly [kind: string, factor: number]> = new Map<string, readonly [string, number]>([
  ...Object.entries({ ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86_400, wk: 604_800 }).map(
    ([unit, factor]): [string, [string, number]] => [unit, ['time', factor]],
  ),
  ...Object.entries({ By: 1, bit: 1 / 8 }).flatMap(([unit, size]) =>
    Object.entries({ '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 }).map(
      ([prefix, factor]): [string, [string, number]] => [prefix + unit, ['bytes', size * factor]],
    ),
  ),
  ...Object.entries({ '1': 1, '%': 0.01 }).map(([unit, factor]): [string, [string, number]] => [
    unit,
    ['ratio', factor],
  ]),
  ...Object.entries({ Hz: 1, kHz: 1e3, MHz: 1e6, GHz: 1e9 }).map(([unit, factor]): [string, [string, number]] => [
    unit,
    ['frequency', factor],
  ]),
]);

const perSecond: Readonly<Record<string, number>> = { '/s': 1, '/min': 60, '/h': 3600 };

/**
 * Splits a unit into its numerator and a number of seconds in the denominator. Annotations such as `{request}` are not
 * units.
 */
const splitUnit = (unit: string): readonly [what: string, seconds: number] => {
  const [denominator = ''] = Object.keys(perSecond).filter((suffix) => unit.endsWith(suffix));
  return [unit.slice(0, unit.length - denominator.length).replace(/^\{.*\}$/, ''), perSecond[denominator] ?? 0];
};

/** Returns the factor that converts a value from `from` to `to`; undefined for incompatible units. */
export const getConversionFactor = (from: string, to: string): number | undefined => {
  if (from === to) return 1;
  const [[numerator, seconds], [otherNumerator, otherSeconds]] = [splitUnit(from), splitUnit(to)];
  if ((seconds === 0) !== (otherSeconds === 0)) return undefined;
  const secondsFactor = seconds === 0 ? 1 : otherSeconds / seconds;
  if (numerator === otherNumerator) return secondsFactor;
  const [[kind, factor], [otherKind, otherFactor]] = [
    units.get(numerator) ?? ['', 1],
    units.get(otherNumerator) ?? [' ', 1],
  ];
  return kind === otherKind ? (secondsFactor * factor) / otherFactor : undefined;
};

/** Returns whether values with the unit can be converted. */
export const isUnit = (unit: string): boolean => {
  const [numerator] = splitUnit(unit);
  return numerator === '' || units.has(numerator);
};

/** Readable units of durations and sizes, largest first. A value uses a unit from this minimum on. */
const readableUnits: readonly (readonly [kind: string, unit: string, least: number])[] = [
  ['time', 'd', 2],
  ['time', 'h', 2],
  ['time', 'min', 2],
  ['time', 's', 1],
  ['time', 'ms', 1],
  ['time', 'us', 1],
  ['time', 'ns', 0],
  ['bytes', 'TBy', 1],
  ['bytes', 'GBy', 1],
  ['bytes', 'MBy', 1],
  ['bytes', 'kBy', 1],
  ['bytes', 'By', 0],
];

/** Converts a value to its most readable unit: 2,500,000,000 ns are 2.5 s. Only time and size are converted. */
export const toReadableUnit = (value: number, unit: string): readonly [value: number, unit: string] => {
  const kind = units.get(unit)?.[0];
  if (value === 0 || !Number.isFinite(value)) return [value, unit];
  for (const [unitKind, targetUnit, minValue] of readableUnits) {
    const factor = unitKind === kind ? getConversionFactor(unit, targetUnit) : undefined;
    if (factor !== undefined && Math.abs(value * factor) >= minValue)
      return [Number((value * factor).toPrecision(15)), targetUnit];
  }
  return [value, unit];
};
