/** Assertions on responses, as data: schema, validation and evaluation */
import { z } from 'zod';
import { compileRegex } from '../../queries/search/regex.ts';
import { type StepAssertion, type StepCertificate, type WebVitals, webVitals } from '../../schemas/synthetic-runs.ts';
import { truncate } from './cut.ts';
import { writeExactJson } from './json.ts';
import { findJsonPathProblem } from './json-path.ts';
import { readJsonValues, readXmlValues } from './response-documents.ts';
import { findXPathProblem } from './x-path.ts';

/** Phases of a step in time order; they add up to the total */
export const phases = ['lookup', 'connect', 'tls', 'send', 'wait', 'receive'] as const;

export const operators = [
  ...(['is', 'isNot', 'contains', 'notContains', 'matches', 'notMatches'] as const),
  ...(['lt', 'lte', 'gt', 'gte', 'exists', 'absent'] as const),
];
const certificateParts = ['daysLeft', 'issuer', 'name'] as const;

const sourceNames = [
  ...(['status', 'header', 'body', 'json', 'xml', 'size', 'duration', 'phase', 'redirects'] as const),
  ...(['protocol', 'certificate', 'record', 'code', 'loss'] as const),
  'vital' as const,
];
type AssertionSource = (typeof sourceNames)[number];

/** Names of a source: a description of a text, or a list. Other sources have no name. */
const sourceNameRules: Partial<Record<AssertionSource, string | readonly string[]>> = {
  header: 'the name of a header',
  json: 'a JSONPath',
  xml: 'an XPath',
  phase: phases,
  certificate: certificateParts,
  vital: webVitals,
};
const numericSources: ReadonlySet<AssertionSource> = new Set([
  'status',
  'size',
  'duration',
  'phase',
  'redirects',
  'loss',
  'vital',
]);

/** One assertion. */
export const Assertion = z.strictObject({
  source: z
    .enum(sourceNames)
    .describe(
      'Source of the value; `json` reads the body by JSONPath, `xml` by XPath, `phase` and `duration` are in milliseconds',
    ),
  name: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe('Name of the header, JSONPath, XPath, phase, part of the certificate or web vital'),
  operator: z.enum(operators),
  value: z.union([z.string().max(4096), z.number()]).optional(),
  level: z
    .enum(['fail', 'degrade'])
    .default('fail')
    .describe('Level of a failure; `degrade` for slow responses or certificates that expire soon'),
});
export type Assertion = z.output<typeof Assertion>;

export interface CutBody {
  readonly readBytes: number;
  readonly isSizeKnown: boolean;
}

/** Data observed by a step; missing data is omitted */
export interface Observation {
  readonly status?: number;
  /** Headers by lowercase name */
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  readonly body?: string;
  readonly size?: number;
  /** Set if `body` is only the beginning: the bytes that were read. Unless the size is known, `size` is the same. */
  readonly cut?: CutBody | undefined;
  readonly durationMs?: number;
  readonly phases?: Readonly<Partial<Record<(typeof phases)[number], number>>>;
  readonly redirects?: number;
  readonly protocol?: string;
  readonly certificate?: StepCertificate & { readonly daysLeft: number };
  readonly records?: readonly string[];
  /** Code of a DNS or gRPC response: `NXDOMAIN`, `SERVING` */
  readonly code?: string;
  /** Percentage of unanswered echo requests */
  readonly loss?: number;
  readonly vitals?: WebVitals;
}

/** A problem and its path */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

const isComparisonOperator = (operator: Assertion['operator']): boolean =>
  ['lt', 'lte', 'gt', 'gte'].includes(operator);
const isPatternOperator = (operator: Assertion['operator']): boolean =>
  operator === 'matches' || operator === 'notMatches';
const isPresenceOperator = (operator: Assertion['operator']): boolean => operator === 'exists' || operator === 'absent';

