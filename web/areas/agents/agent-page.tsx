/** Page of one agent: tiles, processes with coverage, files, connections and requests to models */
import { ArrowLeft } from 'lucide';
import type { ComponentChildren } from 'preact';
import { formatNumber, formatQuantity } from '../../charts/values.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { StatTile } from '../../components/stat-tile.tsx';
import { setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { formatCost } from '../llm/figures.ts';
import { areaPath, CoverageBadge, renderProgram, UnexplainedCount } from './agent-format.tsx';
import { type AgentDetails, agentCall } from './calls.ts';

const Table = ({
  title,
  columns,
  emptyText,
  rows,
}: {
  readonly title: string;
  readonly columns: readonly string[];
  readonly emptyText: string;
  readonly rows: readonly ComponentChildren[];
}) => (
  <Card title={title} note={formatNumber(rows.length)} isFlush>
    {rows.length === 0 ? (
      <p class="soft card-text">{emptyText}</p>
    ) : (
      <div class="scroll-x">
        <table class="figures texts">
          <TableHeader columns={columns} />
          <tbody>{rows}</tbody>
        </table>
      </div>
    )}
  </Card>
);

/** Depth of a process below the first one of its tree that is shown. */
const computeDepth = (process: Process, byId: ReadonlyMap<string, Process>): number => {
  let depth = 0;
  let parent = process.parentId === null ? undefined : byId.get(process.parentId);
  while (parent !== undefined && depth < 8) {
    depth++;
    parent = parent.parentId === null ? undefined : byId.get(parent.parentId);
  }
  return depth;
};
type Process = AgentDetails['processes'][number];

const Processes = ({ processes }: Pick<AgentDetails, 'processes'>) => {
  const byId = new Map(processes.map((process) => [process.id, process]));
  return (
    <Table
      title="Processes"
      columns={['Program', 'PID', 'Coverage', 'Why', 'Command', 'Started']}
      emptyText="No processes in this range."
      rows={processes.map((process) => (
        <tr key={process.id}>
          <td class="no-wrap" style={{ paddingLeft: `${8 + 14 * computeDepth(process, byId)}px` }}>
            <bdi>{renderProgram(process.program ?? process.threadNames[0] ?? null)}</bdi>
          </td>
          <td class="number no-wrap">{process.pid}</td>
          <td>
            <CoverageBadge {...process.coverage} />
          </td>
          <td class="agent-reason">{renderText(process.coverage.reason)}</td>
          <td class="agent-code">
            <bdi>{renderText(process.command ?? '')}</bdi>
          </td>
          <td class="no-wrap">{formatIsoSecond(process.startedAt)}</td>
        </tr>
      ))}
    />
  );
};

const Files = ({ files }: Pick<AgentDetails, 'files'>) => (
  <Table
    title="Files"
    columns={['Path', 'Operations', 'Unexplained', 'Count', 'Last']}
    emptyText="No files in this range."
    rows={files.map(({ path, operations, effects, count, lastSeenAt }) => (
      <tr key={path} class={effects.unexplained > 0 ? 'is-unexplained' : ''}>
        <td class="agent-code">
          <bdi>{renderText(path)}</bdi>
        </td>
        <td>{operations.join(', ')}</td>
        <td class="number">
          <UnexplainedCount count={effects.unexplained} />
        </td>
        <td class="number">{formatNumber(count)}</td>
        <td class="no-wrap">{formatIsoSecond(lastSeenAt)}</td>
      </tr>
    ))}
  />
);

const Connections = ({ connections }: Pick<AgentDetails, 'connections'>) => (
  <Table
    title="Connections"
    columns={['Destination', 'Network', 'Unexplained', 'Count', 'Last']}
    emptyText="No connections in this range."
    rows={connections.map(({ destination, address, port, isExternal, isModel, effects, count, lastSeenAt }) => (
      <tr key={`${destination} ${address} ${port}`} class={effects.unexplained > 0 ? 'is-unexplained' : ''}>
        <td class="agent-code">
          <bdi>{renderText(`${destination ?? address ?? 'unknown host'}${port === null ? '' : `:${port}`}`)}</bdi>
        </td>
        <td>
          {isModel === true ? (
            <Badge tone="info">Model</Badge>
          ) : isExternal === true ? (
            'external'
          ) : isExternal === false ? (
            'internal'
          ) : (
            '–'
          )}
        </td>
        <td class="number">
          <UnexplainedCount count={effects.unexplained} />
        </td>
        <td class="number">{formatNumber(count)}</td>
        <td class="no-wrap">{formatIsoSecond(lastSeenAt)}</td>
      </tr>
    ))}
  />
);

const ModelCalls = ({ modelCalls }: Pick<AgentDetails, 'modelCalls'>) => (
  <Table
    title="Requests to models"
    columns={['Model', 'Status', 'Cost', 'Duration', 'Time']}
    emptyText="No span reports a request with a response that this agent received."
    rows={modelCalls.map((call) => (
      <tr key={call.id}>
        <td>
          <Link url={toArea('/llm/requests', { request: call.id })}>{renderText(call.model || 'no model')}</Link>
        </td>
        <td>
          {call.status === 'error' ? <Badge tone="critical">{renderText(call.errorType ?? 'error')}</Badge> : 'ok'}
        </td>
        <td class="number">{formatCost(call)}</td>
        <td class="number">{formatQuantity(call.durationMs, 'ms')}</td>
        <td class="no-wrap">{formatIsoSecond(call.time)}</td>
      </tr>
    ))}
  />
);

const Losses = ({ losses }: AgentDetails['agent']) =>
  losses.events + losses.bytes + losses.truncated + losses.warnings.length === 0 ? null : (
    <Card title="Losses of the tracer">
      <ul class="links">
        {losses.events === 0 ? null : <li>{formatNumber(losses.events)} events lost</li>}
        {losses.bytes === 0 ? null : <li>{formatQuantity(losses.bytes, 'By')} of traffic lost</li>}
        {losses.truncated === 0 ? null : <li>{formatNumber(losses.truncated)} events truncated</li>}
        {losses.warnings.map((warning) => (
          <li key={warning}>{renderText(warning)}</li>
        ))}
      </ul>
    </Card>
  );

export const AgentPage = ({ id }: { readonly id: string }) => {
  const details = useQuery(agentCall, { params: { id }, query: { ...timeRange.value, ...projectScope.value } });
  const { response, error } = details;
  return (
    <ScrollRegion class="scrolled agents" label="Agent">
      <div class="page-head">
        <Button kind="quiet" icon={ArrowLeft} onClick={() => setParams({ agent: '' })}>
          All agents
        </Button>
        <h2>
          {response === undefined
            ? 'Agent'
            : renderText(`${response.agent.title} on ${response.agent.host ?? 'an unknown host'}`)}
        </h2>
        {response?.agent.isActive === true ? <Badge tone="ok">Active</Badge> : null}
        <span class="grow" />
        {response === undefined ? null : (
          <ButtonLink url={toArea(`${areaPath}/sessions`, { agentId: id })}>Sessions</ButtonLink>
        )}
      </div>
      <ErrorMessage error={error} />
      {response === undefined ? (
        error === undefined ? (
          <Skeleton height={240} />
        ) : null
      ) : (
        <>
          <div class="columns tiles">
            <StatTile
              title="Sessions"
              value={formatNumber(response.agent.sessions)}
              note={`${response.agent.prompts} prompts`}
            />
            <StatTile
              title="Tool calls"
              value={formatNumber(response.agent.toolCalls)}
              note={`${response.agent.modelRequests} requests`}
            />
            <StatTile
              title="Unexplained effects"
              value={<UnexplainedCount count={response.agent.effects.unexplained} />}
              note={`of ${formatNumber(Object.values(response.agent.effects).reduce((sum, count) => sum + count, 0))}`}
            />
            <StatTile
              title="Blind processes"
              value={<UnexplainedCount count={response.agent.coverage.blind} />}
              note={`of ${response.agent.processes}`}
            />
          </div>
          <Losses {...response.agent} />
          <Processes {...response} />
          <Connections {...response} />
          <Files {...response} />
          <ModelCalls {...response} />
        </>
      )}
      <Freshness queryState={details} />
    </ScrollRegion>
  );
};
