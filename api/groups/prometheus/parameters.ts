/** Parameters of Prometheus' API: if a parameter is repeated, the first value is used; unknown parameters are ignored. */
import { z } from 'zod';
import { PromqlError } from '../../../queries/promql/errors.ts';
import type { Matcher } from '../../../queries/promql/series.ts';
import { parseDurationMs } from '../../../queries/promql/syntax/durations.ts';
import { PromqlSyntaxError } from '../../../queries/promql/syntax/errors.ts';
import { compileTest } from '../../../queries/promql/syntax/matchers.ts';
import { parseSelector } from '../../../queries/promql/syntax/parse.ts';

const parameterSchema = z.union([z.string(), z.array(z.string())]).optional();

/** Returns the schema of a parameter. */
export const createParameterSchema = (description: string) => parameterSchema.describe(description);

/** Parameters that every read of series accepts. */
export const projectParameters = {
  projectId: createParameterSchema('Only this project; without it the whole organization'),
};
export const timeRangeParameters = {
  start: createParameterSchema('RFC 3339 or seconds since the epoch'),
  end: createParameterSchema('As start, inclusive'),
};
export const selectorParameters = {
  'match[]': createParameterSchema('A selector, several times for series that match any of them'),
};
export const limitParameters = {
  limit: createParameterSchema('Maximum number of items in the response; 0 for no limit'),
};

/** Parameters after validation. */
export type PrometheusParameters = Readonly<Record<string, unknown>>;

/** The first value of a parameter; empty if missing. */
export const getText = (parameterValues: PrometheusParameters, name: string): string => {
  const value = parameterValues[name];
  const [first] = Array.isArray(value) ? value : [value];
  return typeof first === 'string' ? first : '';
};

/** All values of a parameter. */
export const getTexts = (parameterValues: PrometheusParameters, name: string): string[] => {
  const value = parameterValues[name];
  return (Array.isArray(value) ? value : [value]).filter((text): text is string => typeof text === 'string');
};

/** A parameter error in Prometheus' wording. */
export const createParameterError = (name: string, problem: string): PromqlError =>
  new PromqlError('bad_data', `invalid parameter "${name}": ${problem}`);

/** Prometheus' earliest and latest times, as sent by its clients. */
const extremeTimes: Readonly<Record<string, number>> = {
  '-292273086-05-16T16:47:06Z': Number.NEGATIVE_INFINITY,
  '+292277025-08-18T07:12:54.999999999Z': Number.POSITIVE_INFINITY,
};
const rfc3339Pattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
const decimalPattern = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Maximum characters of times, durations and counts */
const maxTextLength = 64;
const tooLongMessage = `has more than ${maxTextLength} characters`;

/** Milliseconds of a time; undefined if it is invalid. */
const parseTimeMs = (text: string): number | undefined => {
  if (decimalPattern.test(text)) return Math.round(Number(text) * 1000);
  if (Object.hasOwn(extremeTimes, text)) return extremeTimes[text];
  if (!rfc3339Pattern.test(text)) return undefined;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
};

/** Returns the time in a parameter. `fallback` is the default of parameters that have one in Prometheus. */
export const getTimeMs = (parameterValues: PrometheusParameters, name: string, fallback?: number): number => {
  const text = getText(parameterValues, name);
  if (text === '' && fallback !== undefined) return fallback;
  if (text.length > maxTextLength) throw createParameterError(name, tooLongMessage);
  const time = parseTimeMs(text);
  if (time !== undefined) return time;
  // Prometheus uses this wording for parameters with a default.
  const prefix = fallback === undefined ? '' : `invalid time value for '${name}': `;
  throw createParameterError(name, `${prefix}cannot parse "${text}" to a valid timestamp`);
};

/** Longest duration: Prometheus stores durations as 64-bit nanoseconds. */
const maxSeconds = 2 ** 63 / 1e9;
const infinityPattern = /^[+-]?inf(?:inity)?$/i;

