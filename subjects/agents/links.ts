/** Relates an effect of an agent's processes to what the model requested. */
import type { EffectLink } from '../../schemas/agent-events.ts';
import { getProgramName, isListedHost, isModelHost, type KnownAgent } from './known-agents.ts';
import { isShell, mentionsCommand, mentionsFolderOf, mentionsHost, mentionsPath, mentionsProgram } from './mentions.ts';
import type { CallState, ProcessState, SessionState } from './states.ts';

/** An effect, with what may explain it. */
export interface Effect {
  readonly kind: string;
  readonly timeMs: number;
  readonly program: string;
  readonly command: string;
  readonly path: string;
  readonly pathAfter: string;
  readonly operation: string;
  readonly hostName: string;
  readonly address: string;
}

export interface EffectContext {
  readonly process: ProcessState;
  /** Whether the process is the agent itself. */
  readonly isRoot: boolean;
  readonly rootStartMs: number;
  readonly session: SessionState;
  readonly agent: KnownAgent | undefined;
  /** Hosts to which the agent sent requests to models. */
  readonly modelHosts: readonly string[];
}

export interface Link {
  readonly link: EffectLink;
  readonly reason: string;
  /** Call that explains the effect; empty for none. */
  readonly callId: string;
}

/** Clocks of sources differ: a call that is reported a little after its effect may explain it. */
const toleranceMs = 2_000;
/** An agent starts its helpers, such as servers of tools, in this time. */
const startupMs = 30_000;

/** Returns whether a text names the object of an effect. */
export const mentionsEffect = (text: string, effect: Effect, workFolder: string): boolean => {
  switch (effect.kind) {
    case 'process_start':
    case 'command':
      return mentionsCommand(text, effect.program, effect.command);
    case 'file':
      return (
        mentionsPath(text, effect.path, workFolder) ||
        (effect.pathAfter !== '' && mentionsPath(text, effect.pathAfter, workFolder))
      );
    default:
      return mentionsHost(text, effect.hostName) || mentionsHost(text, effect.address);
  }
};

const objectNames: Readonly<Record<string, string>> = {
  process_start: 'the command',
  command: 'the command',
  file: 'the path',
  connection: 'the host',
  http_request: 'the host',
};

/** Files that programs of the system read by themselves. */
const systemFilePattern =
  /^\/(?:proc|sys|dev|usr|lib|lib32|lib64|opt|snap|nix|run|bin|sbin)\/|^\/etc\/(?:ssl|pki|ld\.so|resolv\.conf|hosts|nsswitch\.conf|localtime|passwd|group|locale|host\.conf|gai\.conf|ca-certificates|os-release|machine-id|timezone|mime\.types|services|protocols|bash|profile|zsh|terminfo|inputrc|gitconfig|npmrc|environment|selinux|crypto-policies|openssl)/;
const cachePattern =
  /\/(?:\.cache|\.npm|\.nvm|\.local\/(?:share|state)|\.bun|\.volta|\.terminfo|__pycache__|Library\/Caches)\//;

/** Returns whether programs of this kind open a file by themselves: their state, caches, libraries and settings of the system. */
export const isOwnFile = (path: string, operation: string, agent: KnownAgent | undefined): boolean => {
  const isState = agent?.stateFiles.some((part) => path.includes(part)) === true;
  const isInstallation = agent?.installations.some((part) => path.includes(part)) === true;
  if (isState || isInstallation || cachePattern.test(path)) return true;
  return operation === 'read' || path.startsWith('/dev/') || path.startsWith('/proc/')
    ? systemFilePattern.test(path)
    : false;
};

const searchToolPattern = /grep|glob|search|find|list|^ls$|read_many|codebase/i;

const listCalls = ({ calls, turn }: SessionState, { callId }: ProcessState, timeMs: number): CallState[] =>
  calls.filter((call) => call.atMs <= timeMs + toleranceMs && (call.turn === turn || call.callId === callId)).reverse();

const findStated = (effect: Effect, calls: readonly CallState[], workFolder: string): Link | undefined => {
  const call = calls.find(({ text }) => mentionsEffect(text, effect, workFolder));
  return call === undefined
    ? undefined
    : {
        link: 'stated',
        reason: `a call of ${call.name || 'a tool'} names ${objectNames[effect.kind] ?? 'it'}`,
        callId: call.callId,
      };
};

