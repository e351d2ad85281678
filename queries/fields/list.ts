/** Catalog of a data source's fields, page by page. */
import { z } from 'zod';
import { anyText, decodeCursor, encodeCursor, integer, textIn, textPart } from '../cursor.ts';
import { type ProjectScope, projectScopeParameters } from '../project-scope.ts';
import { type Range, rangeOf, rangeParameters } from '../range.ts';
import type { Reading } from '../reading.ts';
import type { SearchSignal } from '../signals/index.ts';
import { formatTime } from '../time.ts';
import { CataloguedField, type FieldPosition, fieldCatalogue } from './catalogue.ts';

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
      'Number of record attributes that are not counted by name: keys longer than 512 characters, and names beyond about 2,000 an hour',
    ),
  items: z.array(CataloguedField),
  nextCursor: z.string().nullable(),
});
export type FieldsPage = z.output<typeof FieldsPage>;

/** Returns a page of the fields of a data source's records. */
export const listFields = async (
  signal: SearchSignal,
  query: z.output<typeof FieldsQuery>,
  reading: Reading,
): Promise<FieldsPage> => {
  const page = query.cursor === undefined ? undefined : pageOf(signal, query.cursor);
  const range = page?.range ?? rangeOf(query, { caller: reading, signal, nowMs: reading.nowMs });
  const { hours, records, excluded, fields, more } = await fieldCatalogue(reading, {
    signal,
    range,
    contains: query.contains,
    limit: query.limit,
    projectId: projectOf(query),
    ...(page === undefined ? {} : { after: page.after, wasListed: true }),
  });
  return {
    from: formatTime(hours.from),
    to: formatTime(hours.to),
    records,
    excluded,
    items: [...fields],
    nextCursor: more === undefined ? null : cursorOf(signal, range, more),
  };
};

const projectOf = ({ scope, projectId }: ProjectScope): string | undefined =>
  scope === 'account' ? undefined : projectId;

const cursorOf = (signal: SearchSignal, { from, to }: Range, { kind, key }: FieldPosition): string =>
  encodeCursor(cursorKinds[signal], [from, to, kind, textPart(key)]);

const pageOf = (signal: SearchSignal, cursor: string): { readonly range: Range; readonly after: FieldPosition } => {
  const patterns = [integer, integer, /^[a-z]{1,16}$/, anyText];
  const [from = '', to = '', kind = '', key = ''] = decodeCursor(cursorKinds[signal], cursor, patterns);
  return {
    range: { from: BigInt(from), to: BigInt(to) },
    after: { kind, key: textIn(key) },
  };
};
