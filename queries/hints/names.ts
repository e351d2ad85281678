/** Names that records of a range have, and names that no record has. */

import { editDistance } from '../../schemas/edit-distance.ts';
import type { Reference } from '../../schemas/fields.ts';
import { anyRow } from '../../schemas/tables/any-row.ts';
import { countedWithin, hoursOf } from '../fields/catalogue.ts';
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import { RowCache } from '../row-cache.ts';
import type { SearchSignal } from '../signals/index.ts';

/** Those that most records have are compared with what was asked for. */
const maxNames = 5_000;
const maxShown = 3;

export interface NamesQuestion {
  readonly signal: SearchSignal;
  readonly range: Range;
  readonly projectId?: string | undefined;
  /** Keys of attributes that are asked for. */
  readonly keys: readonly string[];
}

type AttributeReference = Exclude<Reference, { kind: 'field' }>;

/** What the records of some hours have. */
export class Names {
  readonly #rows: readonly { readonly kind: string; readonly key: string }[];

  constructor(rows: readonly { readonly kind: string; readonly key: string }[]) {
    this.#rows = rows;
  }

  /** Whether there are records at all. */
  get areThere(): boolean {
    return this.#rows.length > 0;
  }

  /** Whether a record has it, as far as names are counted: beyond some 2,000 an hour they are not. */
  mayHave({ kind, key }: AttributeReference): boolean {
    const kinds = kind === 'any' ? ['attribute', 'resource'] : [kind];
    return this.#rows.some((row) => row.kind === 'other' || (row.key === key && kinds.includes(row.kind)));
  }

  /** At most three names like it, the most alike first. */
  like(name: string): string[] {
    const maxDistance = Math.ceil(plain(name).length / 3);
    const names = new Set(this.#rows.map(({ key }) => key).filter((key) => key !== ''));
    return [...names]
      .map((each) => ({ each, distance: distanceOf(name, each) }))
      .filter(({ distance }) => distance <= maxDistance)
      .sort((one, other) => one.distance - other.distance)
      .slice(0, maxShown)
      .map(({ each }) => each);
  }
}

/** Names are alike in which characters they have, however these are joined. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 100);

/** One name within another, as `status` in `http.status_code`, is as good as a mistake of one character. */
const distanceOf = (requestedName: string, name: string): number => {
  const plainRequested = plain(requestedName);
  const whole = plain(name);
  const isWithin =
    plainRequested.length > 2 && whole.length > 2 && (whole.includes(plainRequested) || plainRequested.includes(whole));
  if (isWithin) return 1;
  const parts = name.split('.').map(plain);
  return Math.min(...[whole, ...parts].map((each) => editDistance(plainRequested, each)));
};

/** One statement over what `fields` counts of the hours, as the catalogue of fields reads it. */
export const namesOf = async ({ columns }: Pick<Reading, 'columns'>, question: NamesQuestion): Promise<Names> => {
  const { sql, parameters } = countedWithin(question, hoursOf(question.range));
  const rows = await columns.query<{ kind: string; key: string }>(
    `SELECT toString(kind) AS kind, toString(key) AS key FROM fields WHERE ${sql}
    GROUP BY kind, key ORDER BY kind IN ('record', 'other') DESC, key IN {keys:Array(String)} DESC, sum(records) DESC, key LIMIT ${maxNames}`,
    { ...parameters, keys: question.keys },
  );
  return new Names(rows);
};

const maxCachedHours = 10_000;
/** Records may be deleted. */
const cacheTtlMs = 60_000;
const withRecords = new RowCache<{ readonly atMs: number }>(maxCachedHours);

/** Whether the hours of a range have records. That they have is kept for a minute. */
export const areRecordsThere = async (
  { columns }: Pick<Reading, 'columns'>,
  question: Omit<NamesQuestion, 'keys'>,
): Promise<boolean> => {
  const { sql, parameters } = countedWithin(question, hoursOf(question.range));
  const cache = withRecords.of(columns);
  const key = JSON.stringify(parameters);
  const before = cache.get(key);
  if (before !== undefined && performance.now() - before.atMs < cacheTtlMs) return true;
  const rows = await columns.query(
    `SELECT 1 AS one FROM fields WHERE ${sql} AND kind = 'record' ${anyRow}`,
    { ...parameters },
    { maxResultRows: 1, ofEachServer: true },
  );
  if (rows.length > 0) cache.set(key, { atMs: performance.now() });
  return rows.length > 0;
};

/** Projects that have records in the hours of a range. */
export const projectsOf = async (
  { columns }: Pick<Reading, 'columns'>,
  { signal, range }: Pick<NamesQuestion, 'signal' | 'range'>,
): Promise<string[]> => {
  const { sql, parameters } = countedWithin({ signal }, hoursOf(range));
  const rows = await columns.query<{ project: string }>(
    `SELECT toString(project_id) AS project FROM fields WHERE ${sql} AND kind = 'record'
    GROUP BY project ORDER BY sum(records) DESC, project LIMIT ${maxShown}`,
    parameters,
  );
  return rows.map(({ project }) => project);
};