/** Tools that agents run themselves, without a process. */
const ownToolPattern =
  /^(?:read|write|edit|multi_?edit|notebook|todo|task|web_?fetch|web_?search|str_replace|apply_?patch|view|create|think|update_plan|exit_plan|ask|replace|save_memory|read_file|write_file)/i;
/** Programs by which agents search. */
const searchPrograms = new Set(['rg', 'ripgrep', 'grep', 'find', 'fd', 'ls', 'git', 'ag', 'cat', 'tree']);

const isSearch = (effect: Effect, { name, text }: CallState, { isRoot, session }: EffectContext): boolean => {
  if (!searchToolPattern.test(name)) return false;
  if (effect.kind === 'process_start') return searchPrograms.has(getProgramName(effect.program));
  if (effect.kind !== 'file' || effect.operation !== 'read') return false;
  const { workFolder } = session;
  return (
    !isRoot ||
    workFolder === '' ||
    effect.path.startsWith(`${workFolder}/`) ||
    mentionsFolderOf(text, effect.path, workFolder)
  );
};

/** Returns why a call that has not been answered yet may explain an effect. */
const explainByRunningCall = (effect: Effect, call: CallState, context: EffectContext): string | undefined => {
  const { name, text, isCommand } = call;
  const isStart = effect.kind === 'process_start';
  if (isCommand) {
    // A tracer that reports no arguments shows only that a shell, or a program of the command, was started.
    const isStarted =
      isStart && effect.command === '' && (isShell(effect.program) || mentionsProgram(text, effect.program));
    return isStarted ? `started while ${name} ran a command` : undefined;
  }
  if (isSearch(effect, call, context)) return `happened while ${name} searched`;
  if (ownToolPattern.test(name)) {
    const isInFolder = effect.kind === 'file' && mentionsFolderOf(text, effect.path, context.session.workFolder);
    return isInFolder ? `a call of ${name} names its folder` : undefined;
  }
  // Servers of tools, and processes that a tool of the agent starts.
  return !searchToolPattern.test(name) && (isStart || !context.isRoot) ? `happened while ${name} ran` : undefined;
};

/** Links an effect to a call that has not been answered yet. */
const findRunning = (effect: Effect, calls: readonly CallState[], context: EffectContext): Link | undefined => {
  for (const call of calls) {
    const reason = call.isAnswered ? undefined : explainByRunningCall(effect, call, context);
    if (reason !== undefined) return { link: 'likely', reason, callId: call.callId };
  }
  return undefined;
};

const explainByDefault = (
  effect: Effect,
  { process, isRoot, rootStartMs, session, agent, modelHosts }: EffectContext,
): string | undefined => {
  const { kind, hostName, address, path, operation } = effect;
  if (kind === 'connection' || kind === 'http_request') {
    if (modelHosts.includes(hostName) || modelHosts.includes(address) || isModelHost(hostName))
      return 'host of the model';
    if (agent !== undefined && isListedHost(agent.hosts, hostName)) return 'host of the maker of the agent';
  }
  if (kind === 'file' && isOwnFile(path, operation, agent)) return 'file of the agent or the system';
  const isStartup = session.turn === 0 && effect.timeMs - rootStartMs <= startupMs;
  if (isStartup && (kind === 'process_start' || !isRoot) && process.callId === '') return 'start of the agent';
  return undefined;
};

const explainNothing = ({ turn, hasResponses }: SessionState): string => {
  if (turn === 0) return 'no prompt was captured before it';
  if (!hasResponses) return 'no response of the model was captured';
  return 'no tool call of the turn names it, and no tool started its process';
};

/** Returns how an effect relates to the tool calls of its turn, and why. */
export const linkEffect = (effect: Effect, context: EffectContext): Link => {
  const { process, session } = context;
  const calls = listCalls(session, process, effect.timeMs);
  const stated = findStated(effect, calls, session.workFolder);
  if (stated !== undefined) return stated;
  if (process.callId !== '')
    return {
      link: 'likely',
      reason: `caused by a process that ${process.callName || 'a tool'} started`,
      callId: process.callId,
    };
  const running = findRunning(effect, calls, context);
  if (running !== undefined) return running;
  const defaultReason = explainByDefault(effect, context);
  if (defaultReason !== undefined) return { link: 'likely', reason: defaultReason, callId: '' };
  return { link: 'unexplained', reason: explainNothing(session), callId: '' };
};
