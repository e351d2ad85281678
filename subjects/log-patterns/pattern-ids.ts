/**
 * Which pattern a log record is of. No id is stored with records: bodies are matched against the patterns that are known of their
 * service when they are read (`test/bench/README.md` has what both cost), so that what is shown is always a pattern that survives.
 */

import { RowCache } from '../../queries/row-cache.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { type Form, Forms } from './forms.ts';
import { OTHER_ID } from './pattern-id.ts';
import { Tokens } from './tokens.ts';

/** Patterns of one service and structure that are matched against, the last seen first. */
const maxForms = 2_000;
/** The structure under which `other` is kept. */
const noStructure = 0;

interface FormRow extends Form {
  readonly service: string;
  readonly structure: number;
  /** Milliseconds since the epoch. */
  readonly seen: string;
}

interface Read {
  readonly structure: number;
  readonly hashes: Int32Array;
}

const tokens = new Tokens();
const readBody = (body: string): Read => {
  tokens.read(body);
  return { structure: tokens.structure, hashes: tokens.hashes.slice(0, tokens.count) };
};

/** Patterns of one service and structure, as they were read. */
interface KnownForms {
  readonly forms: Forms | undefined;
  readonly readAtMs: number;
}

const known = new RowCache<KnownForms>(10_000);
/** Patterns are merged into wider ones seldom, and the former ids stay good: they are aliases. */
const goodMs = 60_000;
/** A body that none covers may be of one that has landed meanwhile. */
const goodWithoutMatchMs = 2_000;

const bucketOf = (service: string, structure: number): string => `${structure} ${service}`;

/** Those last seen of one service and structure, where each server gave its own. */
const lastSeen = (rows: readonly FormRow[]): readonly FormRow[] => {
  if (rows.length <= maxForms) return rows;
  const seen = rows.toSorted((one, two) => Number(two.seen) - Number(one.seen) || (one.id < two.id ? -1 : 1));
  const forms = new Map(seen.toReversed().map((row) => [`${row.id} ${row.places}`, row]));
  return seen.filter((row) => forms.get(`${row.id} ${row.places}`) === row).slice(0, maxForms);
};

/** The known patterns of some structures, by service. */
export const formsOf = async (
  columns: TenantColumns,
  services: Iterable<string>,
  structures: Iterable<number>,
): Promise<ReadonlyMap<string, Forms>> => {
  const rows = await columns.query<FormRow>(
    `SELECT service, structure, pattern_id AS id, places, toString(toUnixTimestamp64Milli(max(last_seen))) AS seen FROM log_patterns
    WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} AND structure IN {structures:Array(Int32)}
    GROUP BY service, structure, id, places ORDER BY max(last_seen) DESC, id LIMIT ${maxForms} BY service, structure LIMIT 100000`,
    { services: [...new Set(services)], structures: [...new Set(structures)] },
    { ofEachServer: true },
  );
  const buckets = Map.groupBy(rows, ({ service, structure }) => bucketOf(service, structure));
  return new Map([...buckets].map(([bucket, forms]) => [bucket, new Forms(lastSeen(forms))]));
};

/**
 * The pattern of each body. `other` where the service has more forms than patterns are kept and none covers the body; `null` where none
 * is known yet.
 */
export const patternIdsOf = async (
  columns: TenantColumns,
  records: readonly { readonly service: string; readonly body: string }[],
): Promise<readonly (string | null)[]> => {
  const cache = known.of(columns);
  const read = records.map(({ service, body }) => ({ service, ...readBody(body) }));
  const idOf = ({ service, structure, hashes }: (typeof read)[number], formsIn: FormsIn): string | null => {
    const own = structure === noStructure ? undefined : formsIn(bucketOf(service, structure))?.match(hashes);
    return own ?? (formsIn(bucketOf(service, noStructure)) === undefined ? null : OTHER_ID);
  };
  const now = performance.now();
  const youngerThan =
    (ageMs: number): FormsIn =>
    (bucket) => {
      const one = cache.get(bucket);
      return one !== undefined && now - one.readAtMs < ageMs ? one.forms : undefined;
    };
  const isKnown = (bucket: string): boolean =>
    now - (cache.get(bucket)?.readAtMs ?? Number.NEGATIVE_INFINITY) < goodWithoutMatchMs;
  const missing = read.filter((record) => {
    const id = idOf(record, youngerThan(goodMs));
    if (id !== null && id !== OTHER_ID) return false;
    return !isKnown(bucketOf(record.service, record.structure)) || !isKnown(bucketOf(record.service, noStructure));
  });
  const fresh = new Map<string, Forms | undefined>();
  if (missing.length > 0) {
    const found = await formsOf(
      columns,
      missing.map(({ service }) => service),
      [noStructure, ...missing.map(({ structure }) => structure)],
    );
    for (const { service, structure } of missing)
      for (const each of [structure, noStructure]) {
        const bucket = bucketOf(service, each);
        const forms = found.get(bucket);
        fresh.set(bucket, forms);
        cache.set(bucket, { forms, readAtMs: now });
      }
  }
  const inUse = youngerThan(goodMs);
  return read.map((record) => idOf(record, (bucket) => (fresh.has(bucket) ? fresh.get(bucket) : inUse(bucket))));
};

type FormsIn = (bucket: string) => Forms | undefined;
