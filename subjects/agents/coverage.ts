/** Coverage: whether the traffic of a process is captured. Silence of a tracer is not silence of an agent. */
import { z } from 'zod';
import { agentEventsSource } from '../../queries/signals/agent-events-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { toNullIfEmpty } from '../../schemas/text.ts';
import { modelHosts } from './known-agents.ts';
import type { AgentScope } from './scope.ts';

export const coverageStates = ['captured', 'outgoing', 'blind', 'idle', 'unknown'] as const;
export type CoverageState = (typeof coverageStates)[number];

export const Coverage = z.strictObject({
  state: z
    .enum(coverageStates)
    .describe(
      '`captured`: both directions. `outgoing`: requests only. `blind`: connections to a model, but no plaintext. `idle`: neither. `unknown`: no source reports connections',
    ),
  reason: z.string(),
});
export type Coverage = z.output<typeof Coverage>;

/** Connections to a model without plaintext, from which on a process is blind. */
const blindConnections = 3;

interface Traffic {
  readonly incoming: number;
  readonly outgoing: number;
  /** Connections to hosts of models. */
  readonly modelConnections: number;
  /** All connections. */
  readonly connections: number;
  /** Whether any source reports connections of the host. */
  readonly hasConnectionSource: boolean;
}

/** Returns the coverage of a process by its traffic. */
export const judgeCoverage = ({
  incoming,
  outgoing,
  modelConnections,
  connections,
  hasConnectionSource,
}: Traffic): Coverage => {
  if (incoming > 0 && outgoing > 0)
    return { state: 'captured', reason: `plaintext of ${outgoing} outgoing and ${incoming} incoming messages` };
  if (outgoing > 0)
    return { state: 'outgoing', reason: `plaintext of ${outgoing} outgoing messages, and of no incoming one` };
  if (incoming > 0) return { state: 'captured', reason: `plaintext of ${incoming} incoming messages` };
  if (modelConnections >= blindConnections)
    return {
      state: 'blind',
      reason: `${modelConnections} connections to a model without plaintext: its TLS library may be linked statically`,
    };
  if (modelConnections > 0)
    return {
      state: 'unknown',
      reason: `${modelConnections} connections to a model without plaintext, too few for a verdict`,
    };
  if (connections > 0) return { state: 'idle', reason: `none of its ${connections} connections goes to a model` };
  return hasConnectionSource
    ? { state: 'idle', reason: 'no connection and no plaintext' }
    : { state: 'unknown', reason: 'no source reports connections of this host' };
};

export const AgentProcess = z.strictObject({
  id: z.string().describe('Process by host, boot, PID and start time'),
  parentId: z.string().nullable(),
  pid: z.int(),
  parentPid: z.int().nullable(),
  program: z.string().nullable(),
  threadNames: z.array(z.string()).describe('Names of its threads, at most 10'),
  command: z.string().nullable(),
  folder: z.string().nullable(),
  user: z.string().nullable(),
  startedAt: z.string(),
  lastSeenAt: z.string(),
  exitedAt: z.string().nullable(),
  exitCode: z.int().nullable(),
  link: z.string().nullable().describe('Link of its start: stated, likely or unexplained'),
  reason: z.string().nullable(),
  sessionId: z.string().nullable(),
  events: z.int(),
  coverage: Coverage,
});
export type AgentProcess = z.output<typeof AgentProcess>;

interface Row {
  readonly process: string;
  readonly parent: string;
  readonly pid_text: string;
  readonly parent_pid_text: string;
  readonly texts: readonly string[];
  readonly threads: readonly string[];
  readonly start: string;
  readonly last: string;
  readonly exited: string;
  readonly code: string | null;
  readonly event_count: string;
  readonly incoming: string;
  readonly outgoing: string;
  readonly model_connections: string;
  readonly connections: string;
}

export const maxProcesses = 2_000;

