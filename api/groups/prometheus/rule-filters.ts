/** Filters of rules and groups, from the parameters of Prometheus' `/api/v1/rules`. */
import { createHash } from 'node:crypto';
import { testOf } from '../../../queries/promql/syntax/matchers.ts';
import type { ListedRule } from '../../../subjects/alerts/prometheus-shape.ts';
import { type Given, invalid, listOf, parameter, selectors, setsOf, textOf } from './parameters.ts';

export const ruleParameters = {
  type: parameter('alert or record; both if omitted'),
  'rule_name[]': parameter('Rules of these names'),
  'rule_group[]': parameter('Groups of these names'),
  'file[]': parameter('Groups of these files'),
  ...selectors,
  exclude_alerts: parameter('true: without alerts'),
  group_limit: parameter('Maximum number of groups in the answer'),
  group_next_token: parameter('Token from the previous answer'),
};

const types = ['', 'alert', 'record'];
const trueTexts = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const falseTexts = ['', '0', 'f', 'F', 'FALSE', 'false', 'False'];

const isAmong = (allowed: readonly string[], name: string): boolean => allowed.length === 0 || allowed.includes(name);

/** Whether the answer includes alerts. */
export const shouldIncludeAlerts = (given: Given): boolean => {
  const text = textOf(given, 'exclude_alerts');
  if (!trueTexts.includes(text) && !falseTexts.includes(text))
    throw invalid(
      'exclude_alerts',
      `error converting exclude_alerts: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  return falseTexts.includes(text);
};

/** The rules with the requested type, names and labels. */
export const chosenRules = <Rule extends Pick<ListedRule, 'name' | 'type' | 'labels'>>(
  given: Given,
  rules: readonly Rule[],
): readonly Rule[] => {
  const sets = setsOf(given).map((matchers) =>
    matchers.map(({ name, ...matcher }) => ({ name, test: testOf({ name, ...matcher }) })),
  );
  const type = textOf(given, 'type').toLowerCase();
  if (!types.includes(type)) throw invalid('type', `not supported value ${JSON.stringify(type)}`);
  const names = listOf(given, 'rule_name[]');
  return rules.filter(
    ({ name, labels, type: own }) =>
      (type === '' || own.startsWith(type)) &&
      isAmong(names, name) &&
      (sets.length === 0 || sets.some((set) => set.every((matcher) => matcher.test(labels[matcher.name] ?? '')))),
  );
};

interface Group {
  readonly name: string;
  readonly file: string;
}

const tokenOf = ({ file, name }: Group): string => createHash('sha1').update(`${file};${name}`).digest('hex');

const limitOf = (given: Given): number => {
  const text = textOf(given, 'group_limit');
  if (text === '') return Number.POSITIVE_INFINITY;
  if (!/^[+-]?\d+$/.test(text))
    throw invalid(
      'group_limit',
      `group_limit needs to be a valid number: strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  if (Number(text) <= 0) throw invalid('group_limit', 'group_limit needs to be greater than 0');
  return Number(text);
};

/** A page of the groups with the requested names and files, and the position of the next page. */
export const pageOfGroups = <Found extends Group>(
  given: Given,
  groups: readonly Found[],
): { readonly groups: readonly Found[]; readonly groupNextToken?: string } => {
  const token = textOf(given, 'group_next_token');
  const limit = limitOf(given);
  if (token !== '' && limit === Number.POSITIVE_INFINITY)
    throw invalid('group_next_token', 'group_limit needs to be present in order to paginate over the groups');
  const from = token === '' ? 0 : groups.findIndex((group) => tokenOf(group) === token);
  if (from < 0) throw invalid('group_next_token', `invalid group_next_token '${token}'. were rule groups changed?`);
  const [names, files] = [listOf(given, 'rule_group[]'), listOf(given, 'file[]')];
  const chosen = groups.slice(from).filter(({ name, file }) => isAmong(names, name) && isAmong(files, file));
  const next = chosen[limit];
  return { groups: chosen.slice(0, limit), ...(next !== undefined && { groupNextToken: tokenOf(next) }) };
};
