/** Built-in variables: the range, and the step of a panel. */
import { type Scope, toSingleValue, type VariableValue } from './scope.ts';

/** Input of the built-in variables. */
export interface PlatformContext {
  readonly fromMs: number;
  readonly toMs: number;
  /** Step of the panel; without it, as for variable values, there is no interval. */
  readonly stepMs?: number | undefined;
  /** Interval of samples; default 15 seconds. */
  readonly scrapeIntervalMs?: number | undefined;
  /** Names of the dashboard, the organization and the user, if any. */
  readonly names?: Readonly<Record<'__dashboard' | '__org' | '__user', string>> | undefined;
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** Formats a step as one number with a unit, valid in every query language here: 90s, 5m, 1500ms. */
export const formatStep = (ms: number): string => {
  const roundedMs = Math.max(1, Math.round(ms));
  const [unit, length] = units.find(([, value]) => roundedMs % value === 0) ?? ['ms', 1];
  return `${roundedMs / length}${unit}`;
};

/** Returns a range with at least four samples, so that its rate has a value at every step. */
const computeRateIntervalMs = (stepMs: number, scrapeMs: number): number => Math.max(stepMs + scrapeMs, 4 * scrapeMs);

const buildIntervalVariables = (stepMs: number, scrapeMs: number): readonly (readonly [string, string])[] => [
  ['__interval', formatStep(stepMs)],
  ['__interval_ms', String(Math.max(1, Math.round(stepMs)))],
  ['__rate_interval', formatStep(computeRateIntervalMs(stepMs, scrapeMs))],
  ['__rate_interval_ms', String(computeRateIntervalMs(stepMs, scrapeMs))],
];

/** Returns the built-in variables, with the names they have in Grafana. */
export const buildPlatformVariables = ({
  fromMs,
  toMs,
  stepMs,
  scrapeIntervalMs = 15_000,
  names,
}: PlatformContext): Scope => {
  const rangeMs = Math.max(0, toMs - fromMs);
  const rangeSeconds = String(Math.max(1, Math.round(rangeMs / 1000)));
  const texts: (readonly [string, string])[] = [
    ['__from', String(fromMs)],
    ['__to', String(toMs)],
    ['__range', `${rangeSeconds}s`],
    ['__range_s', rangeSeconds],
    ['__range_ms', String(rangeMs)],
    ...(stepMs === undefined ? [] : buildIntervalVariables(stepMs, scrapeIntervalMs)),
    ...Object.entries(names ?? {}),
  ];
  return new Map<string, VariableValue>(texts.map(([name, text]) => [name, toSingleValue(text)]));
};

const builtInVariableNames = [
  ...buildPlatformVariables({
    fromMs: 0,
    toMs: 0,
    stepMs: 1,
    names: { __dashboard: '', __org: '', __user: '' },
  }).keys(),
];

/** Returns the names that expressions may use: of these variables, and of the built-in ones. */
export const listVariableNames = (variables: readonly { readonly name: string }[]): ReadonlySet<string> =>
  new Set([...builtInVariableNames, ...variables.map(({ name }) => name)]);
