/** Sessions of agents, and the timeline of a session: intent at the left, effects at the right */
import { formatNumber } from '../../charts/values.ts';
import { Badge } from '../../components/badge.tsx';
import { readParam } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { formatMs } from '../digital-experience/session-format.tsx';
import { toSessionUrl, UnexplainedCount } from './agent-format.tsx';
import { sessionsCall } from './calls.ts';
import { SessionTimeline } from './session-timeline.tsx';

const SessionList = createListView({
  title: 'Sessions',
  call: sessionsCall,
  isOfProject: true,
  hasTimeRange: true,
  search: 'link:unexplained toolName:Bash',
  filters: ['agentId', 'agent', 'host'],
  fixedParams: { turns: 'none' },
  emptyText: 'No sessions of agents in this range.',
  toKey: ({ id }) => id,
  columns: {
    Session: ({ id, startedAt }) => (
      <span class="no-wrap">
        <Link url={toSessionUrl(id)}>{formatIsoSecond(startedAt)}</Link>
      </span>
    ),
    Prompt: ({ firstPrompt }) => <span class="agent-prompt">{renderText(firstPrompt ?? 'no prompt captured')}</span>,
    Status: ({ isActive }) => <Badge tone={isActive ? 'ok' : 'neutral'}>{isActive ? 'Active' : 'Ended'}</Badge>,
    Agent: ({ agent }) => agent,
    Host: ({ host }) => host ?? '–',
    Unexplained: ({ effects }) => <UnexplainedCount count={effects.unexplained} />,
    Turns: ({ turnCount }) => formatNumber(turnCount),
    'Tool calls': ({ toolCalls }) => formatNumber(toolCalls),
    Duration: ({ durationMs }) => <span class="no-wrap">{formatMs(durationMs)}</span>,
  },
  wideColumns: ['Status', 'Agent', 'Host', 'Turns', 'Tool calls', 'Duration'],
  numericColumns: ['Unexplained', 'Turns', 'Tool calls', 'Duration'],
});

const SessionsView = () => {
  const id = readParam('session');
  return id === '' ? <SessionList /> : <SessionTimeline key={id} id={id} />;
};

export const AgentSessions = Object.assign(SessionsView, { requiredCall: sessionsCall });
