/**
 * Catalog of the fields and attributes of a data source's records, from counts that are updated when records are
 * stored.
 */
import { z } from 'zod';
import { type Field, resolveReference } from '../../schemas/fields.ts';
import type { FieldKind } from '../../schemas/tables/fields.ts';
import { topics } from '../../schemas/topics.ts';
import { type Range, requireRetained } from '../range.ts';
import { type SearchSignal, signalDefinitions } from '../signals/index.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { formatTime } from '../time.ts';

const kinds = ['attribute', 'body', 'field', 'resource', 'scope'] as const satisfies readonly FieldKind[];

/** Types of attributes by their characters (`schemas/tables/parts.ts`). */
const typeNames = { s: 'string', i: 'integer', d: 'double', b: 'boolean', j: 'json', y: 'bytes', n: 'empty' } as const;
const fieldTypes = ['text', 'number', 'time', 'duration', 'traceId', 'spanId'] as const;

export const CataloguedField = z.strictObject({
  name: z.string().describe('Name as used in searches, groups and columns'),
  kind: z
    .enum(kinds)
    .describe(
      'field: a field of every record; attribute, resource, scope: an attribute of that part; body: a value inside a JSON body',
    ),
  key: z.string().describe('Key of the attribute, path of a value inside an array or map, or name of the field'),
  types: z
    .array(z.strictObject({ type: z.enum([...Object.values(typeNames), ...fieldTypes]), records: z.int() }))
    .describe('Types of received values, most frequent first; json: an array or map'),
  hasTypeConflict: z
    .boolean()
    .describe('Whether values have types that compare differently; integers and doubles are both numbers'),
  records: z.int().describe('Number of records with the field'),
  share: z.number().describe('Share of all records, 0 to 1'),
  firstSeen: z.string().describe('Time of the first record with the field, in these hours'),
  lastSeen: z.string(),
});
export type CataloguedField = z.output<typeof CataloguedField>;

/** End of a page of the catalog. */
export interface FieldPosition {
  readonly kind: string;
  readonly key: string;
}

export interface FieldCatalogueQuery {
  readonly signal: SearchSignal;
  readonly range: Range;
  readonly projectId?: string | undefined;
  /** Only names that contain this text, case-insensitive. */
  readonly contains?: string | undefined;
  readonly limit: number;
  readonly after?: FieldPosition | undefined;
  /** Whether the range is from a cursor. */
  readonly isFromCursor?: boolean;
}

export interface Catalogue {
  /** Counted whole hours; `to` is exclusive. */
  readonly hours: Range;
  readonly records: number;
  /** Number of record attributes that are not counted by name, because there are too many names. */
  readonly excludedAttributeCount: number;
  readonly fields: readonly CataloguedField[];
  readonly nextPosition: FieldPosition | undefined;
}

interface Row {
  readonly kind: (typeof kinds)[number];
  readonly key: string;
  readonly all_records: string;
  readonly types: readonly (readonly [type: string, records: string])[];
  readonly first: string;
  readonly last: string;
}

const hourNs = 3_600_000_000_000n;

/** Returns the whole hours that overlap a range. */
export const toOverlappingHours = ({ from, to }: Range): Range => {
  const floor = (timeNs: bigint): bigint => timeNs - (((timeNs % hourNs) + hourNs) % hourNs);
  return { from: floor(from), to: floor(to) + hourNs };
};

/** Returns the condition on rows of `fields`, and its parameters. */
export const buildFieldsCondition = (
  { signal, projectId }: Pick<FieldCatalogueQuery, 'signal' | 'projectId'>,
  { from, to }: Range,
): { readonly sql: string; readonly parameters: Readonly<Record<string, string>> } => ({
  sql: `tenant_id = {tenant:String} AND topic = {topic:String} AND hour >= toDateTime({fromSecond:Int64}, 'UTC') AND hour < toDateTime({toSecond:Int64}, 'UTC')${projectId === undefined ? '' : ' AND project_id = {project:String}'}`,
  parameters: {
    topic: topics[signal].name,
    // Clamped to the range of a ClickHouse DateTime.
    fromSecond: String(clampToDateTime(from / 1_000_000_000n)),
    toSecond: String(clampToDateTime(to / 1_000_000_000n)),
    ...(projectId === undefined ? {} : { project: projectId }),
  },
});

const clampToDateTime = (seconds: bigint): bigint =>
  seconds < 0n ? 0n : seconds > 4_294_967_295n ? 4_294_967_295n : seconds;

