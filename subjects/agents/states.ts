/** What is remembered about processes, agents and sessions while their events arrive. */
import { z } from 'zod';
import { AgentEvent, AgentReport } from '../../schemas/agent-events.ts';

/** A process, by host and PID. */
export const ProcessState = z.strictObject({
  id: z.string(),
  boot: z.string(),
  startMs: z.number(),
  processStart: z.string(),
  pid: z.int(),
  parentPid: z.int(),
  /** Parent at the start of the process; empty if unknown. */
  parentId: z.string(),
  threadName: z.string(),
  program: z.string(),
  command: z.string(),
  folder: z.string(),
  user: z.string(),
  /** Process of the agent in whose tree it is; empty if it is in none that is known. */
  rootId: z.string(),
  /** Time of its exit; 0 while it runs. */
  exitedMs: z.number(),
  /** Tool call that started it or one of its ancestors; empty for none. */
  callId: z.string(),
  callName: z.string(),
});
export type ProcessState = z.output<typeof ProcessState>;

/** A process tree of an agent, by its root process. */
export const TreeState = z.strictObject({
  agentId: z.string(),
  agent: z.string(),
  startMs: z.number(),
  /** Latest sessions. */
  sessionIds: z.array(z.string()),
  /** Session of the latest request to a model, to which responses belong. */
  requestSessionId: z.string(),
  modelHosts: z.array(z.string()),
  workFolder: z.string(),
});
export type TreeState = z.output<typeof TreeState>;

/** A tool call of a session. */
export const CallState = z.strictObject({
  callId: z.string(),
  name: z.string(),
  /** All texts of its input. */
  text: z.string(),
  isCommand: z.boolean(),
  atMs: z.number(),
  turn: z.int(),
  isAnswered: z.boolean(),
});
export type CallState = z.output<typeof CallState>;

export const SessionState = z.strictObject({
  id: z.string(),
  conversationId: z.string(),
  startMs: z.number(),
  lastMs: z.number(),
  turn: z.int(),
  prompt: z.string(),
  /** Texts of the latest prompts. */
  prompts: z.string(),
  calls: z.array(CallState),
  lastCall: z.string(),
  repetitions: z.int(),
  /** Texts in answers of tools that address the model. */
  instructions: z.string(),
  workFolder: z.string(),
  hasResponses: z.boolean(),
  hasTools: z.boolean(),
});
export type SessionState = z.output<typeof SessionState>;

/** Hosts that an agent has contacted. */
export const ContactState = z.strictObject({ hosts: z.array(z.string()) });

/** A report that waits until events of the same time have arrived. */
export const PendingReport = z.strictObject({ dueMs: z.number(), report: AgentReport });

/** An event of a process that may turn out to belong to an agent. */
export const EarlyEvent = z.strictObject({ event: AgentEvent, isStored: z.boolean() });

export const BootState = z.strictObject({ boot: z.string(), offsetMs: z.number(), lastNs: z.number() });

/** A store of values by key, such as a state of a processor. */
export interface Store<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  entries(): Iterable<[key: string, value: Value]>;
}

export interface ActivityStores {
  readonly boots: Store<z.output<typeof BootState>>;
  readonly processes: Store<ProcessState>;
  readonly trees: Store<TreeState>;
  readonly sessions: Store<SessionState>;
  readonly contacts: Store<z.output<typeof ContactState>>;
  readonly early: Store<z.output<typeof EarlyEvent>>;
}
