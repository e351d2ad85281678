/** Titles of changes and rules for people */
import { capitalize } from './capitalize.ts';

const nouns: Readonly<Record<string, string>> = {
  'service-level-objective': 'SLO',
  'synthetic-check': 'check',
  'notification-channel': 'contact point',
  siem: 'SIEM',
};

const pastVerbs: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  replace: 'replaced',
  delete: 'deleted',
  import: 'imported',
  apply: 'applied',
  set: 'changed',
};

/** Ids in names of rules that SLOs and checks create, which make the names unique */
const idsInNames = / \([0-9a-f]{8}-[0-9a-f-]{27}(?:, \d{1,2})?\)/g;

/** Formats the name of a rule, or a title with one, without the id of the SLO or check that manages the rule. */
export const formatRuleName = (name: string): string => name.replace(idsInNames, '');

/** Formats the title of a change, for example `dashboard.create Shop` as `Dashboard created: Shop`. */
export const formatChangeTitle = (title: string): string => {
  const [, noun, verb, name] = /^([a-z-]+)\.([a-z-]+)(?: (.*))?$/s.exec(title) ?? [];
  if (noun === undefined || verb === undefined) return formatRuleName(title);
  const pastVerb = pastVerbs[verb] ?? verb.replaceAll('-', ' ');
  const action = `${capitalize(nouns[noun] ?? noun.replaceAll('-', ' '))} ${pastVerb}`;
  return name === undefined ? action : `${action}: ${name}`;
};
