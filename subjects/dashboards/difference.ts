/** Differences between two dashboards, as descriptions in words. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type Fields, isFields } from '../../runtime/fields.ts';
import type { DashboardFields } from './document.ts';
import { withStableIds } from './ids.ts';

export const DashboardDifference = z.strictObject({
  path: z.string().describe('Dotted path, with list members by ID or name: panels.errors.fields.unit'),
  what: z.string().describe('Description in words: panel “Errors”: unit changed'),
  before: z.unknown().describe('Previous value; `null` if there was none'),
  after: z.unknown(),
});
export type DashboardDifference = z.output<typeof DashboardDifference>;

const quoteOr = (value: unknown, fallback: string): string =>
  typeof value === 'string' && value !== '' ? `“${value}”` : fallback;

/** Lists whose members are identified by a key instead of their index, and the display name of a member. */
interface KeyedList {
  getKey(member: Fields): string;
  describeMember(member: Fields, key: string): string;
}

const createIdList = (noun: string): KeyedList => ({
  getKey: ({ id }) => String(id),
  describeMember: ({ title, visual }, key) =>
    `${noun} ${quoteOr(title, isFields(visual) ? `${String(visual['kind'])} ${key}` : key)}`,
});
const createNameList = (noun: string): KeyedList => ({
  getKey: ({ name }) => String(name),
  describeMember: (_, key) => `${noun} ${key}`,
});

/** Description of an override's matcher: `name “errors”`. */
const describeMatch = ({ match }: Fields): string => {
  const { by, ...matcherValues } = isFields(match) ? match : {};
  return `${String(by)} “${Object.values(matcherValues).join()}”`;
};

const keyedLists: Readonly<Record<string, KeyedList>> = {
  panels: createIdList('panel'),
  sections: createIdList('section'),
  variables: createNameList('variable'),
  annotations: createNameList('annotation'),
  queries: createNameList('query'),
  formulas: createNameList('formula'),
  overrides: { getKey: describeMatch, describeMember: (_, key) => `override of ${key}` },
};

/** Display names of members, if they differ from the member name. Members without one are omitted. */
const memberNames: Readonly<Record<string, string>> = {
  queryVersion: 'query format version',
  min: 'lower limit',
  max: 'upper limit',
  mappings: 'value mappings',
  visual: 'display',
  fields: '',
  query: '',
  settings: '',
  savedQueryId: 'saved query',
};
const describeName = (name: string): string =>
  (Object.hasOwn(memberNames, name) ? memberNames[name] : undefined) ??
  name.replaceAll(/[A-Z]/g, (character) => ` ${character.toLowerCase()}`);

/** Location of a difference: its path and its display name. */
interface DifferenceLocation {
  readonly path: readonly string[];
  readonly subject: readonly string[];
}
const appendLocation = (
  { path, subject }: DifferenceLocation,
  name: string,
  displayName = describeName(name),
): DifferenceLocation => ({
  path: [...path, name],
  subject: displayName === '' ? subject : [...subject, displayName],
});

const toDifference = (
  location: DifferenceLocation,
  verb: string,
  before: unknown,
  after: unknown,
): DashboardDifference => ({
  path: location.path.join('.'),
  what: `${location.subject.join(': ')} ${verb}`,
  before: before ?? null,
  after: after ?? null,
});

const getChangeVerb = (before: unknown, after: unknown): string => {
  const wasThere = before !== undefined && before !== null;
  const isThere = after !== undefined && after !== null;
  if (wasThere && !isThere) return 'removed';
  return isThere && !wasThere ? 'added' : 'changed';
};

/** Objects that are compared as a unit, because their parts are meaningless alone. */
const comparedAsUnit: ReadonlySet<string> = new Set(['repeat', 'imported', 'steps', 'unmapped', 'ids']);

const diffLayouts = (location: DifferenceLocation, before: Fields, after: Fields): DashboardDifference[] => {
  const isSameSize = ['width', 'height'].every((name) => before[name] === after[name]);
  const isSamePosition = ['section', 'x', 'y'].every((name) => before[name] === after[name]);
  const verb = isSameSize ? 'moved' : isSamePosition ? 'resized' : 'moved and resized';
  return [toDifference({ path: location.path, subject: location.subject.slice(0, -1) }, verb, before, after)];
};

const diffKeyedLists = (
  location: DifferenceLocation,
  { getKey, describeMember }: KeyedList,
  [before, after]: readonly [readonly Fields[], readonly Fields[]],
): DashboardDifference[] => {
  const left = new Map(before.map((member) => [getKey(member), member]));
  const right = new Map(after.map((member) => [getKey(member), member]));
  const toMemberLocation = (key: string, one: Fields): DifferenceLocation => ({
    path: [...location.path, key],
    subject: [...location.subject.slice(0, -1), describeMember(one, key)],
  });
  const removedMembers = [...left].filter(([key]) => !right.has(key));
  const differences = removedMembers.map(([key, one]) =>
    toDifference(toMemberLocation(key, one), 'removed', one, null),
  );
  for (const [key, one] of right) {
    const previous = left.get(key);
    differences.push(
      ...(previous === undefined
        ? [toDifference(toMemberLocation(key, one), 'added', null, one)]
        : diffObjects(toMemberLocation(key, previous), previous, one)),
    );
  }
  const orderBefore = [...left.keys()].filter((key) => right.has(key));
  const orderAfter = [...right.keys()].filter((key) => left.has(key));
  if (!isDeepStrictEqual(orderBefore, orderAfter))
    differences.push(toDifference(location, 'reordered', orderBefore, orderAfter));
  return differences;
};

const diffObjects = (location: DifferenceLocation, before: Fields, after: Fields): DashboardDifference[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
    diffMember(location, name, before[name], after[name]),
  );

/** The title of the dashboard itself, or of a panel or section. */
const isTitle = ({ path }: DifferenceLocation, name: string): boolean =>
  path.length === 0 ? name === 'name' : path.length === 2 && name === 'title';

/** Returns whether all members of a list have distinct keys. */
const isKeyed = (value: unknown, { getKey }: KeyedList): value is readonly Fields[] =>
  Array.isArray(value) && value.every(isFields) && new Set(value.map(getKey)).size === value.length;

const diffMember = (
  location: DifferenceLocation,
  name: string,
  before: unknown,
  after: unknown,
): DashboardDifference[] => {
  if (isDeepStrictEqual(before, after)) return [];
  const memberLocation = appendLocation(location, name);
  if (isTitle(location, name))
    return [toDifference({ path: memberLocation.path, subject: location.subject }, 'renamed', before, after)];
  const keyedList = Object.hasOwn(keyedLists, name) ? keyedLists[name] : undefined;
  if (keyedList !== undefined && isKeyed(before, keyedList) && isKeyed(after, keyedList))
    return diffKeyedLists(memberLocation, keyedList, [before, after]);
  if (!isFields(before) || !isFields(after) || comparedAsUnit.has(name) || before['kind'] !== after['kind'])
    return [toDifference(memberLocation, getChangeVerb(before, after), before, after)];
  return name === 'place' ? diffLayouts(memberLocation, before, after) : diffObjects(memberLocation, before, after);
};

/**
 * Returns the changes from one dashboard to another. Key order, explicit defaults and generated IDs are not
 * differences. Both dashboards must be in the current form.
 */
export const findDashboardDifferences = (before: DashboardFields, after: DashboardFields): DashboardDifference[] =>
  diffObjects({ path: [], subject: ['dashboard'] }, before, withStableIds(before, after)).map((one) => ({
    ...one,
    what: one.what.replace(/^dashboard: /, ''),
  }));
