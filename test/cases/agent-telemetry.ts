/** Recorded sessions of agents, as AgentSight and Falco report them, and the processors that read them. */
import { agentDetections } from '../../processors/agents/agent-detections.ts';
import { agentEvents } from '../../processors/agents/agent-events.ts';
import { agentLogReports } from '../../processors/agents/agent-log-reports.ts';
import { correlations } from '../../processors/detections/correlations.ts';
import type { AgentEvent } from '../../schemas/agent-events.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { DetectionSignal } from '../../schemas/signals.ts';
import { topics } from '../../schemas/topics.ts';
import { firstMs, TaskRun } from './run-task.ts';
import { landIn } from './sink-tables.ts';

/** Body of a log record, with the time at which the record was written. */
export interface AgentRecord {
  readonly atMs: number;
  readonly body: object;
}

export const agentPid = 4_000;
export const workFolder = '/Users/ann/shop';
const bootedMs = 5 * 86_400_000;

interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

/** Writes the events of one session, each a little later than the one before. */
export class AgentSession {
  readonly records: AgentRecord[] = [];
  readonly #pid: number;
  readonly #conversation: string;
  readonly #messages: object[] = [];
  #atMs: number;

  constructor({ startMs = firstMs, pid = agentPid, conversation = '0d3adb3e-0000-4000-8000-000000000001' } = {}) {
    this.#pid = pid;
    this.#conversation = conversation;
    this.#atMs = startMs;
  }

  get nowMs(): number {
    return this.#atMs;
  }

  wait(ms: number): this {
    this.#atMs += ms;
    return this;
  }

