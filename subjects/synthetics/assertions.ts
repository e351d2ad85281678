/** What is asserted of an answer, as data: one declared type, what of it cannot be judged, and the judgement. */
import { z } from 'zod';
import { regexOf } from '../../queries/search/regex.ts';
import { type StepCertificate, type WebVitals, webVitals } from '../../schemas/synthetic-runs.ts';
import { cut } from './cut.ts';
import { jsonPathProblem, readJsonPath } from './json-path.ts';

/** Parts of a step in the order of time; they add up to the whole. */
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

/** What a source is named by: a text that is described, or one of a list. Others have no name. */
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
  source: z.enum(sourceNames).describe('`json` reads the body by JSONPath, `phase` and `duration` are milliseconds'),
  name: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe('The header, JSONPath, phase, part of the certificate or web vital'),
  operator: z.enum(operators),
  value: z.union([z.string().max(4096), z.number()]).optional(),
  level: z.enum(['fail', 'degrade']).default('fail').describe('degrade: slow or almost expired is not down'),
});
export type Assertion = z.output<typeof Assertion>;

/** What a step saw. What it did not see is left out. */
export interface Observation {
  readonly status?: number;
  /** By names in lower case. */
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  readonly body?: string;
  readonly size?: number;
  readonly durationMs?: number;
  readonly phases?: Readonly<Partial<Record<(typeof phases)[number], number>>>;
  readonly redirects?: number;
  readonly protocol?: string;
  readonly certificate?: StepCertificate & { readonly daysLeft: number };
  readonly records?: readonly string[];
  /** Of a name server's or a gRPC answer: `NXDOMAIN`, `SERVING`. */
  readonly code?: string;
  /** Percentage of echo requests that were not answered. */
  readonly loss?: number;
  readonly vitals?: WebVitals;
}

/** What is wrong, and where. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

const isComparison = (operator: Assertion['operator']): boolean => ['lt', 'lte', 'gt', 'gte'].includes(operator);
const isPattern = (operator: Assertion['operator']): boolean => operator === 'matches' || operator === 'notMatches';
const isPresence = (operator: Assertion['operator']): boolean => operator === 'exists' || operator === 'absent';

const nameProblem = ({ source, name }: Assertion): string | undefined => {
  const names = namesOf[source];
  if (names === undefined) return name === undefined ? undefined : `must be left out for ${source}`;
  if (name === undefined) return `is required for ${source}: ${typeof names === 'string' ? names : names.join(', ')}`;
  if (typeof names !== 'string') return names.includes(name) ? undefined : `must be one of ${names.join(', ')}`;
  return source === 'json' ? jsonPathProblem(name) : undefined;
};

const valueProblem = ({ source, name, operator, value }: Assertion): string | undefined => {
  if (isPresence(operator)) return value === undefined ? undefined : `must be left out for ${operator}`;
  if (value === undefined) return `is required for ${operator}`;
  if (isPattern(operator)) {
    const regex = regexOf(String(value));
    return typeof regex === 'string' ? `is no regular expression (RE2): ${regex}` : undefined;
  }
  const isNumber = numbers.has(source) || (source === 'certificate' && name === 'daysLeft');
  if (isComparison(operator) || (isNumber && (operator === 'is' || operator === 'isNot')))
    return numberOf(value) === undefined ? 'must be a number' : undefined;
  return undefined;
};

/** What of an assertion cannot be judged. Paths are within the assertion. */
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
    // A body that is no JSON, or nested too deep to be searched, has no values.
    return [];
  }
};

const present = (value: unknown): readonly unknown[] => (value === undefined ? [] : [value]);

const certificateValues = (name: string, certificate: Observation['certificate']): readonly unknown[] => {
  if (certificate === undefined) return [];
  return name === 'name' ? certificate.names : present(name === 'issuer' ? certificate.issuer : certificate.daysLeft);
};

/** How each source is read from what a step saw. */
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

/** Why an assertion does not hold, for people; nothing if it holds. */
const failureOf = (assertion: Assertion, seen: Observation): string | undefined => {
  const { source, name = '', operator, value = '' } = assertion;
  const values = readers[source](seen, name);
  if (holds(values, operator, value)) return undefined;
  const what = name === '' ? source : `${source} ${name}`;
  const found = values.length === 0 ? 'is absent' : `is ${cut(values.map(textOf).join(', '), maxFoundLength)}`;
  return `${what} ${found}, expected: ${[operator, value].join(' ').trim()}`;
};

/** What assertions say of an answer: the worst level of those that do not hold, and why. */
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