const findNameProblem = ({ source, name }: Assertion): string | undefined => {
  const names = sourceNameRules[source];
  if (names === undefined) return name === undefined ? undefined : `must not be set for ${source}`;
  if (name === undefined) return `is required for ${source}: ${typeof names === 'string' ? names : names.join(', ')}`;
  if (typeof names !== 'string') return names.includes(name) ? undefined : `must be one of ${names.join(', ')}`;
  if (source === 'xml') return findXPathProblem(name);
  return source === 'json' ? findJsonPathProblem(name) : undefined;
};

const findValueProblem = ({ source, name, operator, value }: Assertion): string | undefined => {
  if (isPresenceOperator(operator)) return value === undefined ? undefined : `must not be set for ${operator}`;
  if (value === undefined) return `is required for ${operator}`;
  if (isPatternOperator(operator)) {
    const regex = compileRegex(String(value));
    return typeof regex === 'string' ? `is not a valid regular expression (RE2): ${regex}` : undefined;
  }
  const isNumber = numericSources.has(source) || (source === 'certificate' && name === 'daysLeft');
  if (isComparisonOperator(operator) || (isNumber && (operator === 'is' || operator === 'isNot')))
    return parseNumber(value) === undefined ? 'must be a number' : undefined;
  return undefined;
};

const findNumberProblem = ({ value }: Assertion): string | undefined =>
  Number.isInteger(value) && !Number.isSafeInteger(value)
    ? `must be a text in quotes: numbers above ${Number.MAX_SAFE_INTEGER} are not exact`
    : undefined;

/** Returns the problems of an assertion. Paths are relative to the assertion. */
export const findAssertionProblems = (assertion: Assertion): Problem[] =>
  Object.entries({
    name: findNameProblem(assertion),
    value: findNumberProblem(assertion) ?? findValueProblem(assertion),
  }).flatMap(([path, message]) => (message === undefined ? [] : [{ path, message }]));

const parseNumber = (value: unknown): number | undefined => {
  if (typeof value === 'string' && value.trim() === '') return undefined;
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
};

const toValues = (value: unknown): readonly unknown[] => (value === undefined ? [] : [value]);

const getCertificateValues = (name: string, certificate: Observation['certificate']): readonly unknown[] => {
  if (certificate === undefined) return [];
  return name === 'name' ? certificate.names : toValues(name === 'issuer' ? certificate.issuer : certificate.daysLeft);
};

/** Reads each source from the observed data; a text says why values cannot be read. */
const sourceReaders: Readonly<
  Record<AssertionSource, (observation: Observation, name: string) => readonly unknown[] | string>
> = {
  status: ({ status }) => toValues(status),
  header: ({ headers = {} }, name) =>
    Object.hasOwn(headers, name.toLowerCase()) ? (headers[name.toLowerCase()] ?? []) : [],
  body: ({ body }) => toValues(body),
  json: (observation, name) => readJsonValues(name, observation),
  xml: (observation, name) => readXmlValues(name, observation),
  size: ({ size }) => toValues(size),
  duration: ({ durationMs }) => toValues(durationMs),
  phase: ({ phases: durations = {} }, name) => toValues(durations[name as (typeof phases)[number]]),
  redirects: ({ redirects }) => toValues(redirects),
  protocol: ({ protocol }) => toValues(protocol),
  certificate: ({ certificate }, name) => getCertificateValues(name, certificate),
  record: ({ records = [] }) => records,
  code: ({ code }) => toValues(code),
  loss: ({ loss }) => toValues(loss),
  vital: ({ vitals = {} }, name) => toValues(vitals[name as keyof WebVitals]),
};

const formatValue = (value: unknown): string => (typeof value === 'string' ? value : writeExactJson(value));

const isEqual = (actualValue: unknown, value: string | number): boolean =>
  formatValue(actualValue) === String(value) || (typeof actualValue === 'number' && parseNumber(value) === actualValue);

const parseComparable = (value: unknown): bigint | number | undefined =>
  typeof value === 'bigint' || (typeof value === 'string' && /^\s*-?\d{16,}\s*$/.test(value))
    ? BigInt(value)
    : parseNumber(value);

