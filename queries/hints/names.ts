/** Attribute names of the records in a range, and similar names for one that no record has. */

import { computeEditDistance } from '../../schemas/edit-distance.ts';
import type { Reference } from '../../schemas/fields.ts';
import { anyRowClause } from '../../schemas/tables/any-row.ts';
import { buildFieldsCondition, toOverlappingHours } from '../fields/catalogue.ts';
import type { Range } from '../range.ts';
import { RowCache } from '../row-cache.ts';
import type { SearchSignal } from '../signals/index.ts';
import type { TenantReader } from '../tenant-reader.ts';

/** Maximum number of names that are compared with the requested one, the most frequent first. */
const maxNames = 5_000;
const maxSuggestions = 3;

export interface NamesQuery {
  readonly signal: SearchSignal;
  readonly range: Range;
  readonly projectId?: string | undefined;
  /** Requested attribute keys. */
  readonly keys: readonly string[];
}

type AttributeReference = Exclude<Reference, { kind: 'field' }>;

interface NameRow {
  readonly kind: string;
  readonly key: string;
  /** Whether some values are arrays or maps. */
  readonly is_compound: number;
}

/** Names in the records of some hours. */
export class RecordNames {
  readonly #rows: readonly NameRow[];

  constructor(rows: readonly NameRow[]) {
    this.#rows = rows;
  }

  /** Whether the hours have any records. */
  get hasRecords(): boolean {
    return this.#rows.length > 0;
  }

  /** Whether some names are not known, because there are too many. */
  get hasOthers(): boolean {
    return this.#rows.some(({ kind }) => kind === 'other');
  }

  /**
   * Returns whether a record may have the attribute. The result is not certain, because at most about 2,000 names
   * per hour are counted.
   */
  mayContain({ kind, key }: AttributeReference): boolean {
    const kinds = kind === 'any' ? ['attribute', 'resource'] : [kind];
    return this.#rows.some((row) => row.kind === 'other' || (row.key === key && kinds.includes(row.kind)));
  }

  /** Returns whether an attribute with this key is an array or a map in some records. */
  isCompound(name: string): boolean {
    return this.#rows.some(({ key, is_compound }) => key === name && Number(is_compound) === 1);
  }

  /** Returns at most three similar names, most similar first. */
  findSimilar(name: string): string[] {
    const maxDistance = Math.ceil(normalizeName(name).length / 3);
    const names = new Set(
      this.#rows.flatMap(({ kind, key }) => (key === '' ? [] : [kind === 'body' ? `body.${key}` : key])),
    );
    return [...names]
      .map((value) => ({ value, distance: computeNameDistance(name, value) }))
      .filter(({ distance }) => distance <= maxDistance)
      .sort((left, right) => left.distance - right.distance)
      .slice(0, maxSuggestions)
      .map(({ value }) => value);
  }
}

/** Normalizes a name to its characters, regardless of separators. */
const normalizeName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 100);

/**
 * Returns the distance of two names. A name within the other, as `status` in `http.status_code`, counts as one edit.
 */
const computeNameDistance = (requestedName: string, name: string): number => {
  const plainRequested = normalizeName(requestedName);
  const plainName = normalizeName(name);
  const isContained =
    plainRequested.length > 2 &&
    plainName.length > 2 &&
    (plainName.includes(plainRequested) || plainRequested.includes(plainName));
  if (isContained) return 1;
  const parts = name.split('.').map(normalizeName);
  return Math.min(...[plainName, ...parts].map((value) => computeEditDistance(plainRequested, value)));
};

/** Reads names in one statement from the counts in `fields`, like the catalog of fields. */
export const readNames = async (
  { columns }: Pick<TenantReader, 'columns'>,
  query: NamesQuery,
): Promise<RecordNames> => {
  const { sql, parameters } = buildFieldsCondition(query, toOverlappingHours(query.range));
  const rows = await columns.query<NameRow>(
    `SELECT toString(kind) AS kind, toString(key) AS key, max(type = 'j') AS is_compound FROM fields WHERE ${sql}
    GROUP BY kind, key ORDER BY kind IN ('record', 'other') DESC, key IN {keys:Array(String)} DESC, sum(records) DESC, key LIMIT ${maxNames}`,
    { ...parameters, keys: query.keys },
  );
  return new RecordNames(rows);
};

const maxCachedHours = 10_000;
/** Entries expire because records may be deleted. */
const cacheTtlMs = 60_000;
const rangesWithRecords = new RowCache<{ readonly atMs: number }>(maxCachedHours);

/** Returns whether the hours of a range have records. A positive result is cached for a minute. */
export const hasRecordsInRange = async (
  { columns }: Pick<TenantReader, 'columns'>,
  query: Omit<NamesQuery, 'keys'>,
): Promise<boolean> => {
  const { sql, parameters } = buildFieldsCondition(query, toOverlappingHours(query.range));
  const cache = rangesWithRecords.forTenant(columns);
  const key = JSON.stringify(parameters);
  const cached = cache.get(key);
  if (cached !== undefined && performance.now() - cached.atMs < cacheTtlMs) return true;
  const rows = await columns.query(
    `SELECT 1 AS one FROM fields WHERE ${sql} AND kind = 'record' ${anyRowClause}`,
    { ...parameters },
    { maxResultRows: 1, runsOnEachServer: true },
  );
  if (rows.length > 0) cache.set(key, { atMs: performance.now() });
  return rows.length > 0;
};

/** Returns projects with records in the hours of a range. */
export const listProjects = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { signal, range }: Pick<NamesQuery, 'signal' | 'range'>,
): Promise<string[]> => {
  const { sql, parameters } = buildFieldsCondition({ signal }, toOverlappingHours(range));
  const rows = await columns.query<{ project: string }>(
    `SELECT toString(project_id) AS project FROM fields WHERE ${sql} AND kind = 'record'
    GROUP BY project ORDER BY sum(records) DESC, project LIMIT ${maxSuggestions}`,
    parameters,
  );
  return rows.map(({ project }) => project);
};
