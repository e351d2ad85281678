/** Hints for queries of records without results, or without values for a name. */
import { type Reference, referenceOf } from '../../schemas/fields.ts';
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import { parseSearch } from '../search/parse.ts';
import type { Search, SearchReference } from '../search/tree.ts';
import { type QuerySignal, type SearchSignal, signals } from '../signals/index.ts';
import { misreadIn } from './misread.ts';
import { areRecordsThere, type Names, namesOf, projectsOf } from './names.ts';
import { hintOfValue } from './values.ts';

/** Maximum number of searched values to check. */
const maxValues = 3;

export interface FruitlessQuestion {
  readonly signal: QuerySignal;
  readonly range: Range;
  readonly search?: string | undefined;
  readonly projectId?: string | undefined;
  /** Whether any records were found. */
  readonly found: boolean;
  /** Requested names without a value in the results. */
  readonly names?: readonly string[];
  /** Names used in figures that have no numbers. */
  readonly numbers?: readonly string[];
}

type HintReading = Pick<Reading, 'columns'>;
type Condition = Extract<Search, { is: 'value' }>;
type AttributeReference = Exclude<Reference, { kind: 'field' }>;

/**
 * Returns why nothing was found and an alternative; undefined for none. Runs no statement if everything was found.
 * Otherwise it runs at most one over hourly name counts and three over 100,000 records each.
 */
export const hintOfRecords = async (question: FruitlessQuestion, reading: HintReading): Promise<string | undefined> => {
  const { signal, search, found, names = [], numbers = [] } = question;
  if (found && names.length + numbers.length === 0) return undefined;
  const misread = found || search === undefined ? undefined : misreadIn(search);
  const { countedBy, passing } = signals[signal];
  if (misread !== undefined || countedBy === undefined || passing === undefined) return misread;
  const of = { ...question, signal: signal as SearchSignal };
  const conditions = found || search === undefined ? [] : conditionsIn(parseSearch(search, signal));
  const references = [
    ...conditions.map(({ reference }) => reference),
    ...[...names, ...numbers].map((name) => referenceOf(signals[signal].fields, name) as Reference),
  ].filter(isAttribute);
  const absence = await hintOfAbsence(references, of, reading);
  if (absence !== undefined) return absence;
  const hint = found ? undefined : await hintOfValues(conditions, of, reading);
  const [text] = numbers;
  return hint ?? (text === undefined ? undefined : `no value of ${text} in the results is a number`);
};

/** Returns the hint that there are no records, or none with one of the names. */
const hintOfAbsence = async (
  references: readonly AttributeReference[],
  of: FruitlessQuestion & { readonly signal: SearchSignal },
  reading: HintReading,
): Promise<string | undefined> => {
  if (references.length === 0)
    return of.found || (await areRecordsThere(reading, of)) ? undefined : noRecordsHint(of, reading);
  const known = await namesOf(reading, { ...of, keys: references.map(({ key }) => key) });
  if (!known.areThere) return of.found ? undefined : noRecordsHint(of, reading);
  const missing = references.find((reference) => !known.mayHave(reference));
  return missing === undefined ? undefined : hintOfName(missing, known, of);
};

const noRecordsHint = async (
  { signal, range, projectId }: FruitlessQuestion & { readonly signal: SearchSignal },
  reading: HintReading,
): Promise<string> => {
  const { records } = signals[signal];
  const projects = projectId === undefined ? [] : await projectsOf(reading, { signal, range });
  if (projects.length === 0) return `there are no ${records} in this range: choose another time range`;
  return `project ${projectId} has no ${records} in this range; projects that have some: ${projects.join(', ')}`;
};

const spelled = ({ kind, key }: AttributeReference): string => (kind === 'any' ? key : `${kind}.${key}`);

const hintOfName = (reference: AttributeReference, known: Names, { signal }: FruitlessQuestion): string => {
  const like = known.like(reference.key);
  const near = like.length === 0 ? '' : `; similar names: ${like.join(', ')}`;
  return `none of the ${signals[signal].records} of this range has ${spelled(reference)}${near}`;
};

const hintOfValues = async (
  conditions: readonly Condition[],
  { signal, range, projectId }: FruitlessQuestion & { readonly signal: SearchSignal },
  reading: HintReading,
): Promise<string | undefined> => {
  const comparisons = conditions.flatMap(({ reference, test }) => {
    const name = nameOf(reference);
    return test.is === 'equal' && test.text !== '' && name !== undefined ? [{ name, text: test.text }] : [];
  });
  for (const each of comparisons.slice(0, maxValues)) {
    const hint = await hintOfValue(reading, { signal, range, projectId, ...each });
    if (hint !== undefined) return hint;
  }
  return undefined;
};

/** Returns the name if people write its values; ids have no similar values. */
const nameOf = (reference: SearchReference): string | undefined => {
  if (reference.kind === 'field') return reference.field.type === 'text' ? reference.field.name : undefined;
  return isAttribute(reference) ? spelled(reference) : undefined;
};

const isAttribute = (reference: SearchReference): reference is AttributeReference =>
  reference.kind !== 'field' && reference.kind !== 'events' && reference.kind !== 'links';

/** Returns conditions that may each explain an empty result; exclusions cannot. */
const conditionsIn = (search: Search): Condition[] => {
  if (search.is === 'and' || search.is === 'or') return search.parts.flatMap(conditionsIn);
  return search.is === 'value' ? [search] : [];
};