/** SQL of whether a host is one of a model, by the table of hosts and by requests of the agent. */
const modelHostSql =
  "(host_name IN {modelHosts:Array(String)} OR match(host_name, '^bedrock-runtime|openai\\\\.azure\\\\.com$|-aiplatform\\\\.googleapis\\\\.com$|githubcopilot\\\\.com$'))";

const lastText = (column: string): string => `argMaxIf(toString(${column}), timestamp, toString(${column}) != '')`;

/** Returns the processes of a scope with their coverage, in the order of their start. */
export const readAgentProcesses = async (
  { columns }: TenantReader,
  { condition, parameters }: AgentScope,
): Promise<AgentProcess[]> => {
  const [rows, hosts] = await Promise.all([
    columns.query<Row>(
      `SELECT process_id AS process, max(parent_process_id) AS parent, toString(max(agent_events.pid)) AS pid_text,
        toString(max(agent_events.parent_pid)) AS parent_pid_text,
        [${['program', 'command', 'folder', 'user_name'].map(lastText).join(', ')},
          argMinIf(toString(link), timestamp, kind = 'process_start'), argMinIf(toString(reason), timestamp, kind = 'process_start'), ${lastText('session_id')}] AS texts,
        groupUniqArrayIf(10)(toString(thread_name), thread_name != '') AS threads,
        toString(min(start_ms)) AS start, toString(toUnixTimestamp64Nano(max(timestamp))) AS last,
        toString(toUnixTimestamp64Nano(maxIf(timestamp, kind = 'process_exit'))) AS exited,
        toString(argMaxIf(exit_code, timestamp, kind = 'process_exit')) AS code, toString(count()) AS event_count,
        toString(countIf(direction = 'in' AND kind IN ('tls', 'http_response', 'model_response'))) AS incoming,
        toString(countIf(direction = 'out' AND kind IN ('tls', 'http_request', 'model_request'))) AS outgoing,
        toString(sumIf(agent_events.count, kind = 'connection' AND ${modelHostSql})) AS model_connections,
        toString(sumIf(agent_events.count, kind = 'connection')) AS connections
      FROM ${agentEventsSource} WHERE ${condition} AND process_id != '' GROUP BY process ORDER BY start, process LIMIT ${maxProcesses}`,
      { ...parameters, modelHosts: [...modelHosts] },
    ),
    columns.query<{ found: string }>(
      `SELECT toString(count()) AS found FROM ${agentEventsSource} WHERE kind = 'connection' AND host IN (SELECT host FROM ${agentEventsSource} WHERE ${condition})`,
      parameters,
    ),
  ]);
  const hasConnectionSource = Number(hosts[0]?.found ?? 0) > 0;
  return rows.map((row) => toProcess(row, hasConnectionSource));
};

const toProcess = (row: Row, hasConnectionSource: boolean): AgentProcess => {
  const [program = '', command = '', folder = '', user = '', link = '', reason = '', sessionId = ''] = row.texts;
  return {
    id: row.process,
    parentId: toNullIfEmpty(row.parent),
    pid: Number(row.pid_text),
    parentPid: row.parent_pid_text === '0' ? null : Number(row.parent_pid_text),
    program: toNullIfEmpty(program),
    threadNames: [...row.threads],
    command: toNullIfEmpty(command),
    folder: toNullIfEmpty(folder),
    user: toNullIfEmpty(user),
    startedAt: new Date(Number(row.start)).toISOString(),
    lastSeenAt: formatTime(BigInt(row.last)),
    exitedAt: BigInt(row.exited) <= 0n ? null : formatTime(BigInt(row.exited)),
    exitCode: row.code === null || BigInt(row.exited) <= 0n ? null : Number(row.code),
    link: toNullIfEmpty(link),
    reason: toNullIfEmpty(reason),
    sessionId: toNullIfEmpty(sessionId),
    events: Number(row.event_count),
    coverage: judgeCoverage({
      incoming: Number(row.incoming),
      outgoing: Number(row.outgoing),
      modelConnections: Number(row.model_connections),
      connections: Number(row.connections),
      hasConnectionSource,
    }),
  };
};
