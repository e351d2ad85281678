/** Suggests existing values for one that was not found. */

import { buildPlainTextSql, toPlainText } from '../../schemas/tables/search-text.ts';
import type { Range } from '../range.ts';
import { buildRangeParameters } from '../records.ts';
import type { SearchSignal } from '../signals/index.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { ValueReader } from '../values.ts';

/** Limited so that a hint takes a fraction of a second. */
const maxRecords = 100_000;
const maxSuggestions = 3;
const maxCharacters = 100;

export interface ValueQuery {
  readonly signal: SearchSignal;
  readonly range: Range;
  readonly projectId?: string | undefined;
  /** Name as in searches. */
  readonly name: string;
  readonly text: string;
}

/**
 * Returns the hint for a missing value: the same value in another case, similar values, or some existing values.
 * Undefined if the value exists or there are no values. Reads at most 100,000 records of the range.
 */
export const buildValueHint = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { signal, range, projectId, name, text: value }: ValueQuery,
): Promise<string | undefined> => {
  const valueReader = new ValueReader(signal);
  const { text } = valueReader.getEachValue(name);
  const source = valueReader.buildSource(
    projectId === undefined ? 'true' : 'project_id = {project:String}',
    maxRecords,
  );
  const rows = await columns.query<{ value: string; is_like: number }>(
    `SELECT substringUTF8(${text}, 1, ${maxCharacters}) AS value, editDistance(lower(value), {folded:String}) <= 2 AS is_like FROM ${source}
    WHERE ${text} != '' GROUP BY value
    ORDER BY value = {exact:String} DESC, ${buildPlainTextSql('value')} = {exact:String} DESC, lower(value) = {folded:String} DESC, is_like DESC, count() DESC, value LIMIT ${maxSuggestions}`,
    {
      ...buildRangeParameters(range),
      ...(projectId === undefined ? {} : { project: projectId }),
      exact: value,
      folded: value.toLowerCase().slice(0, maxCharacters),
    },
  );
  const [firstRow] = rows;
  if (firstRow === undefined || firstRow.value === value) return undefined;
  const missingText = `no scanned record has ${name} "${value.slice(0, maxCharacters)}"`;
  const colored = rows.find(({ value: candidate }) => candidate !== value && toPlainText(candidate) === value);
  if (colored !== undefined)
    return `${missingText}; records have it with ANSI escape sequences, such as colors: search for ${name}:*${value}*`;
  if (firstRow.value.toLowerCase() === value.toLowerCase())
    return `${missingText}; it exists as "${firstRow.value}", and values are case-sensitive`;
  const similarRows = rows.filter(({ is_like }) => Number(is_like) === 1);
  const values = (similarRows.length > 0 ? similarRows : rows).map(({ value }) => `"${value}"`).join(', ');
  return similarRows.length > 0
    ? `${missingText}; similar values: ${values}`
    : `${missingText}; it has values such as ${values}`;
};
