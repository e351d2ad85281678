/** Assertions on responses, as data: schema, validation and evaluation */
import { z } from 'zod';
import { regexOf } from '../../queries/search/regex.ts';
import { type StepCertificate, type WebVitals, webVitals } from '../../schemas/synthetic-runs.ts';
import { cut } from './cut.ts';
import { jsonPathProblem, readJsonPath } from './json-path.ts';

/** Phases of a step in time order; they add up to the total */
export const phases = ['lookup', 'connect', 'tls', 'send', 'wait', 'receive'] as const;

export const operators = [
  ...(['is', 'isNot', 'contains', 'notContains', 'matches', 'notMatches'] as const),
  ...(['lt', 'lte', 'gt', 'gte', 'exists', 'absent'] as const),
];
const certificateParts = ['daysLeft', 'issuer', 'name'] as const;

const sourceNames = [
  ...(['status', 'header', 'body', 'json', 'size', 'duration', 'phase', 'redirects'] as const),
  ...(['protocol', 'certificate', 'record', 'code', 'loss'] as const),
  'vital' as const,
];
type AssertionSource = (typeof sourceNames)[number];

/** Names of a source: a description of a text, or a list. Other sources have no name. */
const namesOf: Partial<Record<AssertionSource, string | readonly string[]>> = {
  header: 'the name of a header',
  json: 'a JSONPath',
  phase: phases,
  certificate: certificateParts,
  vital: webVitals,
};
const numbers: ReadonlySet<AssertionSource> = new Set([
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
    .describe('Source of the value; `json` reads the body by JSONPath, `phase` and `duration` are in milliseconds'),
  name: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe('Name of the header, JSONPath, phase, part of the certificate or web vital'),
  operator: z.enum(operators),
  value: z.union([z.string().max(4096), z.number()]).optional(),
  level: z
    .enum(['fail', 'degrade'])
    .default('fail')
    .describe('Level of a failure; `degrade` for slow responses or certificates that expire soon'),
});
export type Assertion = z.output<typeof Assertion>;

