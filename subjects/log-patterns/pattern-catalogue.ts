/** Catalogue of the patterns of services: surviving ids, and the aliases of others */

import { type PatternCoverage, PatternForms } from '../../queries/log-patterns/forms.ts';
import { ANY } from '../../queries/log-patterns/tokens.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';

/** Maximum number of patterns that are read, the most recent first */
const maxPatterns = 50_000;

interface Row extends PatternCoverage {
  readonly service: string;
  readonly structure: number;
  readonly template: string;
  readonly first: string;
}

export interface CataloguedPattern {
  readonly id: string;
  readonly template: string;
  /** First time of the pattern and its aliases; epoch milliseconds */
  readonly firstSeenMs: number;
  /** Ids that are aliases of the pattern */
  readonly aliases: ReadonlySet<string>;
}

const toPatternKey = (service: string, id: string): string => `${id} ${service}`;

export class PatternCatalogue {
  /** Surviving ids, by service and any id */
  readonly #survivors = new Map<string, string>();
  readonly #patterns = new Map<string, { id: string; template: string; firstSeenMs: number; aliases: Set<string> }>();
  readonly #services = new Map<string, number>();

  constructor(rows: readonly Row[]) {
    for (const bucket of Map.groupBy(rows, ({ service, structure }) =>
      toPatternKey(service, String(structure)),
    ).values()) {
      // Only patterns with variable positions can cover others.
      const patternForms = bucket.some(({ places }) => places.length > 0) ? new PatternForms(bucket) : undefined;
      for (const row of bucket) this.#add(row, patternForms?.resolve(row.id) ?? row.id);
    }
  }

  /** Returns the current id for an id of a service. */
  resolve(service: string, id: string): string {
    return this.#survivors.get(toPatternKey(service, id)) ?? id;
  }

  find(service: string, id: string): CataloguedPattern | undefined {
    return this.#patterns.get(toPatternKey(service, id));
  }

  /** Returns when the first pattern of a service was seen; epoch milliseconds. */
  getFirstSeenMs(service: string): number | undefined {
    return this.#services.get(service);
  }

  #add({ service, id, template, first }: Row, survivor: string): void {
    const firstMs = Number(first);
    this.#survivors.set(toPatternKey(service, id), survivor);
    this.#services.set(service, Math.min(firstMs, this.#services.get(service) ?? firstMs));
    const key = toPatternKey(service, survivor);
    const pattern = this.#patterns.get(key) ?? { id: survivor, template: '', firstSeenMs: firstMs, aliases: new Set() };
    pattern.firstSeenMs = Math.min(pattern.firstSeenMs, firstMs);
    if (id === survivor) pattern.template = template;
    else pattern.aliases.add(id);
    this.#patterns.set(key, pattern);
  }
}

/** Returns the patterns of the given services, or of all services. */
export const readCatalogue = async (
  columns: TenantColumns,
  services?: readonly string[],
): Promise<PatternCatalogue> => {
  const serviceCondition = services === undefined ? '' : ' AND service IN {services:Array(String)}';
  const rows = await columns.query<Row>(
    `SELECT service, structure, pattern_id AS id, argMax(template, last_seen) AS template,
      toString(toUnixTimestamp64Milli(min(first_seen))) AS first, if(wide, places, []) AS places
    FROM (
      SELECT *, (service, structure) IN (
        SELECT service, structure FROM log_patterns WHERE tenant_id = {tenant:String}${serviceCondition} AND has(places, ${ANY})
      ) AS wide
      FROM log_patterns WHERE tenant_id = {tenant:String}${serviceCondition}
    )
    GROUP BY service, structure, id, places ORDER BY max(last_seen) DESC, id, service LIMIT ${maxPatterns}`,
    services === undefined ? {} : { services },
  );
  return new PatternCatalogue(rows);
};
