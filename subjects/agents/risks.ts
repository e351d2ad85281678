/** Risks: security signals of rules for events of agents. */
import { z } from 'zod';
import { agentEventsSource } from '../../queries/signals/agent-events-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { signalSeverities } from '../../schemas/signals.ts';
import { parseDocument, type StoredRule } from '../detections/deployment.ts';
import { getShippedDocuments, isAgentRule } from './shipped-documents.ts';

export const RiskRule = z.strictObject({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  severity: z.enum(signalSeverities),
  isShipped: z.boolean().describe('Whether it is a rule of the platform that the organization has not replaced'),
  isEnabled: z.boolean(),
  isReported: z.boolean().describe('Whether its matches are risks; otherwise only correlations use the rule'),
  source: z.string().describe('Sigma document. A rule of the organization with its ID replaces it'),
});
export type RiskRule = z.output<typeof RiskRule>;

/** Returns whether a rule is a correlation that refers to one of these IDs or names of rules. */
const refersToAny = (rule: StoredRule, names: ReadonlySet<string>): boolean => {
  const document = parseDocument(rule.source);
  return (
    typeof document !== 'string' && document.kind === 'correlation' && document.rules.some((name) => names.has(name))
  );
};

/** Returns the IDs and names by which correlations can refer to the rules. */
const listNames = (rules: readonly StoredRule[]): Set<string> =>
  new Set(
    rules.flatMap(({ id, source }) => {
      const document = parseDocument(source);
      return typeof document === 'string' ? [id] : [id, document.id, document.name].filter((name) => name !== '');
    }),
  );

/** Returns the rules that only correlations use. Their matches are not signals. */
const listCorrelatedOnly = (rules: readonly StoredRule[]): Set<string> =>
  new Set(
    rules.flatMap(({ source }) => {
      const document = parseDocument(source);
      return typeof document !== 'string' && document.kind === 'correlation' && !document.generate
        ? document.rules
        : [];
    }),
  );

/** Returns the rules for events of agents: those of the platform, and those of the organization. */
export const listRiskRules = (ownRules: readonly StoredRule[]): RiskRule[] => {
  const own = new Map(ownRules.map((rule) => [rule.id, rule]));
  const shipped = getShippedDocuments();
  const shippedIds = new Set(shipped.map(({ id }) => id));
  const ownAgentRules = ownRules.filter(({ id, source }) => shippedIds.has(id) || isAgentRule(source));
  const names = listNames([...shipped, ...ownAgentRules]);
  const correlations = ownRules.filter((rule) => !ownAgentRules.includes(rule) && refersToAny(rule, names));
  const rules = [...shipped.filter(({ id }) => !own.has(id)), ...ownAgentRules, ...correlations];
  const correlatedOnly = listCorrelatedOnly(rules.filter(({ enabled }) => enabled));
  return rules.map((rule) => {
    const document = parseDocument(rule.source);
    const isParsed = typeof document !== 'string';
    return {
      id: rule.id,
      title: rule.title,
      description: isParsed ? document.description : '',
      severity: rule.severity,
      isShipped: shippedIds.has(rule.id) && !own.has(rule.id),
      isEnabled: rule.enabled,
      isReported: !correlatedOnly.has(rule.id) && !(isParsed && correlatedOnly.has(document.name)),
      source: rule.source,
    };
  });
};

export interface RiskEvent {
  readonly id: string;
  readonly agentId: string;
  readonly agent: string;
  readonly sessionId: string;
  readonly turn: number;
  /** Command, path, host or tool of the event. */
  readonly object: string;
}

const objectSql =
  "multiIf(kind = 'file', path, kind IN ('process_start', 'command'), if(command = '', program, command), kind IN ('connection', 'http_request'), if(host_name = '', address, toString(host_name)), kind = 'tool_call', concat(toString(tool_name), ' ', text), text)";

/** Returns the agent event of each of these records, by the ID of the record. */
export const readRiskEvents = async (
  { columns }: TenantReader,
  recordIds: readonly string[],
  { from, to }: { readonly from: bigint; readonly to: bigint },
): Promise<ReadonlyMap<string, RiskEvent>> => {
  if (recordIds.length === 0) return new Map();
  const rows = await columns.query<{ record: string; event: string; texts: readonly string[] }>(
    `SELECT if(record_id = '', id, record_id) AS record, min(id) AS event, [toString(any(agent_id)), toString(any(agent)), any(session_id), toString(max(turn)), argMax(${objectSql}, timestamp)] AS texts
    FROM ${agentEventsSource} WHERE (record_id IN {records:Array(String)} OR id IN {records:Array(String)}) AND agent_id != '' GROUP BY record`,
    { from: String(from), to: String(to), records: [...recordIds] },
  );
  return new Map(
    rows.map(({ record, event, texts: [agentId = '', agent = '', sessionId = '', turn = '0', object = ''] }) => [
      record,
      { id: event, agentId, agent, sessionId, turn: Number(turn), object },
    ]),
  );
};
