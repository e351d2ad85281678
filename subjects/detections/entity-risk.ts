/** Risk of users, hosts, processes and addresses: the sum of the risk scores of their signals, each of which decays with the half-life. */

import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { SignalSeverity } from '../../schemas/signals.ts';

export interface RiskQuery {
  /** Time of the scores */
  readonly atMs: number;
  readonly days: number;
  readonly halfLifeHours: number;
  readonly type?: string | undefined;
  /** Type and value of one entity, such as `user ann`. */
  readonly entity?: string | undefined;
  /** Ids of signals that are excluded from the scores */
  readonly excludedIds: readonly string[];
  /** Number of signals to return for each entity, those with the largest contribution first */
  readonly shares: number;
}

/** The entity after which a page begins */
export interface RiskPosition {
  readonly score: number;
  readonly entity: string;
}

export interface EntityRisk {
  readonly entity: string;
  readonly score: number;
  readonly signals: number;
  readonly lastMs: number;
  readonly shares: readonly {
    readonly share: number;
    readonly ms: number;
    readonly id: string;
    readonly ruleId: string;
    readonly ruleTitle: string;
    readonly severity: SignalSeverity;
    readonly riskScore: number;
  }[];
}

type ShareTuple = readonly [
  worth: number,
  ms: string,
  id: string,
  ruleId: string,
  ruleTitle: string,
  severity: string,
  riskScore: number,
];

interface Row {
  readonly entity: string;
  readonly score: number;
  readonly signals: string;
  readonly last: string;
  readonly top: readonly ShareTuple[];
}

/** Returns entities by score, the highest first. Signals that an exception covers do not count. */
export const readEntityRisk = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { atMs, days, halfLifeHours, type, entity, excludedIds, shares }: RiskQuery,
  { limit, after }: { readonly limit: number; readonly after?: RiskPosition | undefined },
): Promise<EntityRisk[]> => {
  const entityConditions = [
    ...(type === undefined ? [] : ["startsWith(entity, concat({type:String}, ' '))"]),
    ...(entity === undefined ? [] : ['entity = {entity:String}']),
  ];
  const rows = await columns.query<Row>(
    `SELECT entity, round(sum(share), 3) AS score, toString(count()) AS signals, toString(max(ms)) AS last,
      groupArraySorted(${shares})((-share, toString(ms), id, rule, title, severity, risk)) AS top
    FROM (
      SELECT id, toUnixTimestamp64Milli(time) AS ms, toString(rule_id) AS rule, toString(rule_title) AS title, toString(severity) AS severity,
        risk_score AS risk, entities, risk_score * exp2(-({at:Int64} - ms) / {halfLife:Float64}) AS share
      FROM signals WHERE tenant_id = {tenant:String} AND suppressed_by = '' AND id NOT IN {without:Array(String)}
        AND time > fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Milli({at:Int64}, 'UTC')
        ${entity === undefined ? '' : 'AND has(entities, {entity:String})'}
      ORDER BY id, event_count DESC LIMIT 1 BY id
    ) ARRAY JOIN entities AS entity
    ${entityConditions.length === 0 ? '' : `WHERE ${entityConditions.join(' AND ')}`}
    GROUP BY entity
    ${after === undefined ? '' : 'HAVING score < {score:Float64} OR (score = {score:Float64} AND entity > {after:String})'}
    ORDER BY score DESC, entity LIMIT ${limit}`,
    {
      at: String(atMs),
      from: String(atMs - days * 86_400_000),
      halfLife: String(halfLifeHours * 3_600_000),
      without: [...excludedIds],
      ...(type !== undefined && { type }),
      ...(entity !== undefined && { entity }),
      ...(after !== undefined && { score: String(after.score), after: after.entity }),
    },
    { maxResultRows: limit },
  );
  return rows.map(({ entity: entityName, score, signals, last, top }) => ({
    entity: entityName,
    score: Number(score),
    signals: Number(signals),
    lastMs: Number(last),
    shares: top.map(([negativeShare, ms, id, ruleId, ruleTitle, severity, riskScore]) => ({
      share: Math.round(-Number(negativeShare) * 1000) / 1000,
      ms: Number(ms),
      id,
      ruleId,
      ruleTitle,
      severity: severity as SignalSeverity,
      riskScore: Number(riskScore),
    })),
  }));
};
