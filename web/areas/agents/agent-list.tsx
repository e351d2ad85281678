/** Agents with what they did, and the page of one agent */
import { formatNumber } from '../../charts/values.ts';
import { Badge } from '../../components/badge.tsx';
import { readParam, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { areaPath, CoverageSummary, UnexplainedCount } from './agent-format.tsx';
import { AgentPage } from './agent-page.tsx';
import { agentsCall } from './calls.ts';

const AgentList = createListView({
  title: 'Agents',
  call: agentsCall,
  isOfProject: true,
  hasTimeRange: true,
  search: 'link:unexplained host:laptop',
  choices: [
    {
      name: 'sort',
      label: 'Sort by',
      options: [
        ['-lastSeenAt', 'Last activity'],
        ['-unexplained', 'Unexplained effects'],
        ['-sessions', 'Sessions'],
        ['-events', 'Events'],
        ['name', 'Name'],
      ],
    },
  ],
  emptyText:
    'No agents in this range. Agents appear as soon as a collector sends events of AgentSight as log records. Events of Falco and Tetragon then join them.',
  toKey: ({ id }) => id,
  columns: {
    Agent: ({ id, title }) => <Link url={toArea(areaPath, { agent: id })}>{renderText(title)}</Link>,
    Status: ({ isActive }) => <Badge tone={isActive ? 'ok' : 'neutral'}>{isActive ? 'Active' : 'Ended'}</Badge>,
    Host: ({ host }) => host ?? '–',
    Coverage: (agent) => <CoverageSummary {...agent} />,
    Unexplained: ({ effects }) => <UnexplainedCount count={effects.unexplained} />,
    Sessions: ({ sessions }) => formatNumber(sessions),
    Prompts: ({ prompts }) => formatNumber(prompts),
    'Tool calls': ({ toolCalls }) => formatNumber(toolCalls),
    Files: ({ files }) => formatNumber(files),
    Connections: ({ connections }) => formatNumber(connections),
    'Last activity': ({ lastSeenAt }) => <span class="no-wrap">{formatIsoSecond(lastSeenAt)}</span>,
  },
  wideColumns: ['Status', 'Host', 'Prompts', 'Tool calls', 'Files', 'Connections', 'Last activity'],
  numericColumns: ['Unexplained', 'Sessions', 'Prompts', 'Tool calls', 'Files', 'Connections'],
});

const AgentListView = () => {
  const id = readParam('agent');
  return id === '' ? <AgentList /> : <AgentPage key={id} id={id} />;
};

export const AgentListPage = Object.assign(AgentListView, { requiredCall: agentsCall });