/** Data observed by a step; missing data is omitted */
export interface Observation {
  readonly status?: number;
  /** Headers by lowercase name */
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  readonly body?: string;
  readonly size?: number;
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

const isComparison = (operator: Assertion['operator']): boolean => ['lt', 'lte', 'gt', 'gte'].includes(operator);
const isPattern = (operator: Assertion['operator']): boolean => operator === 'matches' || operator === 'notMatches';
const isPresence = (operator: Assertion['operator']): boolean => operator === 'exists' || operator === 'absent';

const nameProblem = ({ source, name }: Assertion): string | undefined => {
  const names = namesOf[source];
  if (names === undefined) return name === undefined ? undefined : `must not be set for ${source}`;
  if (name === undefined) return `is required for ${source}: ${typeof names === 'string' ? names : names.join(', ')}`;
  if (typeof names !== 'string') return names.includes(name) ? undefined : `must be one of ${names.join(', ')}`;
  return source === 'json' ? jsonPathProblem(name) : undefined;
};

const valueProblem = ({ source, name, operator, value }: Assertion): string | undefined => {
  if (isPresence(operator)) return value === undefined ? undefined : `must not be set for ${operator}`;
  if (value === undefined) return `is required for ${operator}`;
  if (isPattern(operator)) {
    const regex = regexOf(String(value));
    return typeof regex === 'string' ? `is not a valid regular expression (RE2): ${regex}` : undefined;
  }
  const isNumber = numbers.has(source) || (source === 'certificate' && name === 'daysLeft');
  if (isComparison(operator) || (isNumber && (operator === 'is' || operator === 'isNot')))
    return numberOf(value) === undefined ? 'must be a number' : undefined;
  return undefined;
};

/** Returns the problems of an assertion. Paths are relative to the assertion. */
export const assertionProblems = (assertion: Assertion): Problem[] =>
  Object.entries({ name: nameProblem(assertion), value: valueProblem(assertion) }).flatMap(([path, message]) =>
    message === undefined ? [] : [{ path, message }],
  );

const numberOf = (value: unknown): number | undefined => {
  if (typeof value === 'string' && value.trim() === '') return undefined;
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
};

const jsonValues = (path: string, body: string): readonly unknown[] => {
  const read = readJsonPath(path);
  if (typeof read === 'string') return [];
  try {
    return read.valuesIn(JSON.parse(body));
  } catch {
    // A body that is not JSON, or nested too deeply to search, has no values.
    return [];
  }
};

const present = (value: unknown): readonly unknown[] => (value === undefined ? [] : [value]);

const certificateValues = (name: string, certificate: Observation['certificate']): readonly unknown[] => {
  if (certificate === undefined) return [];
  return name === 'name' ? certificate.names : present(name === 'issuer' ? certificate.issuer : certificate.daysLeft);
};

/** Reads each source from the observed data */
const readers: Readonly<Record<AssertionSource, (seen: Observation, name: string) => readonly unknown[]>> = {
  status: ({ status }) => present(status),
  header: ({ headers = {} }, name) =>
    Object.hasOwn(headers, name.toLowerCase()) ? (headers[name.toLowerCase()] ?? []) : [],
  body: ({ body }) => present(body),
  json: ({ body }, name) => (body === undefined ? [] : jsonValues(name, body)),
  size: ({ size }) => present(size),
  duration: ({ durationMs }) => present(durationMs),
  phase: ({ phases: seen = {} }, name) => present(seen[name as (typeof phases)[number]]),
  redirects: ({ redirects }) => present(redirects),
  protocol: ({ protocol }) => present(protocol),
  certificate: ({ certificate }, name) => certificateValues(name, certificate),
  record: ({ records = [] }) => records,
  code: ({ code }) => present(code),
  loss: ({ loss }) => present(loss),
  vital: ({ vitals = {} }, name) => present(vitals[name as keyof WebVitals]),
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const isEqual = (found: unknown, value: string | number): boolean =>
  textOf(found) === String(value) || (typeof found === 'number' && numberOf(value) === found);

const compares = (found: unknown, operator: Assertion['operator'], value: string | number): boolean => {
  const left = numberOf(found);
  const right = numberOf(value);
  if (left === undefined || right === undefined) return false;
  if (operator === 'lt') return left < right;
  if (operator === 'lte') return left <= right;
  return operator === 'gt' ? left > right : left >= right;
};

const holds = (values: readonly unknown[], operator: Assertion['operator'], value: string | number): boolean => {
  switch (operator) {
    case 'exists':
      return values.length > 0;
    case 'absent':
      return values.length === 0;
    case 'is':
    case 'isNot':
      return values.some((found) => isEqual(found, value)) === (operator === 'is');
    case 'contains':
    case 'notContains':
      return values.some((found) => textOf(found).includes(String(value))) === (operator === 'contains');
    case 'matches':
    case 'notMatches': {
      const regex = regexOf(String(value));
      if (typeof regex === 'string') return false;
      return values.some((found) => regex.test(textOf(found))) === (operator === 'matches');
    }
    default:
      return values.some((found) => compares(found, operator, value));
  }
};

const maxFoundLength = 200;

/** Returns why an assertion fails, for people; `undefined` if it holds. */
const failureOf = (assertion: Assertion, seen: Observation): string | undefined => {
  const { source, name = '', operator, value = '' } = assertion;
  const values = readers[source](seen, name);
  if (holds(values, operator, value)) return undefined;
  const what = name === '' ? source : `${source} ${name}`;
  const found = values.length === 0 ? 'is absent' : `is ${cut(values.map(textOf).join(', '), maxFoundLength)}`;
  return `${what} ${found}, expected: ${[operator, value].join(' ').trim()}`;
};

/** Returns the worst level of the failed assertions, with the reasons. */
export const judgeAssertions = (
  assertions: readonly Assertion[],
  seen: Observation,
): { readonly outcome: 'passed' | 'degraded' | 'failed'; readonly messages: readonly string[] } => {
  const failures = assertions.flatMap((assertion) => {
    const message = failureOf(assertion, seen);
    return message === undefined ? [] : [{ level: assertion.level, message }];
  });
  const messages = failures.map(({ message }) => message);
  if (failures.length === 0) return { outcome: 'passed', messages };
  return { outcome: failures.some(({ level }) => level === 'fail') ? 'failed' : 'degraded', messages };
};
