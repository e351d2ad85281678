import { z } from 'zod';
import { decodeCursor, encodeCursor, integer } from '../../../queries/cursor.ts';
import { CataloguedField, type FieldPosition, fieldCatalogue } from '../../../queries/fields/catalogue.ts';
import { queryPartsOf } from '../../../queries/logs/filter.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { type Range, rangeOf, rangeParameters } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';

const kind = 'log-fields';
const hourNs = 3_600_000_000_000n;

export const listLogFields = defineOperation({
  method: 'GET',
  path: '/api/logs/fields',
  operationId: 'listLogFields',
  summary: 'List the fields and attributes of log records with their types, and how many records have each',
  role: 'viewer',
  entitlement: 'logs',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    ...projectScopeParameters,
    contains: z.string().max(512).optional().describe('Only keys that contain this text, in either case'),
  }),
  response: z.strictObject({
    from: z.string().describe('Beginning of the first hour that is counted'),
    to: z.string().describe('End of the last one'),
    records: z.int().describe('All records of these hours'),
    leftOut: z
      .int()
      .describe(
        'Attributes of records that are not counted by name: of keys longer than 512 characters, and beyond some 2,000 names an hour',
      ),
    items: z.array(CataloguedField),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, query }, { columns, clock }) {
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    const range = page?.range ?? rangeOf(query, { caller, signal: 'logs', nowMs });
    const reading = { columns: columns.of(caller.tenantId), plan: caller.plan, nowMs };
    const { hours, records, leftOut, fields, more } = await fieldCatalogue(reading, {
      signal: 'logs',
      range,
      projectId: queryPartsOf(query).projectId,
      contains: query.contains,
      limit: query.limit,
      ...(page === undefined ? {} : { after: page.after, graceNs: hourNs }),
    });
    return {
      from: formatTime(hours.from),
      to: formatTime(hours.to),
      ...{ records, leftOut, items: [...fields] },
      nextCursor: more === undefined ? null : cursorOf(range, more),
    };
  },
});

const cursorOf = ({ from, to }: Range, { kind: fieldKind, key }: FieldPosition): string =>
  encodeCursor(kind, [from, to, fieldKind, Buffer.from(key).toString('base64url')]);

const pageOf = (cursor: string): { readonly range: Range; readonly after: FieldPosition } => {
  const patterns = [integer, integer, /^[a-z]{1,16}$/, /^[\w-]*$/];
  const [from = '', to = '', fieldKind = '', key = ''] = decodeCursor(kind, cursor, patterns);
  return {
    range: { from: BigInt(from), to: BigInt(to) },
    after: { kind: fieldKind, key: Buffer.from(key, 'base64url').toString('utf8') },
  };
};
