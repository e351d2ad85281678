/** Catalog of the fields and attributes of a data source's records, from counts updated on storage. */
import { z } from 'zod';
import { type Field, referenceOf } from '../../schemas/fields.ts';
import type { FieldKind } from '../../schemas/tables/fields.ts';
import { topics } from '../../schemas/topics.ts';
import { type Range, refuseBeyondRetention } from '../range.ts';
import type { Reading } from '../reading.ts';
import { type SearchSignal, signals } from '../signals/index.ts';
import { formatTime } from '../time.ts';

const kinds = ['attribute', 'field', 'resource', 'scope'] as const satisfies readonly FieldKind[];

/** Types of attributes by their characters (`schemas/tables/parts.ts`). */
const typeNames = { s: 'string', i: 'integer', d: 'double', b: 'boolean', j: 'json', y: 'bytes', n: 'empty' } as const;
const fieldTypes = ['text', 'number', 'time', 'duration', 'traceId', 'spanId'] as const;

export const CataloguedField = z.strictObject({
  name: z.string().describe('Name as used in searches, groups and columns'),
  kind: z.enum(kinds).describe('field: a field of every record; attribute, resource, scope: an attribute of that part'),
  key: z.string().describe('Key of the attribute, or name of the field'),
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

export interface CatalogueQuestion {
  readonly signal: SearchSignal;
  readonly range: Range;
  readonly projectId?: string | undefined;
  /** Only names that contain this text, case-insensitive. */
  readonly contains?: string | undefined;
  readonly limit: number;
  readonly after?: FieldPosition | undefined;
  /** Whether the range is from a cursor. */
  readonly wasListed?: boolean;
}

export interface Catalogue {
  /** Counted whole hours; `to` is exclusive. */
  readonly hours: Range;
  readonly records: number;
  /** Number of record attributes that are not counted by name, because there are too many names. */
  readonly excluded: number;
  readonly fields: readonly CataloguedField[];
  readonly more: FieldPosition | undefined;
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
export const hoursOf = ({ from, to }: Range): Range => {
  const floor = (point: bigint): bigint => point - (((point % hourNs) + hourNs) % hourNs);
  return { from: floor(from), to: floor(to) + hourNs };
};

/** Returns the condition on rows of `fields`, and its parameters. */
export const countedWithin = (
  { signal, projectId }: Pick<CatalogueQuestion, 'signal' | 'projectId'>,
  { from, to }: Range,
): { readonly sql: string; readonly parameters: Readonly<Record<string, string>> } => ({
  sql: `tenant_id = {tenant:String} AND topic = {topic:String} AND hour >= toDateTime({fromSecond:Int64}, 'UTC') AND hour < toDateTime({toSecond:Int64}, 'UTC')${projectId === undefined ? '' : ' AND project_id = {project:String}'}`,
  parameters: {
    topic: topics[signal].name,
    // Range of a DateTime.
    fromSecond: String(bounded(from / 1_000_000_000n)),
    toSecond: String(bounded(to / 1_000_000_000n)),
    ...(projectId === undefined ? {} : { project: projectId }),
  },
});

const bounded = (seconds: bigint): bigint => (seconds < 0n ? 0n : seconds > 4_294_967_295n ? 4_294_967_295n : seconds);

/** Returns the fields of a data source, by kind and key. Counts are of whole hours. */
export const fieldCatalogue = async (reading: Reading, question: CatalogueQuestion): Promise<Catalogue> => {
  const { signal, range, contains, limit, after, wasListed = false } = question;
  refuseBeyondRetention(range, { caller: reading, signal, nowMs: reading.nowMs, wasListed });
  const hours = hoursOf(range);
  const { sql, parameters } = countedWithin(question, hours);
  const chosen = [
    `kind IN (${kinds.map((kind) => `'${kind}'`).join(', ')})`,
    ...(contains === undefined ? [] : ['positionCaseInsensitiveUTF8(key, {contains:String}) > 0']),
    ...(after === undefined ? [] : ['(toString(kind), toString(key)) > ({afterKind:String}, {afterKey:String})']),
  ];
  const [rows, totals] = await Promise.all([
    reading.columns.query<Row>(
      `SELECT kind, key, toString(sum(of_type)) AS all_records, groupArray((toString(type), toString(of_type))) AS types,
        toString(toUnixTimestamp64Nano(toDateTime64(min(first), 9, 'UTC'))) AS first, toString(toUnixTimestamp64Nano(toDateTime64(max(last), 9, 'UTC'))) AS last
      FROM (SELECT kind, key, type, sum(records) AS of_type, min(first_seen) AS first, max(last_seen) AS last FROM fields
        WHERE ${sql} AND ${chosen.join(' AND ')} GROUP BY kind, key, type)
      GROUP BY kind, key ORDER BY toString(kind), toString(key) LIMIT ${limit + 1}`,
      {
        ...parameters,
        ...(contains === undefined ? {} : { contains }),
        ...(after === undefined ? {} : { afterKind: after.kind, afterKey: after.key }),
      },
      { ofEachServer: true },
    ),
    countedTotals(reading, question, hours),
  ]);
  const found = ofAllServers(rows);
  const shown = found.slice(0, limit);
  return {
    hours,
    ...totals,
    fields: shown.map((row) => fieldOf(row, signal, totals.records)),
    more: found.length > limit ? shown.at(-1) : undefined,
  };
};

const sumOf = (counts: readonly string[]): number => counts.reduce((sum, count) => sum + Number(count), 0);
const bytewise = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Merges the counts of several servers, as one server would count. */
const ofAllServers = (rows: readonly Row[]): readonly Row[] =>
  [...Map.groupBy(rows, ({ kind, key }) => `${kind} ${key}`).values()]
    .map((same): Row => {
      const types = Map.groupBy(
        same.flatMap((row) => row.types),
        ([type]) => type,
      );
      const inTime = (part: 'first' | 'last') =>
        same.map((row) => row[part]).sort((one, other) => Number(BigInt(one) - BigInt(other)));
      return {
        ...(same[0] as Row),
        all_records: String(sumOf(same.map((row) => row.all_records))),
        types: Array.from(types, ([type, some]) => [type, String(sumOf(some.map(([, records]) => records)))] as const),
        first: inTime('first')[0] as string,
        last: inTime('last').at(-1) as string,
      };
    })
    .sort((one, other) => bytewise(one.kind, other.kind) || bytewise(one.key, other.key));

/** Returns the number of records in some hours, and of omitted attributes. */
export const countedTotals = async (
  { columns }: Reading,
  question: Pick<CatalogueQuestion, 'signal' | 'projectId'>,
  hours: Range,
): Promise<Pick<Catalogue, 'records' | 'excluded'>> => {
  const { sql, parameters } = countedWithin(question, hours);
  const rows = await columns.query<{ all: string; other: string }>(
    `SELECT toString(sumIf(records, kind = 'record')) AS all, toString(sumIf(records, kind = 'other')) AS other FROM fields
    WHERE ${sql} AND kind IN ('record', 'other')`,
    parameters,
    { ofEachServer: true },
  );
  return { records: sumOf(rows.map(({ all }) => all)), excluded: sumOf(rows.map(({ other }) => other)) };
};

const families: Readonly<Record<string, string>> = { i: 'number', d: 'number' };

const fieldOf = (row: Row, signal: SearchSignal, all: number): CataloguedField => {
  const { kind, key, types } = row;
  const records = Number(row.all_records);
  const field = signals[signal].fields.find(({ name }) => kind === 'field' && name === key);
  // An attribute without a value has no type that could conflict with another.
  const typeCodes = types.map(([typeCode]) => typeCode).filter((typeCode) => typeCode !== 'n');
  return {
    name: nameOf(kind, key, signal),
    kind,
    key,
    types: types
      .map(([typeCode, count]) => ({
        type: field?.type ?? typeNames[typeCode as keyof typeof typeNames] ?? 'text',
        records: Number(count),
      }))
      .sort((one, other) => other.records - one.records),
    hasTypeConflict: new Set(typeCodes.map((typeCode) => families[typeCode] ?? typeCode)).size > 1,
    records,
    share: all === 0 ? 0 : Math.min(1, records / all),
    firstSeen: formatTime(BigInt(row.first)),
    lastSeen: formatTime(BigInt(row.last)),
  };
};

/** Returns the name in the search language; without a prefix where that is unambiguous. */
const nameOf = (kind: Row['kind'], key: string, signal: SearchSignal): string => {
  if (kind === 'field') return key;
  const fields: readonly Field<never>[] = signals[signal].fields;
  const isPlain = kind === 'attribute' && referenceOf(fields, key).kind === 'any' && key !== '';
  return isPlain ? key : `${kind}.${key}`;
};
