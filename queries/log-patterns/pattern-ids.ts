/**
 * Assigns log records to patterns. Records have no stored pattern id: when records are read, their bodies are matched
 * against the known patterns of their service (`test/bench/README.md` compares the costs). The result is therefore
 * always a surviving pattern.
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

const formsCache = new RowCache<CachedForms>(10_000);
/**
 * Time to live of cached patterns. Patterns are rarely merged into wider ones, and former ids remain valid as aliases.
 */
const matchTtlMs = 60_000;
/** Time to live for a body without a match, whose pattern may have been stored in the meantime */
const noMatchTtlMs = 2_000;

const bucketKey = (service: string, structure: number): string => `${structure} ${service}`;

/** Returns the most recent rows of a service and structure, from the results of all servers. */
const selectMostRecent = (rows: readonly FormRow[]): readonly FormRow[] => {
  if (rows.length <= maxForms) return rows;
  const seen = rows.toSorted((one, two) => Number(two.seen) - Number(one.seen) || (one.id < two.id ? -1 : 1));
  const forms = new Map(seen.toReversed().map((row) => [`${row.id} ${row.places}`, row]));
  return seen.filter((row) => forms.get(`${row.id} ${row.places}`) === row).slice(0, maxForms);
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
    { onEachServer: true },
  );
  const buckets = Map.groupBy(rows, ({ service, structure }) => bucketKey(service, structure));
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
  const cache = formsCache.forTenant(columns);
  const tokenizedRecords = records.map(({ service, body }) => ({ service, ...tokenizeBody(body) }));
  const findPatternId = (
    { service, structure, hashes }: (typeof tokenizedRecords)[number],
    formsIn: FormsIn,
  ): string | null => {
    const own = structure === otherStructure ? undefined : formsIn(bucketKey(service, structure))?.match(hashes);
    return own ?? (formsIn(bucketKey(service, otherStructure)) === undefined ? null : OTHER_ID);
  };
  const now = performance.now();
  const formsYoungerThan =
    (ageMs: number): FormsIn =>
    (bucket) => {
      const one = cache.get(bucket);
      return one !== undefined && now - one.readAtMs < ageMs ? one.forms : undefined;
    };
  const isKnown = (bucket: string): boolean =>
    now - (cache.get(bucket)?.readAtMs ?? Number.NEGATIVE_INFINITY) < noMatchTtlMs;
  const missing = tokenizedRecords.filter((record) => {
    const id = findPatternId(record, formsYoungerThan(matchTtlMs));
    if (id !== null && id !== OTHER_ID) return false;
    return !isKnown(bucketKey(record.service, record.structure)) || !isKnown(bucketKey(record.service, otherStructure));
  });
  const fresh = new Map<string, PatternForms | undefined>();
  if (missing.length > 0) {
    const found = await readForms(
      columns,
      missing.map(({ service }) => service),
      [otherStructure, ...missing.map(({ structure }) => structure)],
    );
    for (const { service, structure } of missing)
      for (const each of [structure, otherStructure]) {
        const bucket = bucketKey(service, each);
        const forms = found.get(bucket);
        fresh.set(bucket, forms);
        cache.set(bucket, { forms, readAtMs: now });
      }
  }
  const cachedForms = formsYoungerThan(matchTtlMs);
  return tokenizedRecords.map((record) =>
    findPatternId(record, (bucket) => (fresh.has(bucket) ? fresh.get(bucket) : cachedForms(bucket))),
  );
};

type FormsIn = (bucket: string) => PatternForms | undefined;
