/** Facts about effects by which detection rules decide, by the names of their Sigma fields. */
import type { AgentEvent } from '../../schemas/agent-events.ts';
import { isListedHost, isModelHost, type KnownAgent, registryHosts } from './known-agents.ts';
import { isOwnFile, mentionsEffect } from './links.ts';
import { mentionsCommand, mentionsFolderOf, mentionsHost, mentionsPath } from './mentions.ts';
import type { CallState, SessionState } from './states.ts';

const privateAddressPattern =
  /^(?:127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0$|::1$|::$|::ffff:(?:127|10)\.|f[cd][0-9a-f]{2}:|fe80:)/i;
const privateNamePattern = /^(?:localhost|[^.]+)$|\.(?:local|localhost|internal|lan|test|svc|cluster\.local)$/i;

/** Returns whether a host is outside of the own network. */
export const isExternalHost = (hostName: string, address: string): boolean =>
  hostName !== '' ? !privateNamePattern.test(hostName) : address !== '' && !privateAddressPattern.test(address);

interface FactContext {
  readonly session: SessionState;
  readonly agent: KnownAgent | undefined;
  readonly modelHosts: readonly string[];
  /** Whether the agent contacts the host for the first time. */
  readonly isNewHost: boolean;
  /** Whether the process is the agent itself. */
  readonly isAgentProcess: boolean;
}

const toFlag = (value: boolean): string => String(value);

const buildHostFacts = ({ hostName, address }: AgentEvent, { agent, modelHosts, isNewHost }: FactContext) => {
  const isModel = isModelHost(hostName) || modelHosts.includes(hostName || address);
  return {
    IsExternal: toFlag(isExternalHost(hostName, address)),
    IsKnownHost: toFlag(
      isModel || isListedHost(registryHosts, hostName) || (agent !== undefined && isListedHost(agent.hosts, hostName)),
    ),
    IsModelHost: toFlag(isModel),
    IsNewHost: toFlag(isNewHost),
  };
};

const temporaryPattern = /^(?:\/tmp|\/var\/tmp|\/private\/tmp|\/var\/folders|\/dev|\/proc|\/run)\//;

const buildFileFacts = ({ path, operation }: AgentEvent, { session: { workFolder }, agent }: FactContext) => ({
  IsOwnFile: toFlag(isOwnFile(path, operation, agent)),
  IsTemporaryFile: toFlag(temporaryPattern.test(path)),
  ...(workFolder !== '' && { InWorkFolder: toFlag(path === workFolder || path.startsWith(`${workFolder}/`)) }),
});

/** Returns the facts of an effect of an agent. */
export const buildEffectFacts = (event: AgentEvent, context: FactContext): Readonly<Record<string, string>> => {
  const { session } = context;
  const { prompts, instructions, workFolder } = session;
  const isFile = event.kind === 'file';
  const isNamedInPrompt =
    mentionsEffect(prompts, event, workFolder) ||
    (isFile &&
      (mentionsFolderOf(prompts, event.path, workFolder) ||
        mentionsPath(prompts, event.path.slice(event.path.lastIndexOf('/') + 1), '')));
  return {
    IntentKnown: toFlag(session.hasResponses && session.turn > 0),
    NamedInPrompt: toFlag(isNamedInPrompt),
    FromInstructions: toFlag(
      instructions !== '' && !isNamedInPrompt && mentionsEffect(instructions, event, workFolder),
    ),
    IsAgentProcess: toFlag(context.isAgentProcess),
    ...(isFile ? buildFileFacts(event, context) : {}),
    ...(event.kind === 'connection' || event.kind === 'http_request' ? buildHostFacts(event, context) : {}),
  };
};

const urlHostPattern = /\bhttps?:\/\/(?:[^\s/@"'`]{1,128}@)?([A-Za-z0-9._-]{1,253})/g;

/** Returns the facts of a tool call. */
export const buildCallFacts = (
  { text, isCommand }: CallState,
  { prompts, instructions, workFolder }: SessionState,
): Readonly<Record<string, string>> => {
  const isNamedInPrompt = isCommand && mentionsCommand(prompts, '', text);
  if (instructions === '' || isNamedInPrompt) return { NamedInPrompt: toFlag(isNamedInPrompt) };
  const hosts = [...text.matchAll(urlHostPattern)].map(([, host = '']) => host);
  const callsInstructedHost = hosts.some(
    (host) => mentionsHost(instructions, host) && !mentionsHost(prompts, host) && isExternalHost(host, ''),
  );
  const isInstructed =
    callsInstructedHost ||
    (isCommand && mentionsCommand(instructions, '', text)) ||
    (!isCommand &&
      text.split('\n').some((part) => part.startsWith('/') && mentionsPath(instructions, part, workFolder)));
  return {
    NamedInPrompt: 'false',
    FromInstructions: toFlag(isInstructed),
    CallsInstructedHost: toFlag(callsInstructedHost),
  };
};
