/**
 * Which pattern a log record is of. No id is stored with records: bodies are matched against the patterns that are known of their
 * service when they are read (`test/bench/README.md` has what both cost), so that what is shown is always a pattern that survives.
 */
import { type Form, Forms } from '../../runtime/log-patterns/forms.ts';
import { OTHER_ID } from '../../runtime/log-patterns/pattern-id.ts';
import { Tokens } from '../../runtime/log-patterns/tokens.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';

/** Patterns of one service and structure that are matched against, the last seen first. */
const maxForms = 2_000;
/** The structure under which `other` is kept. */
const noStructure = 0;

interface FormRow extends Form {
  readonly service: string;
  readonly structure: number;
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

const bucketOf = (service: string, structure: number): string => `${structure} ${service}`;

/** The known patterns of some structures, by service. */
export const formsOf = async (
  columns: TenantColumns,
  services: Iterable<string>,
  structures: Iterable<number>,
): Promise<ReadonlyMap<string, Forms>> => {
  const rows = await columns.query<FormRow>(
    `SELECT service, structure, pattern_id AS id, places FROM log_patterns
    WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} AND structure IN {structures:Array(Int32)}
    GROUP BY service, structure, id, places ORDER BY max(last_seen) DESC, id LIMIT ${maxForms} BY service, structure LIMIT 100000`,
    { services: [...new Set(services)], structures: [...new Set(structures)] },
  );
  const buckets = Map.groupBy(rows, ({ service, structure }) => bucketOf(service, structure));
  return new Map([...buckets].map(([bucket, forms]) => [bucket, new Forms(forms)]));
};

/**
 * The pattern of each body. `other` where the service has more forms than patterns are kept and none covers the body; `null` where none
 * is known yet.
 */
export const patternIdsOf = async (
  columns: TenantColumns,
  records: readonly { readonly service: string; readonly body: string }[],
): Promise<readonly (string | null)[]> => {
  if (records.length === 0) return [];
  const read = records.map(({ body }) => readBody(body));
  const forms = await formsOf(
    columns,
    records.map(({ service }) => service),
    [noStructure, ...read.map(({ structure }) => structure)],
  );
  return records.map(({ service }, index) => {
    const { structure, hashes } = read[index] as Read;
    const known = structure === noStructure ? undefined : forms.get(bucketOf(service, structure))?.match(hashes);
    return known ?? (forms.has(bucketOf(service, noStructure)) ? OTHER_ID : null);
  });
};