/** Returns the fields of a data source, by kind and key. Counts are of whole hours. */
export const listCatalogue = async (reader: TenantReader, query: FieldCatalogueQuery): Promise<Catalogue> => {
  const { signal, range, contains, limit, after, isFromCursor = false } = query;
  requireRetained(range, { caller: reader, signal, nowMs: reader.nowMs, isFromCursor });
  const hours = toOverlappingHours(range);
  const { sql, parameters } = buildFieldsCondition(query, hours);
  const conditions = [
    `kind IN (${kinds.map((kind) => `'${kind}'`).join(', ')})`,
    ...(contains === undefined ? [] : ['positionCaseInsensitiveUTF8(key, {contains:String}) > 0']),
    ...(after === undefined ? [] : ['(toString(kind), toString(key)) > ({afterKind:String}, {afterKey:String})']),
  ];
  const [rows, totals] = await Promise.all([
    reader.columns.query<Row>(
      `SELECT kind, key, toString(sum(of_type)) AS all_records, groupArray((toString(type), toString(of_type))) AS types,
        toString(toUnixTimestamp64Nano(toDateTime64(min(first), 9, 'UTC'))) AS first, toString(toUnixTimestamp64Nano(toDateTime64(max(last), 9, 'UTC'))) AS last
      FROM (SELECT kind, key, type, sum(records) AS of_type, min(first_seen) AS first, max(last_seen) AS last FROM fields
        WHERE ${sql} AND ${conditions.join(' AND ')} GROUP BY kind, key, type)
      GROUP BY kind, key ORDER BY toString(kind), toString(key) LIMIT ${limit + 1}`,
      {
        ...parameters,
        ...(contains === undefined ? {} : { contains }),
        ...(after === undefined ? {} : { afterKind: after.kind, afterKey: after.key }),
      },
      { runsOnEachServer: true },
    ),
    countRecords(reader, query, hours),
  ]);
  const mergedRows = mergeServerRows(rows);
  const pageRows = mergedRows.slice(0, limit);
  return {
    hours,
    ...totals,
    fields: pageRows.map((row) => toCataloguedField(row, signal, totals.records)),
    nextPosition: mergedRows.length > limit ? pageRows.at(-1) : undefined,
  };
};

const sumCounts = (counts: readonly string[]): number => counts.reduce((sum, count) => sum + Number(count), 0);
const compareBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Merges the counts of several servers into the counts that a single server would return. */
const mergeServerRows = (rows: readonly Row[]): readonly Row[] =>
  [...Map.groupBy(rows, ({ kind, key }) => `${kind} ${key}`).values()]
    .map((sameFieldRows): Row => {
      const types = Map.groupBy(
        sameFieldRows.flatMap((row) => row.types),
        ([type]) => type,
      );
      const sortTimes = (part: 'first' | 'last') =>
        sameFieldRows.map((row) => row[part]).sort((one, other) => Number(BigInt(one) - BigInt(other)));
      return {
        ...(sameFieldRows[0] as Row),
        all_records: String(sumCounts(sameFieldRows.map((row) => row.all_records))),
        types: Array.from(
          types,
          ([type, typeCounts]) => [type, String(sumCounts(typeCounts.map(([, records]) => records)))] as const,
        ),
        first: sortTimes('first')[0] as string,
        last: sortTimes('last').at(-1) as string,
      };
    })
    .sort((one, other) => compareBytes(one.kind, other.kind) || compareBytes(one.key, other.key));

/** Returns the number of records in these hours, and the number of attributes that are not counted by name. */
export const countRecords = async (
  { columns }: TenantReader,
  query: Pick<FieldCatalogueQuery, 'signal' | 'projectId'>,
  hours: Range,
): Promise<Pick<Catalogue, 'records' | 'excludedAttributeCount'>> => {
  const { sql, parameters } = buildFieldsCondition(query, hours);
  const rows = await columns.query<{ all: string; other: string }>(
    `SELECT toString(sumIf(records, kind = 'record')) AS all, toString(sumIf(records, kind = 'other')) AS other FROM fields
    WHERE ${sql} AND kind IN ('record', 'other')`,
    parameters,
    { runsOnEachServer: true },
  );
  return {
    records: sumCounts(rows.map(({ all: totalRecords }) => totalRecords)),
    excludedAttributeCount: sumCounts(rows.map(({ other }) => other)),
  };
};

const comparableTypes: Readonly<Record<string, string>> = { i: 'number', d: 'number' };

const toCataloguedField = (row: Row, signal: SearchSignal, all: number): CataloguedField => {
  const { kind, key, types } = row;
  const records = Number(row.all_records);
  const field = signalDefinitions[signal].fields.find(({ name }) => kind === 'field' && name === key);
  // An attribute without a value has no type that could conflict with another.
  const typeCodes = types.map(([typeCode]) => typeCode).filter((typeCode) => typeCode !== 'n');
  return {
    name: toSearchName(kind, key, signal),
    kind,
    key,
    types: types
      .map(([typeCode, count]) => ({
        type: field?.type ?? typeNames[typeCode as keyof typeof typeNames] ?? 'text',
        records: Number(count),
      }))
      .sort((one, other) => other.records - one.records),
    hasTypeConflict: new Set(typeCodes.map((typeCode) => comparableTypes[typeCode] ?? typeCode)).size > 1,
    records,
    share: all === 0 ? 0 : Math.min(1, records / all),
    firstSeen: formatTime(BigInt(row.first)),
    lastSeen: formatTime(BigInt(row.last)),
  };
};

/** Returns the name in the search language; without a prefix where that is unambiguous. */
const toSearchName = (kind: Row['kind'], key: string, signal: SearchSignal): string => {
  if (kind === 'field') return key;
  const fields: readonly Field<never>[] = signalDefinitions[signal].fields;
  const isPlain = kind === 'attribute' && resolveReference(fields, key).kind === 'any' && key !== '';
  return isPlain ? key : `${kind}.${key}`;
};
