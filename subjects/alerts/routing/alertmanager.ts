/** Converts an Alertmanager configuration file to a routing document. */

import type { z } from 'zod';
import { runInWorker } from '../../../queries/worker.ts';
import { parseYaml, YamlError } from '../../../queries/yaml.ts';
import { type Fields, isFields, toFields } from '../../../runtime/fields.ts';
import { AlertRouting, type Matcher, type matcherOperators } from '../../../schemas/resources/alert-routing.ts';
import { findRoutingProblems, type RoutingProblem } from './problems.ts';

/** Result of an import. Receivers have no channels yet, since the file contains its own addresses and secrets. */
export interface ImportedRouting {
  readonly routing: AlertRouting;
  /** Settings of the file that the document does not contain. */
  readonly notes: readonly string[];
  /** Integrations of receivers, such as `2 × slack`, by name */
  readonly integrations: Readonly<Record<string, string>>;
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

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const numberToText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);
const toOptionalList = (value: unknown): unknown =>
  value === undefined || value === null ? undefined : toList(value).map(numberToText);

/** A matcher with trailing commas. Each part begins unambiguously, so that matching takes linear time. */
const matcherPattern =
  /("(?:[^"\\]|\\.)*"|[^\s"=!~{},]+)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"\s*|[^\s",][^",]*|)(?:,[\s,]*|$)/sy;

const unquote = (text: string): string => {
  if (!text.startsWith('"')) return text;
  return text.slice(1, -1).replaceAll(/\\(["\\n])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
};

/** Parses the matchers of one text: `a="b"`, or several in braces or separated by commas. */
export const parseMatchers = (text: string): Matcher[] | undefined => {
  const trimmed = text.trim();
  const inner = trimmed.startsWith('{') && trimmed.endsWith('}') ? trimmed.slice(1, -1) : trimmed;
  const matcherList = inner.replace(/^[\s,]+/, '');
  const matchers: Matcher[] = [];
  for (matcherPattern.lastIndex = 0; matchers.length === 0 || matcherPattern.lastIndex < matcherList.length; ) {
    const [match, name = '', operator = '=', value = ''] = matcherPattern.exec(matcherList) ?? [];
    if (match === undefined) return undefined;
    matchers.push({
      name: unquote(name),
      operator: operator as (typeof matcherOperators)[number],
      value: unquote(value.trimEnd()),
    });
  }
  return matchers;
};

const convertMatchers = (
  source: Fields,
  [equalField, regexField, matchersField]: readonly [string, string, string],
  path: string,
): Matcher[] => {
  const convertPairs = (field: string, operator: '=' | '=~'): Matcher[] =>
    Object.entries(toFields(source[field])).map(([name, value]) => ({ name, operator, value: String(value) }));
  const matchersOfTexts = toList(source[matchersField]).flatMap((text, index) => {
    const matchers = parseMatchers(String(text));
    if (matchers !== undefined) return matchers;
    throw new AlertmanagerFileError([
      { path: `${path}.${matchersField}.${index}`, message: `${String(text)} is not a matcher` },
    ]);
  });
  return [...convertPairs(equalField, '='), ...convertPairs(regexField, '=~'), ...matchersOfTexts];
};

const convertRoute = (source: Fields, path: string): object => ({
  receiver: source['receiver'],
  matchers: convertMatchers(source, ['match', 'match_re', 'matchers'], path),
  continue: source['continue'] ?? false,
  groupBy: toOptionalList(source['group_by']),
  groupWait: source['group_wait'],
  groupInterval: source['group_interval'],
  repeatInterval: source['repeat_interval'],
  muteTimeIntervals: toOptionalList(source['mute_time_intervals']),
  activeTimeIntervals: toOptionalList(source['active_time_intervals']),
  routes: toList(source['routes']).map((child, index) => convertRoute(toFields(child), `${path}.routes.${index}`)),
});

const convertInterval = (source: Fields): object => ({
  times: Array.isArray(source['times'])
    ? source['times'].map((range) => ({
        startTime: toFields(range)['start_time'],
        endTime: toFields(range)['end_time'],
      }))
    : undefined,
  weekdays: toOptionalList(source['weekdays']),
  daysOfMonth: toOptionalList(source['days_of_month']),
  months: toOptionalList(source['months']),
  years: toOptionalList(source['years']),
  location: source['location'] ?? source['time_zone'],
});

const describeIntegrations = (receiver: Fields): string[] =>
  Object.entries(receiver).flatMap(([field, value]) =>
    field.endsWith('_configs') && toList(value).length > 0 ? [`${toList(value).length} × ${field.slice(0, -8)}`] : [],
  );

/** Integrations whose `send_resolved` is false by default; for all others, the default is true. */
const withoutResolvedByDefault = new Set(['email_configs', 'rocketchat_configs', 'slack_configs', 'wechat_configs']);

const sendsResolved = (receiver: Fields): boolean => {
  const sendFlags = Object.entries(receiver).flatMap(([field, value]) =>
    field.endsWith('_configs')
      ? toList(value).map((config) => toFields(config)['send_resolved'] ?? !withoutResolvedByDefault.has(field))
      : [],
  );
  return sendFlags.length === 0 || sendFlags.some((isSent) => isSent !== false);
};

const notAlertmanagerError = new AlertmanagerFileError([
  { path: '', message: 'this is not an Alertmanager configuration file: it has no route and receivers' },
]);

const secretKeyPattern = /^alertmanager\.ya?ml$/;

/** Returns the configuration file in a Secret of Kubernetes, as Prometheus Operator reads it; undefined for others. */
const findFileInSecret = ({ kind, stringData, data }: Fields): string | undefined => {
  if (kind !== 'Secret') return undefined;
  const findText = (texts: unknown): unknown =>
    Object.entries(toFields(texts)).find(([key]) => secretKeyPattern.test(key))?.[1];
  const [text, encoded] = [findText(stringData), findText(data)];
  if (typeof text === 'string') return text;
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : undefined;
};

/** Returns the fields of a configuration file, also of one in a Secret. */
const parseFile = (text: string, isInSecret = false): Fields => {
  try {
    const value = parseYaml(text).value();
    const file = isFields(value) && !isInSecret ? findFileInSecret(value) : undefined;
    if (file !== undefined) return parseFile(file, true);
    if (isFields(value) && ('route' in value || 'receivers' in value)) return value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new AlertmanagerFileError([{ path: '', message: `this is not valid YAML: ${error.text}` }]);
  }
  throw notAlertmanagerError;
};

/** Converts a file. Throws `AlertmanagerFileError` with all problems. */
export const importAlertmanager = (text: string): ImportedRouting => {
  const file = parseFile(text);
  const receivers = toList(file['receivers']).map(toFields);
  const converted = {
    route: convertRoute(toFields(file['route']), 'route'),
    receivers: receivers.map((receiver) => ({ name: receiver['name'], sendResolved: sendsResolved(receiver) })),
    inhibitRules: toList(file['inhibit_rules']).map((rule, index) => ({
      sourceMatchers: convertMatchers(
        toFields(rule),
        ['source_match', 'source_match_re', 'source_matchers'],
        `inhibit_rules.${index}`,
      ),
      targetMatchers: convertMatchers(
        toFields(rule),
        ['target_match', 'target_match_re', 'target_matchers'],
        `inhibit_rules.${index}`,
      ),
      equal: toOptionalList(toFields(rule)['equal']),
    })),
    timeIntervals: [...toList(file['time_intervals']), ...toList(file['mute_time_intervals'])].map((timeInterval) => ({
      name: toFields(timeInterval)['name'],
      timeIntervals: toList(toFields(timeInterval)['time_intervals']).map((part) => convertInterval(toFields(part))),
    })),
  };
  // The conversion to JSON removes undefined fields, so that the schema sets their defaults.
  const result = AlertRouting.safeParse(JSON.parse(JSON.stringify(converted)));
  if (!result.success) throw new AlertmanagerFileError(toProblems(result.error));
  const problems = findRoutingProblems(result.data);
  if (problems.length > 0) throw new AlertmanagerFileError(problems);
  const integrations = receivers.flatMap((receiver) => {
    const texts = describeIntegrations(receiver);
    return texts.length === 0 ? [] : [[String(receiver['name']), texts.join(', ')]];
  });
  const notes: string[] = [];
  for (const field of ['global', 'templates', 'tracing'])
    if (file[field] !== undefined) notes.push(`${field} is omitted: channels have their own settings and templates`);
  return { routing: result.data, notes, integrations: Object.fromEntries(integrations) };
};

const toProblems = (error: z.ZodError): RoutingProblem[] =>
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

export const readAlertmanagerInWorker = runInWorker(import.meta.url, readAlertmanager);
