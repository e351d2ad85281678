/** Side panel of an anomaly: expected values, contributing series, changes near it, and feedback */
import { useState } from 'preact/hooks';
import { formatQuantity } from '../../charts/values.ts';
import { Action } from '../../client/action.ts';
import { toArea, toChangedUrl } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { formatSeries, formatShare } from './anomaly-format.ts';
import { type Anomaly, type AnomalyDetails, anomalyCall, sendFeedbackCall } from './calls.ts';

const Causes = lazyLoad(async () => (await import('../../lists/causes.tsx')).Causes);
const ExpectedRangeChart = lazyLoad(async () => (await import('./band.tsx')).ExpectedRangeChart);

const verdicts = [
  ['true', 'Confirmed'],
  ['false', 'False positive'],
] as const;

const FeedbackButtons = ({ id, verdict }: Pick<Anomaly, 'id' | 'verdict'>) => {
  const [action] = useState(() => new Action(sendFeedbackCall));
  const [message, setMessage] = useState('');
  if (!isPermitted(sendFeedbackCall)) return <p class="soft">{explainDenial(sendFeedbackCall, 'Anomaly feedback')}</p>;
  const saveVerdict = async (newVerdict: 'true' | 'false' | null): Promise<void> => {
    const response = await action.run({ params: { id }, body: { verdict: newVerdict } });
    if (response === undefined) return;
    setMessage(
      newVerdict === 'false'
        ? `Changes of this series below ${formatQuantity(response.minChange, '')} are no longer reported as anomalies.`
        : '',
    );
    refresh();
  };
  return (
    <div class="act">
      {verdicts.map(([value, title]) => (
        <button
          key={value}
          type="button"
          class="plain"
          aria-pressed={verdict === value}
          disabled={action.isRunning.value}
          onClick={() => void saveVerdict(verdict === value ? null : value)}
        >
          {title}
        </button>
      ))}
      <p class="soft" role="status">
        {message}
      </p>
      <ErrorMessage error={action.error.value} />
    </div>
  );
};

const Contributions = ({
  contributions: { by, change, groups, others, reason },
  unit,
}: {
  readonly contributions: AnomalyDetails['contributions'];
  readonly unit: string;
}) => (
  <>
    <h3>Contributions</h3>
    {reason === null ? null : <p class="soft">{renderText(reason)}</p>}
    {by === null ? null : (
      <>
        <p>
          Changed by {formatQuantity(change ?? undefined, unit)}, explained best by <b>{renderText(by)}</b>.
        </p>
        <table class="figures">
          <TableHeader columns={[by, 'Change', 'Share']} />
          <tbody>
            {[...groups, ...(others === null ? [] : [{ ...others, group: 'all others' }])].map((contribution) => (
              <tr key={contribution.group}>
                <td>
                  <bdi>{renderText(contribution.group || '(empty)')}</bdi>
                </td>
                <td>{formatQuantity(contribution.change, unit)}</td>
                <td>{formatShare(contribution.share)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </>
    )}
  </>
);

const AnomalyLinks = ({ title, anomalies }: { readonly title: string; readonly anomalies: readonly Anomaly[] }) =>
  anomalies.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <ul>
        {anomalies.map((anomaly) => (
          <li key={anomaly.id}>
            <Link url={toChangedUrl({ open: anomaly.id })}>
              {formatIsoTime(anomaly.begin)} {renderText(formatSeries(anomaly))}
            </Link>
            : {renderText(anomaly.text)}
          </li>
        ))}
      </ul>
    </>
  );

const RelatedEvents = ({ events }: { readonly events: AnomalyDetails['near'] }) =>
  events.length === 0 ? null : (
    <>
      <h3>Related events</h3>
      <ul>
        {events.map(({ id, kind, time, title }) => (
          <li key={`${kind} ${id}`}>
            {formatIsoTime(time)} {kind}: {renderText(title)}
          </li>
        ))}
      </ul>
    </>
  );

const KubernetesEvents = ({ events }: { readonly events: AnomalyDetails['kubernetes'] }) =>
  events.length === 0 ? null : (
    <>
      <h3>Related Kubernetes events</h3>
      <ul>
        {events.map(({ id, timestamp, type, reason, object, message }) => (
          <li key={id}>
            {formatIsoTime(timestamp)}{' '}
            {renderText([type, reason, object.name].filter((part) => part !== null).join(' '))}: {renderText(message)}
          </li>
        ))}
      </ul>
    </>
  );

const Details = ({ anomaly }: { readonly anomaly: AnomalyDetails }) => {
  const { series, begin, end, value, expected, low, high, score, timesPerWeek, sign, detectorId } = anomaly;
  const { unit } = series;
  const formatBound = (bound: number | null): string => formatQuantity(bound ?? undefined, unit);
  return (
    <>
      <p>{renderText(anomaly.text)}</p>
      <ExpectedRangeChart anomaly={anomaly} />
      <FeedbackButtons id={anomaly.id} verdict={anomaly.verdict} />
      <Fields
        values={{
          series: formatSeries(anomaly),
          from: formatIsoTime(begin),
          to: end === null ? 'ongoing' : formatIsoTime(end),
          'extreme value': formatQuantity(value, unit),
          expected: formatBound(expected),
          'expected range': low === null && high === null ? '' : `${formatBound(low)} to ${formatBound(high)}`,
          score: score.toFixed(3),
          'expected per week': timesPerWeek.toPrecision(2),
          'main indicator': sign,
          ...anomaly.labels,
        }}
      />
      <ul class="links">
        <li>
          <Link url={toArea('/anomalies/detectors', { open: detectorId })}>Detector</Link>
        </li>
      </ul>
      <Causes symptom={{ anomalyId: anomaly.id }} />
      <Contributions contributions={anomaly.contributions} unit={unit} />
      <RelatedEvents events={anomaly.near} />
      <KubernetesEvents events={anomaly.kubernetes} />
      <AnomalyLinks title="Concurrent anomalies" anomalies={anomaly.concurrent} />
      <AnomalyLinks title="Similar anomalies" anomalies={anomaly.similar} />
      {anomaly.partial.map(({ message }) => (
        <p key={message} class="soft">
          Incomplete: {renderText(message)}.
        </p>
      ))}
    </>
  );
};

export const AnomalyPanel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { response, error } = useQuery(anomalyCall, { params: { id } });
  return (
    <SidePanel label="Anomaly" title={response?.detectorName ?? 'Anomaly'} onClose={onClose}>
      <ErrorMessage error={error} />
      {response === undefined ? null : <Details anomaly={response} />}
    </SidePanel>
  );
};