/** Milliseconds of a number of seconds or a duration such as `5m`; otherwise the problem in Prometheus' wording. */
export const parseDurationText = (text: string): number | { readonly problem: string } => {
  if (text.length > maxTextLength) return { problem: tooLongMessage };
  const problem = `cannot parse "${text}" to a valid duration`;
  if (infinityPattern.test(text)) return { problem: `${problem}. It overflows int64` };
  if (decimalPattern.test(text))
    return Math.abs(Number(text)) < maxSeconds ? Number(text) * 1000 : { problem: `${problem}. It overflows int64` };
  const duration = parseDurationMs(text);
  return typeof duration === 'number' ? duration : { problem };
};

/** The duration of a parameter. */
export const getDurationMs = (parameterValues: PrometheusParameters, name: string): number => {
  const duration = parseDurationText(getText(parameterValues, name));
  if (typeof duration !== 'number') throw createParameterError(name, duration.problem);
  return duration;
};

/** A 64-bit integer; otherwise the problem in Prometheus' wording. */
const parseInteger = (text: string): number | { readonly problem: string } => {
  if (text.length > maxTextLength) return { problem: tooLongMessage };
  const problem = `strconv.Atoi: parsing ${JSON.stringify(text)}`;
  if (!/^[+-]?\d+$/.test(text)) return { problem: `${problem}: invalid syntax` };
  const number = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, number) === number ? Number(number) : { problem: `${problem}: value out of range` };
};

/** Returns the maximum number of items in a response. */
export const getLimit = (parameterValues: PrometheusParameters): number => {
  const text = getText(parameterValues, 'limit');
  if (text === '') return Number.POSITIVE_INFINITY;
  const limit = parseInteger(text);
  if (typeof limit !== 'number') throw createParameterError('limit', limit.problem);
  if (limit < 0) throw createParameterError('limit', 'limit must be non-negative');
  return limit === 0 ? Number.POSITIVE_INFINITY : limit;
};

/** An integer, with Prometheus' short error message; undefined if missing. */
export const getInteger = (
  parameterValues: PrometheusParameters,
  name: string,
  expectedText = 'a number',
): number | undefined => {
  const text = getText(parameterValues, name);
  if (text === '') return undefined;
  const number = parseInteger(text);
  if (typeof number !== 'number') throw new PromqlError('bad_data', `${name} must be ${expectedText}`);
  return number;
};

/** Each selector is a separate query. */
const maxSelectors = 100;

/**
 * Returns the matchers of each selector in `match[]`. A selector that matches every series is rejected. With
 * `shouldNameParameter`, errors contain the name of the parameter.
 */
export const parseMatcherSets = (
  parameterValues: PrometheusParameters,
  shouldNameParameter = false,
): (readonly Matcher[])[] => {
  const createSelectorError = (problem: string): PromqlError =>
    shouldNameParameter ? createParameterError('match[]', problem) : new PromqlError('bad_data', problem);
  const texts = getTexts(parameterValues, 'match[]');
  if (texts.length > maxSelectors) throw createSelectorError(`more than ${maxSelectors} values of match[]`);
  return texts.map((text) => {
    try {
      const matchers = parseSelector(text);
      if (matchers.some((matcher) => !compileTest(matcher)(''))) return matchers;
    } catch (error) {
      if (error instanceof PromqlSyntaxError) throw createSelectorError(error.message);
      throw error;
    }
    throw createSelectorError('match[] must contain at least one non-empty matcher');
  });
};

/** Calls `work` with the text of a parameter; reports an expression error like Prometheus. */
export const withExpression = <Result>(
  parameterValues: PrometheusParameters,
  work: (text: string) => Result,
): Result => {
  try {
    return work(getText(parameterValues, 'query'));
  } catch (error) {
    if (error instanceof PromqlSyntaxError) throw createParameterError('query', error.message);
    throw error;
  }
};
