/** Incident metrics: counts, times to acknowledge and resolve, and pages per person */
import { StatTile } from '../../components/stat-tile.tsx';
import { RecordSelectInput } from '../../editors/inputs.tsx';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatDuration } from '../../frame/durations.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { useNames } from '../../frame/people.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { escalationPoliciesCall, type IncidentMetrics, incidentMetricsCall } from './calls.ts';

const periods = { 'now-7d': '7 days', 'now-30d': '30 days', 'now-90d': '90 days', 'now-365d': '365 days' } as const;
type Period = keyof typeof periods;

const isPeriod = (text: string): text is Period => Object.hasOwn(periods, text);

const formatSeconds = (seconds: number | null): string => (seconds === null ? '' : formatDuration(1e9 * seconds));

/** Metrics in total and per group */
type GroupMetrics = Omit<IncidentMetrics['bySeverity'][number], 'key'>;

const GroupTable = ({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly (readonly [name: string, figures: GroupMetrics])[];
}) =>
  rows.length === 0 ? null : (
    <>
      <h2>By {title.toLowerCase()}</h2>
      <table class="figures texts">
        <TableHeader
          columns={[title, 'Incidents', 'Never acknowledged', 'Median time to acknowledge', 'Median time to resolve']}
        />
        <tbody>
          {rows.map(([name, { incidents, neverAcknowledged, timeToAcknowledge, timeToResolve }]) => (
            <tr key={name}>
              <td>
                <bdi>{renderText(name)}</bdi>
              </td>
              <td>{incidents}</td>
              <td>{neverAcknowledged}</td>
              <td>{formatSeconds(timeToAcknowledge.median)}</td>
              <td>{formatSeconds(timeToResolve.median)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );

const TransitionTimes = ({ metrics: { timeToAcknowledge, timeToResolve } }: { readonly metrics: GroupMetrics }) => (
  <table class="figures texts">
    <TableHeader columns={['Transition', 'Median', 'p90', 'Mean', 'Count']} />
    <tbody>
      {Object.entries({ acknowledged: timeToAcknowledge, resolved: timeToResolve }).map(([name, times]) => (
        <tr key={name}>
          <td>{name}</td>
          <td>{formatSeconds(times.median)}</td>
          <td>{formatSeconds(times.p90)}</td>
          <td>{formatSeconds(times.mean)}</td>
          <td>{times.count}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const PageMetrics = ({
  pageMetrics: { pages, atNight, byPerson, isTruncated },
}: {
  readonly pageMetrics: IncidentMetrics['pages'];
}) => {
  const people = useNames();
  return (
    <>
      <h2>Pages</h2>
      <p>
        {`${pages} pages, ${atNight} at night.`}
        {isTruncated ? ' Only the newest pages are counted.' : ''}
      </p>
      {byPerson.length === 0 ? null : (
        <table class="figures texts">
          <TableHeader columns={['User', 'Pages', 'At night']} />
          <tbody>
            {byPerson.map((person) => (
              <tr key={person.userId}>
                <td>
                  <bdi>{renderText(people[person.userId] ?? person.userId)}</bdi>
                </td>
                <td>{person.pages}</td>
                <td>{person.atNight}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
};

const MetricsDetails = ({ metrics }: { readonly metrics: IncidentMetrics }) => {
  const policies = useQuery(escalationPoliciesCall, { query: { limit: 1000 } }).response?.items ?? [];
  const getPolicyName = (id: string | null): string =>
    id === null ? 'none' : (policies.find((policy) => policy.id === id)?.name ?? id);
  const { incidents, open, acknowledged, resolved, merged, neverAcknowledged } = metrics;
  return (
    <>
      {metrics.isTruncated ? <p class="problem">Only the newest 10,000 incidents are counted.</p> : null}
      <div class="columns tiles">
        <StatTile title="Incidents" value={incidents} note={merged === 0 ? undefined : `${merged} merged`} />
        <StatTile title="Open" value={open} />
        <StatTile title="Acknowledged" value={acknowledged} />
        <StatTile title="Resolved" value={resolved} />
        <StatTile title="Never acknowledged" value={neverAcknowledged} />
        <StatTile title="Median time to acknowledge" value={formatSeconds(metrics.timeToAcknowledge.median) || '–'} />
        <StatTile title="Median time to resolve" value={formatSeconds(metrics.timeToResolve.median) || '–'} />
      </div>
      <TransitionTimes metrics={metrics} />
      <GroupTable title="Severity" rows={metrics.bySeverity.map(({ key, ...groupMetrics }) => [key, groupMetrics])} />
      <GroupTable title="Service" rows={metrics.byService.map(({ key, ...groupMetrics }) => [key, groupMetrics])} />
      <GroupTable
        title="Escalation policy"
        rows={metrics.byPolicy.map(({ escalationPolicyId, ...groupMetrics }) => [
          getPolicyName(escalationPolicyId),
          groupMetrics,
        ])}
      />
      <PageMetrics pageMetrics={metrics.pages} />
    </>
  );
};

export const IncidentInsights = () => {
  const requestedPeriod = readParam('over');
  const period: Period = isPeriod(requestedPeriod) ? requestedPeriod : 'now-30d';
  const queryState = useQuery(incidentMetricsCall, { query: { from: period } });
  const { response, error } = queryState;
  return (
    <>
      <div class="toolbar">
        <RecordSelectInput
          label="Period"
          options={periods}
          value={period}
          problem={undefined}
          onChange={(newPeriod) => setParams({ over: newPeriod })}
        />
      </div>
      <ErrorMessage error={error} />
      <ScrollRegion class="scrolled" label="Insights">
        {response === undefined ? null : <MetricsDetails metrics={response} />}
      </ScrollRegion>
      <Freshness queryState={queryState} />
    </>
  );
};
