/** Risks: security signals of rules for events of agents. */
import { z } from 'zod';
import { agentEventsSource } from '../../queries/signals/found-agent-events.ts';
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
  isReported: z.boolean().describe('Whether it raises risks by itself; others are part of a correlation'),
  source: z.string().describe('Sigma document. A rule of the organization with its ID replaces it'),
});
export type RiskRule = z.output<typeof RiskRule>;

/** Returns whether a document refers to one of these rules by its ID or name. */
const refersToAny = (rule: StoredRule, names: ReadonlySet<string>): boolean => {
  const document = parseDocument(rule.source);
  return (
    typeof document !== 'string' && document.kind === 'correlation' && document.rules.some((name) => names.has(name))
  );
};

const listNames = (rules: readonly StoredRule[]): Set<string> =>
  new Set(
    rules.flatMap(({ id, source }) => {
      const document = parseDocument(source);
      return typeof document === 'string' ? [id] : [id, document.id, document.name].filter((name) => name !== '');
    }),
  );

/** Rules that only correlations use: their matches are not signals. */
const listSilent = (rules: readonly StoredRule[]): Set<string> =>
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
  const silent = listSilent(rules.filter(({ enabled }) => enabled));
  return rules.map((rule) => {
    const document = parseDocument(rule.source);
    const isKnown = typeof document !== 'string';
    return {
      id: rule.id,
      title: rule.title,
      description: isKnown ? document.description : '',
      severity: rule.severity,
      isShipped: shippedIds.has(rule.id) && !own.has(rule.id),
      isEnabled: rule.enabled,
      isReported: !silent.has(rule.id) && !(isKnown && silent.has(document.name)),
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

/** Returns the event of an agent for each record of signals, by the ID of the record. */
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
