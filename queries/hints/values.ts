/** Values that records of a range have, for one that was asked for and not found. */
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import { rangeValues } from '../records.ts';
import type { SearchSignal } from '../signals/index.ts';
import { ValueReader } from '../values.ts';

/** A hint is not worth more than a fraction of a second. */
const maxRecords = 100_000;
const maxShown = 3;
const maxCharacters = 100;

export interface ValueQuestion {
  readonly signal: SearchSignal;
  readonly range: Range;
  readonly projectId?: string | undefined;
  /** As searches spell it. */
  readonly name: string;
  readonly wanted: string;
}

/**
 * What to say of a value that was not found: the same in another case, values like it, or some of those that are there. Undefined where
 * it is there, or nothing is. Of the range 100,000 records are read.
 */
export const hintOfValue = async (
  { columns }: Pick<Reading, 'columns'>,
  { signal, range, projectId, name, wanted: value }: ValueQuestion,
): Promise<string | undefined> => {
  const reader = new ValueReader(signal);
  const { text } = reader.value(name);
  const from = reader.from(projectId === undefined ? 'true' : 'project_id = {project:String}', maxRecords);
  const rows = await columns.query<{ value: string; is_like: number }>(
    `SELECT substringUTF8(${text}, 1, ${maxCharacters}) AS value, editDistance(lower(value), {wanted:String}) <= 2 AS is_like FROM ${from}
    WHERE ${text} != '' GROUP BY value
    ORDER BY value = {asked:String} DESC, lower(value) = {wanted:String} DESC, is_like DESC, count() DESC, value LIMIT ${maxShown}`,
    {
      ...rangeValues(range),
      ...(projectId === undefined ? {} : { project: projectId }),
      asked: value,
      wanted: value.toLowerCase().slice(0, maxCharacters),
    },
  );
  const [first] = rows;
  if (first === undefined || first.value === value) return undefined;
  const missing = `no record that was looked at has ${name} "${value.slice(0, maxCharacters)}"`;
  if (first.value.toLowerCase() === value.toLowerCase())
    return `${missing}; it is there as "${first.value}", and values are told apart by case`;
  const like = rows.filter(({ is_like }) => Number(is_like) === 1);
  const values = (like.length > 0 ? like : rows).map(({ value }) => `"${value}"`).join(', ');
  return like.length > 0 ? `${missing}; values like it: ${values}` : `${missing}; it has values such as ${values}`;
};
