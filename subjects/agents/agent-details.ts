/** One agent: its processes, files, connections and requests to models. */
import { z } from 'zod';
import { canRead } from '../../queries/entitlement.ts';
import { agentEventsSource } from '../../queries/signals/agent-events-source.ts';
import { llmCallsSource } from '../../queries/signals/llm-calls-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { toNullIfEmpty } from '../../schemas/text.ts';
import { type LlmCallRow, type LlmCallView, llmCallSelection, toLlmCallView } from '../llm/calls.ts';
import { EffectCounts } from './agent-list.ts';
import type { AgentScope } from './scope.ts';

const seen = { firstSeenAt: z.string(), lastSeenAt: z.string() };

export const AgentFile = z.strictObject({
  path: z.string(),
  operations: z.array(z.string()),
  count: z.int().describe('How often it was opened or changed'),
  effects: EffectCounts,
  ...seen,
});
export type AgentFile = z.output<typeof AgentFile>;

export const AgentConnection = z.strictObject({
  destination: z.string().nullable().describe('Host, if a source reports its name'),
  address: z.string().nullable(),
  port: z.int().nullable(),
  count: z.int(),
  isExternal: z.boolean().nullable().describe('Whether it is outside of the own network'),
  isModel: z.boolean().nullable(),
  effects: EffectCounts,
  ...seen,
});
export type AgentConnection = z.output<typeof AgentConnection>;

export const maxObjects = 500;

interface Row {
  readonly object: readonly string[];
  readonly operations: readonly string[];
  readonly total: string;
  readonly links: readonly string[];
  readonly first: string;
  readonly last: string;
  readonly flags: readonly string[];
}

/** Reads objects of effects, those with unexplained effects first. */
const readObjects = (
  { columns }: TenantReader,
  { condition, parameters }: AgentScope,
  { kinds, object }: { readonly kinds: readonly string[]; readonly object: string },
): Promise<Row[]> =>
  columns.query<Row>(
    `SELECT ${object} AS object, arraySort(groupUniqArray(toString(operation))) AS operations, toString(sum(agent_events.count)) AS total,
      [toString(countIf(link = 'stated')), toString(countIf(link = 'likely')), toString(countIf(link = 'unexplained'))] AS links,
      toString(toUnixTimestamp64Nano(min(timestamp))) AS first, toString(toUnixTimestamp64Nano(max(timestamp))) AS last,
      [any(facts['IsExternal']), any(facts['IsModelHost'])] AS flags
    FROM ${agentEventsSource} WHERE ${condition} AND kind IN {kinds:Array(String)} GROUP BY object
    ORDER BY countIf(link = 'unexplained') > 0 DESC, last DESC, object LIMIT ${maxObjects}`,
    { ...parameters, kinds: [...kinds] },
  );

const toShared = ({ links, first, last, total }: Row) => ({
  count: Number(total),
  effects: { stated: Number(links[0]), likely: Number(links[1]), unexplained: Number(links[2]) },
  firstSeenAt: formatTime(BigInt(first)),
  lastSeenAt: formatTime(BigInt(last)),
});

const toFlag = (text: string | undefined): boolean | null =>
  text === undefined || text === '' ? null : text === 'true';

/** Returns the files of a scope. */
export const readAgentFiles = async (reader: TenantReader, scope: AgentScope): Promise<AgentFile[]> => {
  const rows = await readObjects(reader, scope, { kinds: ['file'], object: '[path]' });
  return rows.map((row) => ({
    path: row.object[0] ?? '',
    operations: row.operations.filter((operation) => operation !== ''),
    ...toShared(row),
  }));
};

/** Returns the hosts and addresses to which the processes of a scope connected, or sent requests. */
export const readAgentConnections = async (reader: TenantReader, scope: AgentScope): Promise<AgentConnection[]> => {
  const rows = await readObjects(reader, scope, {
    kinds: ['connection', 'http_request'],
    object: '[toString(host_name), address, toString(port)]',
  });
  return rows.map((row) => {
    const [destination = '', address = '', port = '0'] = row.object;
    return {
      destination: toNullIfEmpty(destination),
      address: toNullIfEmpty(address),
      port: Number(port) || null,
      isExternal: toFlag(row.flags[0]),
      isModel: toFlag(row.flags[1]),
      ...toShared(row),
    };
  });
};

const maxModelCalls = 200;
/** Clocks of a tracer and of an instrumentation differ. */
const toleranceNs = 60_000_000_000n;

/**
 * Returns the requests to models of a scope: calls with a response that the agent received, or of a span of it. Empty
 * without access to calls of models.
 */
export const readAgentModelCalls = async (reader: TenantReader, scope: AgentScope): Promise<LlmCallView[]> => {
  if (!canRead(reader, 'llm') || !canRead(reader, 'traces')) return [];
  const { columns } = reader;
  const messages = await columns.query<{ response: string; span: string }>(
    `SELECT DISTINCT response_id AS response, span_id AS span FROM ${agentEventsSource}
    WHERE ${scope.condition} AND kind = 'model_response' AND (response_id != '' OR span_id != '') LIMIT 10000`,
    scope.parameters,
  );
  if (messages.length === 0) return [];
  const rows = await columns.query<LlmCallRow>(
    `SELECT ${llmCallSelection} FROM ${llmCallsSource}
    WHERE (response_id != '' AND response_id IN {responses:Array(String)}) OR (span_id != '' AND span_id IN {spans:Array(String)})
    ORDER BY llm_calls.timestamp DESC LIMIT ${maxModelCalls}`,
    {
      from: String(scope.range.from - toleranceNs),
      to: String(scope.range.to + toleranceNs),
      responses: messages.flatMap(({ response }) => (response === '' ? [] : [response])),
      spans: messages.flatMap(({ span }) => (span === '' ? [] : [span])),
    },
  );
  return rows.map(toLlmCallView);
};