  event(source: string, data: object, { pid = this.#pid, comm = 'claude' } = {}): this {
    this.#atMs += 20;
    const timestamp = (bootedMs + this.#atMs - firstMs) * 1_000_000;
    this.records.push({ atMs: this.#atMs + 5, body: { timestamp, source, pid, comm, data: { ...data, pid } } });
    return this;
  }

  start(): this {
    return this.exec(this.#pid, 900, '/usr/local/bin/claude', 'claude', workFolder);
  }

  exec(pid: number, ppid: number, filename: string, command = '', cwd = ''): this {
    const data = {
      event: 'EXEC',
      ppid,
      filename,
      ...(command !== '' && { full_command: command }),
      ...(cwd !== '' && { cwd }),
    };
    return this.event('process', data, { pid, comm: filename.slice(filename.lastIndexOf('/') + 1) });
  }

  exit(pid: number): this {
    return this.event('process', { event: 'EXIT', exit_code: 0 }, { pid });
  }

  file(pid: number, filepath: string, flags = 0): this {
    return this.event('process', { event: 'FILE_OPEN', count: 1, filepath, flags }, { pid });
  }

  connect(pid: number, host: string, port = 443): this {
    return this.event(
      'process',
      { event: 'SUMMARY', type: 'NET_CONNECT', detail: `${host}:${port}`, count: 1 },
      { pid },
    );
  }

  #request(): this {
    const body = {
      model: 'claude-sonnet-4-5',
      system: [{ type: 'text', text: `You are an agent.\nWorking directory: ${workFolder}\n` }],
      tools: [{ name: 'Bash' }],
      messages: this.#messages,
      metadata: { user_id: `user_1_account__session_${this.#conversation}` },
    };
    return this.event(
      'http_parser',
      {
        message_type: 'request',
        method: 'POST',
        path: '/v1/messages?beta=true',
        headers: { host: 'api.anthropic.com', 'user-agent': 'claude-cli/2.0.1' },
        body: JSON.stringify(body),
      },
      { comm: 'HTTP Client' },
    );
  }

  prompt(text: string): this {
    this.#messages.push({ role: 'user', content: [{ type: 'text', text }] });
    return this.#request();
  }

  respond(text: string, calls: readonly Call[] = []): this {
    const content = [
      { type: 'text', text },
      ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
    ];
    this.#messages.push({ role: 'assistant', content });
    return this.event(
      'http_parser',
      {
        message_type: 'response',
        status_code: 200,
        body: JSON.stringify({
          id: `msg_${this.records.length}`,
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content,
        }),
      },
      { comm: 'HTTP Client' },
    );
  }

  result(id: string, content: string): this {
    this.#messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] });
    return this.#request();
  }

  /** A shell command that the model requests, and its shell process. */
  bash(id: string, command: string, shellPid: number): this {
    return this.respond('', [{ id, name: 'Bash', input: { command } }]).exec(
      shellPid,
      this.#pid,
      '/bin/bash',
      `/bin/bash -c ${command}`,
    );
  }
}

export interface AgentRunResult {
  readonly events: AgentEvent[];
  readonly signals: DetectionSignal[];
}

const resource = { 'service.name': 'agentsight', 'host.name': 'laptop' };

/** Runs records through the processors, and returns the last version of each event, in order, and all signals. */
export const runAgentRecords = (
  records: readonly AgentRecord[],
  { perMessage = 10, restarts = false, host = 'laptop' } = {},
): AgentRunResult => {
  const logs = new TaskRun(agentLogReports);
  const placed = new TaskRun(agentEvents);
  const detected = new TaskRun(agentDetections);
  const correlated = new TaskRun(correlations);
  let read = 0;
  for (let index = 0; index < records.length; index += perMessage) {
    const batch = records.slice(index, index + perMessage);
    const atMs = Math.max(...batch.map((record) => record.atMs));
    logs.logs(
      batch.map((record) => ({
        timeUnixNano: `${BigInt(Math.round(record.atMs)) * 1_000_000n}`,
        body: { stringValue: JSON.stringify(record.body) },
      })),
      { ...resource, 'host.name': host },
      { atMs },
    );
    const reports = logs.emitted(topics.agentReports);
    placed.values(reports.slice(read), { atMs });
    read = reports.length;
    placed.tick(atMs);
    if (restarts) placed.restart();
  }
  const endMs = Math.max(...records.map((record) => record.atMs)) + 10_000;
  placed.tick(endMs);
  const emitted = placed.emitted<AgentEvent>(topics.agentEvents);
  for (const event of emitted) detected.values([event], { atMs: endMs });
  const matches = detected.emitted(topics.detectionMatches);
  for (const match of matches) correlated.values([match], { atMs: endMs });
  correlated.tick(endMs + 3_600_000);
  const last = new Map<string, AgentEvent>();
  for (const event of emitted) if ((last.get(event.id)?.version ?? -1) < event.version) last.set(event.id, event);
  return {
    events: [...last.values()].toSorted((left, right) =>
      left.time < right.time ? -1 : left.time > right.time ? 1 : 0,
    ),
    signals: [
      ...detected.emitted<DetectionSignal>(topics.signals),
      ...correlated.emitted<DetectionSignal>(topics.signals),
    ],
  };
};

/** Stores what the processors derive from records, as the pipeline does. */
export const landAgentRecords = async (
  columns: Columns,
  records: readonly AgentRecord[],
  { tenantId = 'a', host = 'laptop' }: { readonly tenantId?: string; readonly host?: string } = {},
): Promise<AgentRunResult> => {
  const result = runAgentRecords(records, { host });
  const land = landIn(columns);
  const atMs = Math.max(...records.map((record) => record.atMs));
  for (const [sink, values] of [
    ['agent-events', result.events],
    ['signals', result.signals],
  ] as const) {
    const value = Buffer.from(JSON.stringify(values.map((each) => ({ ...each, tenantId, projectId: 'default' }))));
    const { rejected } = await land([{ offset: 0, value, headers: { tenant: tenantId }, timestampMs: atMs }], { sink });
    if (rejected.length > 0) throw new Error(JSON.stringify(rejected));
  }
  return result;
};
