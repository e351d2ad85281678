/** Incident metrics: counts, times to acknowledge and resolve, and pages per person */
import { ChoiceInput } from '../../editors/inputs.tsx';
import { change, inAddress } from '../../frame/address.ts';
import { shownDuration } from '../../frame/durations.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { usePeople } from '../../frame/people.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Metrics, metricsCall, policiesCall } from './calls.ts';

const spans = { 'now-7d': '7 days', 'now-30d': '30 days', 'now-90d': '90 days', 'now-365d': '365 days' } as const;
type Span = keyof typeof spans;

const isSpan = (text: string): text is Span => Object.hasOwn(spans, text);

const shownSeconds = (seconds: number | null): string => (seconds === null ? '' : shownDuration(1e9 * seconds));

/** Metrics in total and per group */
type Figures = Omit<Metrics['bySeverity'][number], 'key'>;

const Grouped = ({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly (readonly [name: string, figures: Figures])[];
}) => (
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
              <bdi>{shownText(name)}</bdi>
            </td>
            <td>{incidents}</td>
            <td>{neverAcknowledged}</td>
            <td>{shownSeconds(timeToAcknowledge.median)}</td>
            <td>{shownSeconds(timeToResolve.median)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </>
);

const Times = ({ of: { timeToAcknowledge, timeToResolve } }: { readonly of: Figures }) => (
  <table class="figures texts">
    <TableHeader columns={['Transition', 'Median', 'p90', 'Mean', 'Count']} />
    <tbody>
      {Object.entries({ acknowledged: timeToAcknowledge, resolved: timeToResolve }).map(([name, times]) => (
        <tr key={name}>
          <td>{name}</td>
          <td>{shownSeconds(times.median)}</td>
          <td>{shownSeconds(times.p90)}</td>
          <td>{shownSeconds(times.mean)}</td>
          <td>{times.count}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Paged = ({ of: { pages, atNight, byPerson, isCut } }: { readonly of: Metrics['pages'] }) => {
  const people = usePeople();
  return (
    <>
      <h2>Pages</h2>
      <p>
        {`${pages} pages, ${atNight} at night.`}
        {isCut ? ' Only the newest pages are counted.' : ''}
      </p>
      {byPerson.length === 0 ? null : (
        <table class="figures texts">
          <TableHeader columns={['User', 'Pages', 'At night']} />
          <tbody>
            {byPerson.map((one) => (
              <tr key={one.userId}>
                <td>
                  <bdi>{shownText(people[one.userId] ?? one.userId)}</bdi>
                </td>
                <td>{one.pages}</td>
                <td>{one.atNight}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
};

const MetricsDetails = ({ of }: { readonly of: Metrics }) => {
  const policies = useQuery(policiesCall, { query: { limit: 1000 } }).answer?.items ?? [];
  const policyOf = (id: string | null): string =>
    id === null ? 'none' : (policies.find((policy) => policy.id === id)?.name ?? id);
  const { incidents, open, acknowledged, resolved, merged, neverAcknowledged } = of;
  return (
    <>
      {of.isCut ? <p class="problem">Only the newest 10,000 incidents are counted.</p> : null}
      <Fields values={{ incidents, open, acknowledged, resolved, merged, 'never acknowledged': neverAcknowledged }} />
      <Times of={of} />
      <Grouped title="Severity" rows={of.bySeverity.map(({ key, ...figures }) => [key, figures])} />
      <Grouped title="Service" rows={of.byService.map(({ key, ...figures }) => [key, figures])} />
      <Grouped
        title="Escalation policy"
        rows={of.byPolicy.map(({ escalationPolicyId, ...figures }) => [policyOf(escalationPolicyId), figures])}
      />
      <Paged of={of.pages} />
    </>
  );
};

export const IncidentFigures = () => {
  const requestedSpan = inAddress('over');
  const over: Span = isSpan(requestedSpan) ? requestedSpan : 'now-30d';
  const queryState = useQuery(metricsCall, { query: { from: over } });
  const { answer, error } = queryState;
  return (
    <>
      <div class="toolbar">
        <ChoiceInput
          label="Period"
          options={spans}
          value={over}
          problem={undefined}
          onChange={(chosen) => change({ over: chosen })}
        />
      </div>
      <Problem error={error} />
      <Scrolled class="scrolled" label="Insights">
        {answer === undefined ? null : <MetricsDetails of={answer} />}
      </Scrolled>
      <Freshness of={queryState} />
    </>
  );
};
