/** Filters of rules and groups, from the parameters of Prometheus' `/api/v1/rules`. */
import { createHash } from 'node:crypto';
import { compileTest } from '../../../queries/promql/syntax/matchers.ts';
import type { ListedRule } from '../../../subjects/alerts/prometheus-shape.ts';
import {
  createParameterError,
  createParameterSchema,
  getText,
  getTexts,
  type PrometheusParameters,
  parseMatcherSets,
  selectorParameters,
} from './parameters.ts';

export const ruleParameters = {
  type: createParameterSchema('alert or record; both if omitted'),
  'rule_name[]': createParameterSchema('Rules of these names'),
  'rule_group[]': createParameterSchema('Groups of these names'),
  'file[]': createParameterSchema('Groups of these files'),
  ...selectorParameters,
  exclude_alerts: createParameterSchema('true: without alerts'),
  group_limit: createParameterSchema('Maximum number of groups in the response'),
  group_next_token: createParameterSchema('Token from the previous response'),
};

const ruleTypes = ['', 'alert', 'record'];
const trueTexts = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const falseTexts = ['', '0', 'f', 'F', 'FALSE', 'false', 'False'];

const matchesAny = (allowed: readonly string[], name: string): boolean =>
  allowed.length === 0 || allowed.includes(name);

/** Returns whether the response includes alerts. */
export const shouldIncludeAlerts = (given: PrometheusParameters): boolean => {
  const text = getText(given, 'exclude_alerts');
  if (!trueTexts.includes(text) && !falseTexts.includes(text))
    throw createParameterError(
      'exclude_alerts',
      `error converting exclude_alerts: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  return falseTexts.includes(text);
};

/** The rules with the requested type, names and labels. */
export const filterRules = <Rule extends Pick<ListedRule, 'name' | 'type' | 'labels'>>(
  given: PrometheusParameters,
  rules: readonly Rule[],
): readonly Rule[] => {
  const matcherSets = parseMatcherSets(given).map((matchers) =>
    matchers.map(({ name, ...matcher }) => ({ name, test: compileTest({ name, ...matcher }) })),
  );
  const type = getText(given, 'type').toLowerCase();
  if (!ruleTypes.includes(type)) throw createParameterError('type', `not supported value ${JSON.stringify(type)}`);
  const names = getTexts(given, 'rule_name[]');
  return rules.filter(
    ({ name, labels, type: ruleType }) =>
      (type === '' || ruleType.startsWith(type)) &&
      matchesAny(names, name) &&
      (matcherSets.length === 0 ||
        matcherSets.some((set) => set.every((matcher) => matcher.test(labels[matcher.name] ?? '')))),
  );
};

interface Group {
  readonly name: string;
  readonly file: string;
}

const toGroupToken = ({ file, name }: Group): string => createHash('sha1').update(`${file};${name}`).digest('hex');

const getGroupLimit = (given: PrometheusParameters): number => {
  const text = getText(given, 'group_limit');
  if (text === '') return Number.POSITIVE_INFINITY;
  if (!/^[+-]?\d+$/.test(text))
    throw createParameterError(
      'group_limit',
      `group_limit needs to be a valid number: strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  if (Number(text) <= 0) throw createParameterError('group_limit', 'group_limit needs to be greater than 0');
  return Number(text);
};

/** A page of the groups with the requested names and files, and the position of the next page. */
export const paginateGroups = <PagedGroup extends Group>(
  given: PrometheusParameters,
  groups: readonly PagedGroup[],
): { readonly groups: readonly PagedGroup[]; readonly groupNextToken?: string } => {
  const token = getText(given, 'group_next_token');
  const limit = getGroupLimit(given);
  if (token !== '' && limit === Number.POSITIVE_INFINITY)
    throw createParameterError(
      'group_next_token',
      'group_limit needs to be present in order to paginate over the groups',
    );
  const startIndex = token === '' ? 0 : groups.findIndex((group) => toGroupToken(group) === token);
  if (startIndex < 0)
    throw createParameterError('group_next_token', `invalid group_next_token '${token}'. were rule groups changed?`);
  const [names, files] = [getTexts(given, 'rule_group[]'), getTexts(given, 'file[]')];
  const matchingGroups = groups
    .slice(startIndex)
    .filter(({ name, file }) => matchesAny(names, name) && matchesAny(files, file));
  const next = matchingGroups[limit];
  return { groups: matchingGroups.slice(0, limit), ...(next !== undefined && { groupNextToken: toGroupToken(next) }) };
};
