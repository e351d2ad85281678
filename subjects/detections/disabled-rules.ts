/** Rules that the stream disabled because of their cost, as it reported them. */
import type { TenantReader } from '../../queries/tenant-reader.ts';

export interface DisabledRule {
  /**
   * Time of the record at which the rule exceeded its cost limit, ISO-8601; the earliest if several partitions switched
   * it off
   */
  readonly at: string;
  /** Number of partitions that no longer evaluate the rule */
  readonly partitions: number;
}

interface Row {
  readonly rule: string;
  readonly version: number;
  readonly ms: string;
  readonly partitions: string;
}

/** Returns disabled rules for the given versions. A new version is evaluated again. */
export const readDisabledRules = async (
  { columns }: Pick<TenantReader, 'columns'>,
  rules: readonly { readonly id: string; readonly version: number }[],
): Promise<ReadonlyMap<string, DisabledRule>> => {
  if (rules.length === 0) return new Map();
  const rows = await columns.query<Row>(
    `SELECT JSONExtractString(details, 'ruleId') AS rule, toUInt32(JSONExtractUInt(details, 'ruleVersion')) AS version,
      toString(toUnixTimestamp64Milli(min(time))) AS ms, toString(uniqExact(id)) AS partitions
    FROM events WHERE tenant_id = {tenant:String} AND kind = 'signal' AND actor_id = 'detections'
      AND JSONExtractString(details, 'reason') = 'too-slow' AND rule IN {rules:Array(String)}
    GROUP BY rule, version`,
    { rules: rules.map(({ id }) => id) },
  );
  const versions = new Map(rules.map(({ id, version }) => [id, version]));
  return new Map(
    rows
      .filter(({ rule, version }) => versions.get(rule) === version)
      .map(({ rule, ms, partitions }) => [
        rule,
        { at: new Date(Number(ms)).toISOString(), partitions: Number(partitions) },
      ]),
  );
};
