/** Hints for queries of records without results, or without values for a name. */
import { type Reference, resolveReference } from '../../schemas/fields.ts';
import type { Range } from '../range.ts';
import { parseSearch } from '../search/parse.ts';
import type { Search, SearchReference } from '../search/tree.ts';
import { type QuerySignal, type SearchSignal, signalDefinitions } from '../signals/index.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { findMisreadSyntax } from './misread-syntax.ts';
import { hasRecordsInRange, listProjects, type RecordNames, readNames } from './names.ts';
import { buildValueHint } from './values.ts';

/** Maximum number of searched values to check. */
const maxValues = 3;

export interface EmptyResult {
  readonly signal: QuerySignal;
  readonly range: Range;
  readonly search?: string | undefined;
  readonly projectId?: string | undefined;
  /** Whether any records were found. */
  readonly hasResults: boolean;
  /** Requested names without a value in the results. */
  readonly names?: readonly string[];
  /** Names in aggregations whose values are not numbers. */
  readonly numericNames?: readonly string[];
}

type ColumnsReader = Pick<TenantReader, 'columns'>;
type Condition = Extract<Search, { is: 'value' }>;
type AttributeReference = Exclude<Reference, { kind: 'field' }>;

/**
 * Returns why nothing was found, and an alternative; undefined if there is no hint. Runs no statement if nothing is
 * missing. Otherwise it runs at most one statement over hourly name counts, and three over 100,000 records each.
 */
export const buildRecordsHint = async (
  emptyResult: EmptyResult,
  reader: ColumnsReader,
): Promise<string | undefined> => {
  const { signal, search, hasResults, names = [], numericNames = [] } = emptyResult;
  if (hasResults && names.length + numericNames.length === 0) return undefined;
  const misread = hasResults || search === undefined ? undefined : findMisreadSyntax(search);
  const { countedBy, streamSearch } = signalDefinitions[signal];
  if (misread !== undefined || countedBy === undefined || streamSearch === undefined) return misread;
  const typedResult = { ...emptyResult, signal: signal as SearchSignal };
  const conditions = hasResults || search === undefined ? [] : listConditions(parseSearch(search, signal));
  const references = [
    ...conditions.map(({ reference }) => reference),
    ...[...names, ...numericNames].map((name) => resolveReference(signalDefinitions[signal].fields, name) as Reference),
  ].filter(isAttribute);
  const absenceHint = await buildAbsenceHint(references, conditions, typedResult, reader);
  if (absenceHint !== undefined) return absenceHint;
  const hint = hasResults ? undefined : await buildValuesHint(conditions, typedResult, reader);
  const [text] = numericNames;
  return hint ?? (text === undefined ? undefined : `no value of ${text} in the results is a number`);
};

/** Returns the hint that there are no records, or none with one of the names. */
const buildAbsenceHint = async (
  references: readonly AttributeReference[],
  conditions: readonly Condition[],
  emptyResult: EmptyResult & { readonly signal: SearchSignal },
  reader: ColumnsReader,
): Promise<string | undefined> => {
  if (references.length === 0)
    return emptyResult.hasResults || (await hasRecordsInRange(reader, emptyResult))
      ? undefined
      : buildNoRecordsHint(emptyResult, reader);
  const recordNames = await readNames(reader, { ...emptyResult, keys: references.map(({ key }) => key) });
  if (!recordNames.hasRecords) return emptyResult.hasResults ? undefined : buildNoRecordsHint(emptyResult, reader);
  const missingReference = references.find((reference) => !recordNames.mayContain(reference));
  if (missingReference === undefined) return undefined;
  const values = conditions.flatMap(({ reference, test }) =>
    reference === missingReference && test.is === 'equal' ? [test.text] : [],
  );
  return `${buildNameHint(missingReference, recordNames, emptyResult)}${buildTextHint(missingReference, values[0], recordNames)}`;
};

/**
 * Returns how to search the text of a name and a value, which may have been a text with a colon such as a host with its
 * port, or a value in a map.
 */
const buildTextHint = (reference: AttributeReference, value: string | undefined, recordNames: RecordNames): string => {
  if (value === undefined || value === '' || reference.kind !== 'any') return '';
  const { key } = reference;
  const segments = key.split('.');
  const map = segments
    .slice(1)
    .map((_, index) => segments.slice(0, index + 1).join('.'))
    .findLast((prefix) => recordNames.isCompound(prefix));
  if (map !== undefined && !recordNames.hasOthers && /^[\w.-]+$/.test(value))
    return `; arrays and maps that were stored by an earlier version are searched in their text: ${map}:*${value}*`;
  return `; to search the text, quote it: "${`${key}:${value}`.replace(/["\\]/g, '\\$&')}"`;
};

const buildNoRecordsHint = async (
  { signal, range, projectId }: EmptyResult & { readonly signal: SearchSignal },
  reader: ColumnsReader,
): Promise<string> => {
  const { records } = signalDefinitions[signal];
  const projects = projectId === undefined ? [] : await listProjects(reader, { signal, range });
  if (projects.length === 0) return `there are no ${records} in this range: choose another time range`;
  return `project ${projectId} has no ${records} in this range; projects that have some: ${projects.join(', ')}`;
};

const formatReference = ({ kind, key }: AttributeReference): string => (kind === 'any' ? key : `${kind}.${key}`);

const buildNameHint = (reference: AttributeReference, recordNames: RecordNames, { signal }: EmptyResult): string => {
  const similarNames = recordNames.findSimilar(reference.key);
  const similarText = similarNames.length === 0 ? '' : `; similar names: ${similarNames.join(', ')}`;
  return `none of the ${signalDefinitions[signal].records} of this range has ${formatReference(reference)}${similarText}`;
};

const buildValuesHint = async (
  conditions: readonly Condition[],
  { signal, range, projectId }: EmptyResult & { readonly signal: SearchSignal },
  reader: ColumnsReader,
): Promise<string | undefined> => {
  const comparisons = conditions.flatMap(({ reference, test }) => {
    const name = getSearchableName(reference);
    return test.is === 'equal' && test.text !== '' && name !== undefined ? [{ name, text: test.text }] : [];
  });
  for (const each of comparisons.slice(0, maxValues)) {
    const hint = await buildValueHint(reader, { signal, range, projectId, ...each });
    if (hint !== undefined) return hint;
  }
  return undefined;
};

/** Returns the name of a field whose values people write; undefined for ids, which have no similar values. */
const getSearchableName = (reference: SearchReference): string | undefined => {
  if (reference.kind === 'field') return reference.field.type === 'text' ? reference.field.name : undefined;
  return isAttribute(reference) ? formatReference(reference) : undefined;
};

const isAttribute = (reference: SearchReference): reference is AttributeReference =>
  reference.kind !== 'field' && reference.kind !== 'events' && reference.kind !== 'links';

/** Returns the conditions of a search that may explain an empty result. Exclusions cannot explain it. */
const listConditions = (search: Search): Condition[] => {
  if (search.is === 'and' || search.is === 'or') return search.parts.flatMap(listConditions);
  return search.is === 'value' ? [search] : [];
};
