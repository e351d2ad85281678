/**
 * Assigns log records to patterns. Records have no stored pattern id: when records are read, their bodies are matched
 * against the known patterns of their service (`test/bench/README.md` compares the costs). The result is therefore
 * always a pattern that was not merged into another one.
 */

import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { RowCache } from '../row-cache.ts';
import { type PatternCoverage, PatternForms } from './forms.ts';
import { OTHER_ID } from './pattern-id.ts';
import { Tokens } from './tokens.ts';

/** Maximum number of patterns of one service and structure that are matched, the most recent first */
const maxForms = 2_000;
/** Structure of the pattern `other` */
const otherStructure = 0;

interface FormRow extends PatternCoverage {
  readonly service: string;
  readonly structure: number;
  /** Milliseconds since the epoch */
  readonly seen: string;
}

interface TokenizedBody {
  readonly structure: number;
  readonly hashes: Int32Array;
}

const tokens = new Tokens();
const tokenizeBody = (body: string): TokenizedBody => {
  tokens.read(body);
  return { structure: tokens.structure, hashes: tokens.hashes.slice(0, tokens.count) };
};

/** Cached patterns of one service and structure */
interface CachedForms {
  readonly forms: PatternForms | undefined;
  readonly readAtMs: number;
}

const cachedFormsByBucket = new RowCache<CachedForms>(10_000);
/**
 * Time to live of cached patterns. Patterns are rarely merged into wider ones, and former ids remain valid as aliases.
 */
const matchTtlMs = 60_000;
/** Time to live for a body without a match, whose pattern may have been stored in the meantime */
const noMatchTtlMs = 2_000;

const toBucketKey = (service: string, structure: number): string => `${structure} ${service}`;

/** Returns the most recent rows of a service and structure, from the results of all servers. */
const selectMostRecent = (rows: readonly FormRow[]): readonly FormRow[] => {
  if (rows.length <= maxForms) return rows;
  const newestFirst = rows.toSorted(
    (left, right) => Number(right.seen) - Number(left.seen) || (left.id < right.id ? -1 : 1),
  );
  const forms = new Map(newestFirst.toReversed().map((row) => [`${row.id} ${row.places}`, row]));
  return newestFirst.filter((row) => forms.get(`${row.id} ${row.places}`) === row).slice(0, maxForms);
};

/** Returns the known patterns of structures, by service. */
export const readForms = async (
  columns: TenantColumns,
  services: Iterable<string>,
  structures: Iterable<number>,
): Promise<ReadonlyMap<string, PatternForms>> => {
  const rows = await columns.query<FormRow>(
    `SELECT service, structure, pattern_id AS id, places, toString(toUnixTimestamp64Milli(max(last_seen))) AS seen FROM log_patterns
    WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} AND structure IN {structures:Array(Int32)}
    GROUP BY service, structure, id, places ORDER BY max(last_seen) DESC, id LIMIT ${maxForms} BY service, structure LIMIT 100000`,
    { services: [...new Set(services)], structures: [...new Set(structures)] },
    { runsOnEachServer: true },
  );
  const buckets = Map.groupBy(rows, ({ service, structure }) => toBucketKey(service, structure));
  return new Map([...buckets].map(([bucket, forms]) => [bucket, new PatternForms(selectMostRecent(forms))]));
};

/**
 * Returns the pattern id of each body: the id of `other` if no form covers the body and the service has the pattern
 * `other`; `null` if no pattern is known yet.
 */
export const findPatternIds = async (
  columns: TenantColumns,
  records: readonly { readonly service: string; readonly body: string }[],
): Promise<readonly (string | null)[]> => {
  const cache = cachedFormsByBucket.forTenant(columns);
  const tokenizedRecords = records.map(({ service, body }) => ({ service, ...tokenizeBody(body) }));
  const findPatternId = (
    { service, structure, hashes }: (typeof tokenizedRecords)[number],
    getForms: GetForms,
  ): string | null => {
    const patternId =
      structure === otherStructure ? undefined : getForms(toBucketKey(service, structure))?.match(hashes);
    return patternId ?? (getForms(toBucketKey(service, otherStructure)) === undefined ? null : OTHER_ID);
  };
  const nowMs = performance.now();
  const createFormsLookup =
    (ageMs: number): GetForms =>
    (bucket) => {
      const cachedEntry = cache.get(bucket);
      return cachedEntry !== undefined && nowMs - cachedEntry.readAtMs < ageMs ? cachedEntry.forms : undefined;
    };
  const isRecentlyRead = (bucket: string): boolean =>
    nowMs - (cache.get(bucket)?.readAtMs ?? Number.NEGATIVE_INFINITY) < noMatchTtlMs;
  const unmatchedRecords = tokenizedRecords.filter((record) => {
    const id = findPatternId(record, createFormsLookup(matchTtlMs));
    if (id !== null && id !== OTHER_ID) return false;
    return (
      !isRecentlyRead(toBucketKey(record.service, record.structure)) ||
      !isRecentlyRead(toBucketKey(record.service, otherStructure))
    );
  });
  const readFormsByBucket = new Map<string, PatternForms | undefined>();
  if (unmatchedRecords.length > 0) {
    const formsByBucket = await readForms(
      columns,
      unmatchedRecords.map(({ service }) => service),
      [otherStructure, ...unmatchedRecords.map(({ structure }) => structure)],
    );
    for (const { service, structure } of unmatchedRecords)
      for (const recordStructure of [structure, otherStructure]) {
        const bucket = toBucketKey(service, recordStructure);
        const forms = formsByBucket.get(bucket);
        readFormsByBucket.set(bucket, forms);
        cache.set(bucket, { forms, readAtMs: nowMs });
      }
  }
  const cachedForms = createFormsLookup(matchTtlMs);
  return tokenizedRecords.map((record) =>
    findPatternId(record, (bucket) =>
      readFormsByBucket.has(bucket) ? readFormsByBucket.get(bucket) : cachedForms(bucket),
    ),
  );
};

type GetForms = (bucket: string) => PatternForms | undefined;
