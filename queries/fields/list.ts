/** Catalog of a data source's fields, page by page. */
import { z } from 'zod';
import { decodeCursor, decodeText, encodeCursor, encodeText, int64Pattern, textPattern } from '../cursor.ts';
import { type ProjectScope, projectScopeParameters } from '../project-scope.ts';
import { parseRetainedRange, type Range, rangeParameters } from '../range.ts';
import type { SearchSignal } from '../signals/index.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { formatTime } from '../time.ts';
import { CataloguedField, type FieldPosition, listCatalogue } from './catalogue.ts';

const cursorKinds: Readonly<Record<SearchSignal, string>> = { logs: 'log-fields', traces: 'trace-fields' };

export const FieldsQuery = z.strictObject({
  ...rangeParameters,
  ...projectScopeParameters,
  contains: z.string().max(512).optional().describe('Only keys that contain this text, case-insensitive'),
});

export const FieldsPage = z.strictObject({
  from: z.string().describe('Start of the first counted hour'),
  to: z.string().describe('End of the last counted hour'),
  records: z.int().describe('Number of records in these hours'),
  excluded: z
    .int()
    .describe(
      'Number of record attributes that are not counted by name: keys longer than 512 characters, and names beyond about 2,000 an hour; and of values in arrays, maps and JSON bodies beyond the limits of searches',
    ),
  items: z.array(CataloguedField),
  nextCursor: z.string().nullable(),
});
export type FieldsPage = z.output<typeof FieldsPage>;

/** Returns a page of the fields of a data source's records. */
export const listFields = async (
  signal: SearchSignal,
  query: z.output<typeof FieldsQuery>,
  reader: TenantReader,
): Promise<FieldsPage> => {
  const decodedCursor = query.cursor === undefined ? undefined : decodePosition(signal, query.cursor);
  const range = decodedCursor?.range ?? parseRetainedRange(query, { caller: reader, signal, nowMs: reader.nowMs });
  const { hours, records, excludedAttributeCount, fields, nextPosition } = await listCatalogue(reader, {
    signal,
    range,
    contains: query.contains,
    limit: query.limit,
    projectId: resolveProjectId(query),
    ...(decodedCursor === undefined ? {} : { after: decodedCursor.after, isFromCursor: true }),
  });
  return {
    from: formatTime(hours.from),
    to: formatTime(hours.to),
    records,
    excluded: excludedAttributeCount,
    items: [...fields],
    nextCursor: nextPosition === undefined ? null : encodePosition(signal, range, nextPosition),
  };
};

const resolveProjectId = ({ scope, projectId }: ProjectScope): string | undefined =>
  scope === 'account' ? undefined : projectId;

const encodePosition = (signal: SearchSignal, { from, to }: Range, { kind, key }: FieldPosition): string =>
  encodeCursor(cursorKinds[signal], [from, to, kind, encodeText(key)]);

const decodePosition = (
  signal: SearchSignal,
  cursor: string,
): { readonly range: Range; readonly after: FieldPosition } => {
  const patterns = [int64Pattern, int64Pattern, /^[a-z]{1,16}$/, textPattern];
  const [from = '', to = '', kind = '', key = ''] = decodeCursor(cursorKinds[signal], cursor, patterns);
  return {
    range: { from: BigInt(from), to: BigInt(to) },
    after: { kind, key: decodeText(key) },
  };
};
