/** Agents that collect telemetry or instrument services */
import type { z } from 'zod';
import type { getInstrumentationAgent, listInstrumentationAgents } from '../../../api/groups/instrumentation/agents.ts';
import { formatNumber } from '../../charts/values.ts';
import { declareCall } from '../../client/call.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { readParam } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectId } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { RawText } from '../../lists/raw.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';

export const agentsCall = declareCall<typeof listInstrumentationAgents>('GET', '/api/instrumentation/agents');
const agentCall = declareCall<typeof getInstrumentationAgent>('GET', '/api/instrumentation/agents/{id}');

type AgentDetails = z.output<(typeof getInstrumentationAgent)['response']>;
type Agent = z.output<(typeof listInstrumentationAgents)['response']>['items'][number];

const states: Readonly<Record<Agent['state'], readonly [title: string, tone: Tone]>> = {
  healthy: ['Healthy', 'ok'],
  degraded: ['Degraded', 'critical'],
  silent: ['Silent', 'warning'],
  gone: ['Gone', 'neutral'],
};

const State = ({ state }: Pick<Agent, 'state'>) => <Badge tone={states[state][1]}>{states[state][0]}</Badge>;

const sourceTitles: Readonly<Record<Agent['sources'][number], string>> = { telemetry: 'telemetry', opamp: 'OpAMP' };

const Components = ({ components }: Pick<AgentDetails, 'components'>) =>
  components.length === 0 ? null : (
    <>
      <h3>Components</h3>
      <ul class="fleet-components">
        {components.map(({ path, isHealthy, status, error }) => (
          <li key={path.join('/')} style={{ paddingInlineStart: `${12 * (path.length - 1)}px` }}>
            <Badge tone={isHealthy ? 'ok' : 'critical'}>{isHealthy ? 'Healthy' : 'Fails'}</Badge>{' '}
            <bdi>{renderText(path.at(-1) ?? '')}</bdi>{' '}
            <span class="soft">{renderText([status, error].filter((text) => text !== '').join(': '))}</span>
          </li>
        ))}
      </ul>
    </>
  );

const Configuration = ({ files }: { readonly files: NonNullable<AgentDetails['configuration']> }) => (
  <>
    <h3>Effective configuration</h3>
    {files.map(({ name, text, bytes }) => (
      <section key={name} class="fleet-configuration">
        <div class="fleet-configuration-head">
          <span class="soft">{renderText(name === '' ? 'Configuration' : name)}. Secrets are masked.</span>
          {text === '' ? null : <CopyButton text={text} label="Copy configuration" />}
        </div>
        {text === '' ? (
          <p class="soft">{formatNumber(bytes)} bytes. The file is empty, too large, or not text.</p>
        ) : (
          <RawText label="Configuration" text={text} />
        )}
      </section>
    ))}
  </>
);

/** Attributes that have fields of their own */
const shownAttributes = new Set(['host.name', 'service.version']);

const AgentFields = ({ agent }: { readonly agent: AgentDetails }) => (
  <>
    <Fields
      values={{
        Host: agent.host,
        Version: agent.version,
        'Last seen': formatIsoSecond(agent.lastSeenAt),
        Started:
          agent.health === null || agent.health.startedAt === null ? '' : formatIsoSecond(agent.health.startedAt),
        'Known from': agent.sources.map((source) => sourceTitles[source]).join(', '),
        'Instance UID': agent.instanceUid ?? '',
        Services: agent.services.join(', '),
        Spans: agent.sources.includes('telemetry') ? formatNumber(agent.spans) : '',
        ...Object.fromEntries(Object.entries(agent.attributes).filter(([name]) => !shownAttributes.has(name))),
      }}
    />
    <Components components={agent.components} />
    {agent.configuration === null ? (
      <p class="soft">
        {agent.sources.includes('opamp')
          ? 'The agent does not report its configuration.'
          : 'Connect the agent over OpAMP to see its health and configuration.'}
      </p>
    ) : (
      <Configuration files={agent.configuration} />
    )}
  </>
);

const AgentPanel = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: Agent | undefined;
  readonly onClose: () => void;
}) => {
  const { response, error } = useQuery(agentCall, {
    params: { id },
    query: { ...timeRange.value, projectId: projectId.value },
  });
  const agent = response ?? item;
  return (
    <SidePanel label="Agent" title={agent?.title ?? 'Agent'} onClose={onClose}>
      <ErrorMessage error={error} />
      {agent === undefined ? null : (
        <p>
          <State state={agent.state} /> {renderText(agent.reason)}
        </p>
      )}
      {response === undefined ? null : <AgentFields agent={response} />}
    </SidePanel>
  );
};

export const FleetAgents = createListView({
  title: 'Agents',
  call: agentsCall,
  isOfProject: true,
  hasTimeRange: true,
  search: 'Search by host, agent or service',
  choices: [
    {
      name: 'state',
      label: 'Status',
      options: [
        ['', 'all'],
        ['healthy', 'healthy'],
        ['degraded', 'degraded'],
        ['silent', 'silent'],
        ['gone', 'gone'],
      ],
    },
    {
      name: 'sort',
      label: 'Sort by',
      options: [
        ['-lastSeenAt', 'Last seen'],
        ['-spans', 'Spans'],
        ['host', 'Host'],
        ['title', 'Agent'],
      ],
    },
  ],
  emptyText: 'No agents in this range or the day before. Agents appear when they send telemetry or connect over OpAMP.',
  toKey: ({ id }) => id,
  columns: {
    Agent: ({ title }) => title,
    Status: ({ state, reason }) => (
      <span data-tooltip={reason}>
        <State state={state} />
      </span>
    ),
    // The side panel has the reason, and leaves little space.
    Reason: ({ state, reason }) =>
      state === 'healthy' || readParam('open') !== '' ? '' : <span class="soft">{renderText(reason)}</span>,
    Host: ({ host }) => <span class="no-wrap">{host === '' ? '–' : renderText(host)}</span>,
    Version: ({ version }) => <span class="no-wrap">{version === '' ? '–' : renderText(version)}</span>,
    Services: ({ services }) => <bdi>{renderText(services.join(', '))}</bdi>,
    Spans: ({ sources, spans }) => (sources.includes('telemetry') ? formatNumber(spans) : '–'),
    'Last seen': ({ lastSeenAt }) => <span class="no-wrap">{formatIsoSecond(lastSeenAt)}</span>,
  },
  wideColumns: ['Reason', 'Version', 'Services', 'Spans', 'Last seen'],
  numericColumns: ['Spans'],
  ItemPanel: AgentPanel,
});
