/** Converts an Alertmanager configuration file to a routing document. */
import type { z } from 'zod';
import { inWorker } from '../../../queries/worker.ts';
import { readYaml, YamlError } from '../../../queries/yaml.ts';
import { AlertRouting, type Matcher, type matcherOperators } from '../../../schemas/resources/alert-routing.ts';
import { type RoutingProblem, routingProblems } from './problems.ts';

/** Result of an import. Receivers have no channels yet, since the file contains its own addresses and secrets. */
export interface ImportedRouting {
  readonly routing: AlertRouting;
  /** Settings of the file that the document does not contain. */
  readonly notes: readonly string[];
}

/** An invalid file. The message contains position and reason. */
export class AlertmanagerFileError extends Error {
  readonly problems: readonly RoutingProblem[];

  constructor(problems: readonly RoutingProblem[]) {
    super(problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '));
    this.name = 'AlertmanagerFileError';
    this.problems = problems;
  }
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const scalar = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);
const listed = (value: unknown): unknown =>
  value === undefined || value === null ? undefined : listOf(value).map(scalar);

/** A matcher with trailing commas. Each part begins unambiguously, so that matching takes linear time. */
const matcherText =
  /("(?:[^"\\]|\\.)*"|[^\s"=!~{},]+)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"\s*|[^\s",][^",]*|)(?:,[\s,]*|$)/sy;

const unquoted = (text: string): string => {
  if (!text.startsWith('"')) return text;
  return text.slice(1, -1).replaceAll(/\\(["\\n])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
};

/** Parses the matchers of one text: `a="b"`, or several in braces or separated by commas. */
export const parseMatchers = (text: string): Matcher[] | undefined => {
  const whole = text.trim();
  const inner = whole.startsWith('{') && whole.endsWith('}') ? whole.slice(1, -1) : whole;
  const listed = inner.replace(/^[\s,]+/, '');
  const found: Matcher[] = [];
  for (matcherText.lastIndex = 0; found.length === 0 || matcherText.lastIndex < listed.length; ) {
    const [match, name = '', operator = '=', value = ''] = matcherText.exec(listed) ?? [];
    if (match === undefined) return undefined;
    found.push({
      name: unquoted(name),
      operator: operator as (typeof matcherOperators)[number],
      value: unquoted(value.trimEnd()),
    });
  }
  return found;
};

const matchersOf = (
  given: Fields,
  [equal, expression, texts]: readonly [string, string, string],
  path: string,
): Matcher[] => {
  const pairs = (field: string, operator: '=' | '=~'): Matcher[] =>
    Object.entries(fieldsOf(given[field])).map(([name, value]) => ({ name, operator, value: String(value) }));
  const parsed = listOf(given[texts]).flatMap((text, index) => {
    const matchers = parseMatchers(String(text));
    if (matchers !== undefined) return matchers;
    throw new AlertmanagerFileError([
      { path: `${path}.${texts}.${index}`, message: `${String(text)} is not a matcher` },
    ]);
  });
  return [...pairs(equal, '='), ...pairs(expression, '=~'), ...parsed];
};

const routeOf = (given: Fields, path: string): object => ({
  receiver: given['receiver'],
  matchers: matchersOf(given, ['match', 'match_re', 'matchers'], path),
  continue: given['continue'] ?? false,
  groupBy: listed(given['group_by']),
  groupWait: given['group_wait'],
  groupInterval: given['group_interval'],
  repeatInterval: given['repeat_interval'],
  muteTimeIntervals: listed(given['mute_time_intervals']),
  activeTimeIntervals: listed(given['active_time_intervals']),
  routes: listOf(given['routes']).map((child, index) => routeOf(fieldsOf(child), `${path}.routes.${index}`)),
});

const intervalOf = (given: Fields): object => ({
  times: Array.isArray(given['times'])
    ? given['times'].map((range) => ({
        startTime: fieldsOf(range)['start_time'],
        endTime: fieldsOf(range)['end_time'],
      }))
    : undefined,
  weekdays: listed(given['weekdays']),
  daysOfMonth: listed(given['days_of_month']),
  months: listed(given['months']),
  years: listed(given['years']),
  location: given['location'] ?? given['time_zone'],
});

const integrationsOf = (receiver: Fields): string[] =>
  Object.entries(receiver).flatMap(([field, value]) =>
    field.endsWith('_configs') && listOf(value).length > 0 ? [`${listOf(value).length} × ${field.slice(0, -8)}`] : [],
  );

/** Integrations whose `send_resolved` defaults to false; for all others it defaults to true. */
const silentAtTheEnd = new Set(['email_configs', 'rocketchat_configs', 'slack_configs', 'wechat_configs']);

const sendsResolved = (receiver: Fields): boolean => {
  const sends = Object.entries(receiver).flatMap(([field, value]) =>
    field.endsWith('_configs')
      ? listOf(value).map((config) => fieldsOf(config)['send_resolved'] ?? !silentAtTheEnd.has(field))
      : [],
  );
  return sends.length === 0 || sends.some((send) => send !== false);
};

const read = (text: string): Fields => {
  try {
    const value = readYaml(text).value();
    if (isFields(value)) return value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new AlertmanagerFileError([{ path: '', message: `this is not valid YAML: ${error.text}` }]);
  }
  throw new AlertmanagerFileError([
    { path: '', message: 'this is not an Alertmanager configuration file: it has no fields' },
  ]);
};

/** Converts a file. Throws `AlertmanagerFileError` with all problems. */
export const importAlertmanager = (text: string): ImportedRouting => {
  const file = read(text);
  const receivers = listOf(file['receivers']).map(fieldsOf);
  const given = {
    route: routeOf(fieldsOf(file['route']), 'route'),
    receivers: receivers.map((receiver) => ({ name: receiver['name'], sendResolved: sendsResolved(receiver) })),
    inhibitRules: listOf(file['inhibit_rules']).map((rule, index) => ({
      sourceMatchers: matchersOf(
        fieldsOf(rule),
        ['source_match', 'source_match_re', 'source_matchers'],
        `inhibit_rules.${index}`,
      ),
      targetMatchers: matchersOf(
        fieldsOf(rule),
        ['target_match', 'target_match_re', 'target_matchers'],
        `inhibit_rules.${index}`,
      ),
      equal: listed(fieldsOf(rule)['equal']),
    })),
    timeIntervals: [...listOf(file['time_intervals']), ...listOf(file['mute_time_intervals'])].map((one) => ({
      name: fieldsOf(one)['name'],
      timeIntervals: listOf(fieldsOf(one)['time_intervals']).map((part) => intervalOf(fieldsOf(part))),
    })),
  };
  // Absent fields get their defaults.
  const result = AlertRouting.safeParse(JSON.parse(JSON.stringify(given)));
  if (!result.success) throw new AlertmanagerFileError(issuesOf(result.error));
  const problems = routingProblems(result.data);
  if (problems.length > 0) throw new AlertmanagerFileError(problems);
  const notes = receivers.flatMap((receiver) => {
    const integrations = integrationsOf(receiver);
    if (integrations.length === 0) return [];
    return [
      `receiver ${String(receiver['name'])} had ${integrations.join(', ')}: create channels for them and name them in its channelIds`,
    ];
  });
  for (const field of ['global', 'templates', 'tracing'])
    if (file[field] !== undefined) notes.push(`${field} is omitted: channels have their own settings and templates`);
  return { routing: result.data, notes };
};

const issuesOf = (error: z.ZodError): RoutingProblem[] =>
  error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));

/** Returns the converted file, or all its problems. */
export const readAlertmanager = (text: string): ImportedRouting | { readonly problems: readonly RoutingProblem[] } => {
  try {
    return importAlertmanager(text);
  } catch (error) {
    if (!(error instanceof AlertmanagerFileError)) throw error;
    return { problems: error.problems };
  }
};

export const readAlertmanagerInWorker = inWorker(import.meta.url, readAlertmanager);
