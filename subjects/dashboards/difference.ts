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

const label = (value: unknown, fallback: string): string =>
  typeof value === 'string' && value !== '' ? `“${value}”` : fallback;

/** Lists whose members are identified by a key instead of their index, and the display name of a member. */
interface KeyedList {
  keyOf(member: Fields): string;
  describeMember(member: Fields, key: string): string;
}

const byId = (noun: string): KeyedList => ({
  keyOf: ({ id }) => String(id),
  describeMember: ({ title, visual }, key) =>
    `${noun} ${label(title, isFields(visual) ? `${String(visual['kind'])} ${key}` : key)}`,
});
const byName = (noun: string): KeyedList => ({
  keyOf: ({ name }) => String(name),
  describeMember: (_, key) => `${noun} ${key}`,
});

/** Description of an override's matcher: `name “errors”`. */
const describeMatch = ({ match }: Fields): string => {
  const { by, ...what } = isFields(match) ? match : {};
  return `${String(by)} “${Object.values(what).join()}”`;
};

const keyedLists: Readonly<Record<string, KeyedList>> = {
  panels: byId('panel'),
  sections: byId('section'),
  variables: byName('variable'),
  annotations: byName('annotation'),
  queries: byName('query'),
  formulas: byName('formula'),
  overrides: { keyOf: describeMatch, describeMember: (_, key) => `override of ${key}` },
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
  called = describeName(name),
): DifferenceLocation => ({
  path: [...path, name],
  subject: called === '' ? subject : [...subject, called],
});

const toDifference = (at: DifferenceLocation, verb: string, before: unknown, after: unknown): DashboardDifference => ({
  path: at.path.join('.'),
  what: `${at.subject.join(': ')} ${verb}`,
  before: before ?? null,
  after: after ?? null,
});

const changeVerb = (before: unknown, after: unknown): string => {
  const wasThere = before !== undefined && before !== null;
  const isThere = after !== undefined && after !== null;
  if (wasThere && !isThere) return 'removed';
  return isThere && !wasThere ? 'added' : 'changed';
};

/** Objects that are compared as a unit, because their parts are meaningless alone. */
const comparedAsUnit: ReadonlySet<string> = new Set(['repeat', 'imported', 'steps', 'unmapped', 'ids']);

const diffPlaces = (at: DifferenceLocation, before: Fields, after: Fields): DashboardDifference[] => {
  const isSized = ['width', 'height'].every((name) => before[name] === after[name]);
  const isPlaced = ['section', 'x', 'y'].every((name) => before[name] === after[name]);
  const verb = isSized ? 'moved' : isPlaced ? 'resized' : 'moved and resized';
  return [toDifference({ path: at.path, subject: at.subject.slice(0, -1) }, verb, before, after)];
};

const diffKeyedLists = (
  at: DifferenceLocation,
  { keyOf, describeMember }: KeyedList,
  [before, after]: readonly [readonly Fields[], readonly Fields[]],
): DashboardDifference[] => {
  const left = new Map(before.map((member) => [keyOf(member), member]));
  const right = new Map(after.map((member) => [keyOf(member), member]));
  const member = (key: string, one: Fields): DifferenceLocation => ({
    path: [...at.path, key],
    subject: [...at.subject.slice(0, -1), describeMember(one, key)],
  });
  const removed = [...left].filter(([key]) => !right.has(key));
  const found = removed.map(([key, one]) => toDifference(member(key, one), 'removed', one, null));
  for (const [key, one] of right) {
    const former = left.get(key);
    found.push(
      ...(former === undefined
        ? [toDifference(member(key, one), 'added', null, one)]
        : diffObjects(member(key, former), former, one)),
    );
  }
  const orderBefore = [...left.keys()].filter((key) => right.has(key));
  const orderAfter = [...right.keys()].filter((key) => left.has(key));
  if (!isDeepStrictEqual(orderBefore, orderAfter)) found.push(toDifference(at, 'reordered', orderBefore, orderAfter));
  return found;
};

const diffObjects = (at: DifferenceLocation, before: Fields, after: Fields): DashboardDifference[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
    diffMember(at, name, before[name], after[name]),
  );

/** The title of the dashboard itself, or of a panel or section. */
const isTitle = ({ path }: DifferenceLocation, name: string): boolean =>
  path.length === 0 ? name === 'name' : path.length === 2 && name === 'title';

/** Returns whether all members of a list have distinct keys. */
const isKeyed = (value: unknown, { keyOf }: KeyedList): value is readonly Fields[] =>
  Array.isArray(value) && value.every(isFields) && new Set(value.map(keyOf)).size === value.length;

const diffMember = (at: DifferenceLocation, name: string, before: unknown, after: unknown): DashboardDifference[] => {
  if (isDeepStrictEqual(before, after)) return [];
  const here = appendLocation(at, name);
  if (isTitle(at, name)) return [toDifference({ path: here.path, subject: at.subject }, 'renamed', before, after)];
  const keyed = Object.hasOwn(keyedLists, name) ? keyedLists[name] : undefined;
  if (keyed !== undefined && isKeyed(before, keyed) && isKeyed(after, keyed))
    return diffKeyedLists(here, keyed, [before, after]);
  if (!isFields(before) || !isFields(after) || comparedAsUnit.has(name) || before['kind'] !== after['kind'])
    return [toDifference(here, changeVerb(before, after), before, after)];
  return name === 'place' ? diffPlaces(here, before, after) : diffObjects(here, before, after);
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