const isComparisonTrue = (actualValue: unknown, operator: Assertion['operator'], value: string | number): boolean => {
  const left = parseComparable(actualValue);
  const right = parseComparable(value);
  if (left === undefined || right === undefined) return false;
  if (operator === 'lt') return left < right;
  if (operator === 'lte') return left <= right;
  return operator === 'gt' ? left > right : left >= right;
};

const isAssertionTrue = (
  values: readonly unknown[],
  operator: Assertion['operator'],
  value: string | number,
): boolean => {
  switch (operator) {
    case 'exists':
      return values.length > 0;
    case 'absent':
      return values.length === 0;
    case 'is':
    case 'isNot':
      return values.some((actualValue) => isEqual(actualValue, value)) === (operator === 'is');
    case 'contains':
    case 'notContains':
      return (
        values.some((actualValue) => formatValue(actualValue).includes(String(value))) === (operator === 'contains')
      );
    case 'matches':
    case 'notMatches': {
      const regex = compileRegex(String(value));
      if (typeof regex === 'string') return false;
      return values.some((actualValue) => regex.test(formatValue(actualValue))) === (operator === 'matches');
    }
    default:
      return values.some((actualValue) => isComparisonTrue(actualValue, operator, value));
  }
};

const maxActualLength = 200;

/** Sources that depend on the whole body, with the operators that the beginning of the body can fulfill */
const cutSources: Partial<Record<AssertionSource, ReadonlySet<Assertion['operator']>>> = {
  body: new Set(['contains', 'matches', 'exists']),
  size: new Set(['gt', 'gte', 'exists']),
  json: new Set(),
  xml: new Set(),
};

interface Evaluation {
  /** Observed value, truncated; empty if there is none */
  readonly actualValue: string;
  /** Why the assertion fails, for people; `undefined` if it holds */
  readonly failure: string | undefined;
}

const evaluateAssertion = (assertion: Assertion, observation: Observation): Evaluation => {
  const { source, name = '', operator, value = '' } = assertion;
  const values = sourceReaders[source](observation, name);
  const subject = name === '' ? source : `${source} ${name}`;
  if (typeof values === 'string') return { actualValue: '', failure: `${subject} ${values}` };
  const actualValue = truncate(values.map(formatValue).join(', '), maxActualLength);
  const isKnown = observation.cut === undefined || (source === 'size' && observation.cut.isSizeKnown);
  const cutOperators = isKnown ? undefined : cutSources[source];
  const isTrue = isAssertionTrue(values, operator, value);
  if (cutOperators !== undefined && !(isTrue && cutOperators.has(operator)))
    return {
      actualValue: '',
      failure: `${subject} is not known: only the first ${observation.cut?.readBytes} bytes of the answer are read, expected: ${[operator, value].join(' ').trim()}`,
    };
  if (isTrue) return { actualValue, failure: undefined };
  const actual = values.length === 0 ? 'is absent' : `is ${actualValue}`;
  return { actualValue, failure: `${subject} ${actual}, expected: ${[operator, value].join(' ').trim()}` };
};

const outcomesByLevel = { fail: 'failed', degrade: 'degraded' } as const;

/** Returns the worst level of the failed assertions, with the reasons, and the result of each assertion in order. */
export const judgeAssertions = (
  assertions: readonly Assertion[],
  observation: Observation,
): {
  readonly outcome: StepAssertion['outcome'];
  readonly messages: readonly string[];
  readonly results: StepAssertion[];
} => {
  const messages: string[] = [];
  const results = assertions.map((assertion): StepAssertion => {
    const { source, name, operator, value, level } = assertion;
    const { actualValue, failure } = evaluateAssertion(assertion, observation);
    if (failure !== undefined) messages.push(failure);
    return {
      source,
      operator,
      ...(name !== undefined && { name }),
      ...(value !== undefined && { value: String(value) }),
      outcome: failure === undefined ? 'passed' : outcomesByLevel[level],
      found: actualValue,
    };
  });
  const outcome = (['failed', 'degraded'] as const).find((worst) => results.some((result) => result.outcome === worst));
  return { outcome: outcome ?? 'passed', messages, results };
};
