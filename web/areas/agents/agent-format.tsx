/** Parts that several views of agents show */
import { formatNumber } from '../../charts/values.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import type { AgentDetails, AgentItem, Effect } from './calls.ts';

export const areaPath = '/agents';

type CoverageState = AgentDetails['processes'][number]['coverage']['state'];

const coverageTones: Readonly<Record<CoverageState, Tone>> = {
  captured: 'ok',
  outgoing: 'warning',
  blind: 'critical',
  idle: 'neutral',
  unknown: 'neutral',
};
const coverageTitles: Readonly<Record<CoverageState, string>> = {
  captured: 'Captured',
  outgoing: 'Outgoing only',
  blind: 'Blind',
  idle: 'Idle',
  unknown: 'Unknown',
};

export const CoverageBadge = ({ state, reason }: AgentDetails['processes'][number]['coverage']) => (
  <span title={reason}>
    <Badge tone={coverageTones[state]}>{coverageTitles[state]}</Badge>
  </span>
);

/** Worst coverage of an agent's processes with traffic, and how many have it. */
export const CoverageSummary = ({ coverage }: Pick<AgentItem, 'coverage'>) => {
  const state = (['blind', 'outgoing', 'captured', 'unknown', 'idle'] as const).find((each) => coverage[each] > 0);
  return state === undefined ? null : (
    <span class="no-wrap">
      <Badge tone={coverageTones[state]}>{coverageTitles[state]}</Badge>{' '}
      <span class="soft">{formatNumber(coverage[state])}</span>
    </span>
  );
};

const linkTones: Readonly<Record<NonNullable<Effect['link']>, Tone>> = {
  stated: 'ok',
  likely: 'neutral',
  unexplained: 'critical',
};
const linkTitles = { stated: 'Stated', likely: 'Likely', unexplained: 'Unexplained' } as const;

export const LinkBadge = ({ link }: { readonly link: NonNullable<Effect['link']> }) => (
  <Badge tone={linkTones[link]}>{linkTitles[link]}</Badge>
);

export const UnexplainedCount = ({ count }: { readonly count: number }) =>
  count === 0 ? <span class="soft">0</span> : <span class="text-error">{formatNumber(count)}</span>;

const operationTitles: Readonly<Record<string, string>> = {
  read: 'Read',
  write: 'Write',
  create: 'Create',
  delete: 'Delete',
  rename: 'Rename',
  truncate: 'Truncate',
};

/** Title of the kind of an effect: what was done. */
export const toEffectTitle = ({ kind, operation }: Pick<Effect, 'kind' | 'operation'>): string => {
  if (kind === 'file') return operationTitles[operation ?? ''] ?? 'Open';
  return kind === 'process_start' || kind === 'command' ? 'Run' : 'Connect';
};

/** Text of the object of an effect: a path, command or host. */
export const toEffectText = ({
  kind,
  path,
  pathAfter,
  command,
  program,
  destination,
  address,
  port,
}: Effect): string => {
  if (kind === 'file') return [path, pathAfter].filter(Boolean).join(' → ');
  if (kind === 'process_start' || kind === 'command') return command ?? program ?? 'unknown program';
  return `${destination ?? address ?? 'unknown host'}${port === null ? '' : `:${port}`}`;
};

export const toSessionUrl = (sessionId: string, turn?: number | null): string =>
  toArea(`${areaPath}/sessions`, { session: sessionId, ...(turn ? { turn: String(turn) } : {}) });

export const renderProgram = (program: string | null): string =>
  renderText(program === null ? '–' : program.slice(program.lastIndexOf('/') + 1)) as string;
