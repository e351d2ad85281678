/** Side panel of an anomaly: expected values, contributing series, changes near it, and feedback */
import { useState } from 'preact/hooks';
import { shownValue } from '../../charts/values.ts';
import { Action } from '../../client/action.ts';
import { addressWith, toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { later } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Anomaly, type AnomalyDetails, anomalyCall, feedbackCall } from './calls.ts';
import { formatSeries, formatShare } from './shown.ts';

const Causes = later(async () => (await import('../../lists/causes.tsx')).Causes);
const Band = later(async () => (await import('./band.tsx')).ExpectedRangeChart);

const verdicts = [
  ['true', 'Confirmed'],
  ['false', 'False positive'],
] as const;

const FeedbackButtons = ({ id, verdict }: Pick<Anomaly, 'id' | 'verdict'>) => {
  const [action] = useState(() => new Action(feedbackCall));
  const [message, setMessage] = useState('');
  if (!isPermitted(feedbackCall)) return <p class="soft">{explainDenial(feedbackCall, 'Anomaly feedback')}</p>;
  const saveVerdict = async (chosen: 'true' | 'false' | null): Promise<void> => {
    const answer = await action.run({ params: { id }, body: { verdict: chosen } });
    if (answer === undefined) return;
    setMessage(
      chosen === 'false'
        ? `Changes of this series below ${shownValue(answer.minChange, '')} are no longer reported as anomalies.`
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
      <Problem error={action.error.value} />
    </div>
  );
};

const Contributions = ({
  of: { by, change, groups, others, reason },
  unit,
}: {
  readonly of: AnomalyDetails['contributions'];
  readonly unit: string;
}) => (
  <>
    <h3>Contributions</h3>
    {reason === null ? null : <p class="soft">{shownText(reason)}</p>}
    {by === null ? null : (
      <>
        <p>
          Changed by {shownValue(change ?? undefined, unit)}, explained best by <b>{shownText(by)}</b>.
        </p>
        <table class="figures">
          <TableHeader columns={[by, 'Change', 'Share']} />
          <tbody>
            {[...groups, ...(others === null ? [] : [{ ...others, group: 'all others' }])].map((part) => (
              <tr key={part.group}>
                <td>
                  <bdi>{shownText(part.group || '(empty)')}</bdi>
                </td>
                <td>{shownValue(part.change, unit)}</td>
                <td>{formatShare(part.share)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </>
    )}
  </>
);

const AnomalyLinks = ({ title, of }: { readonly title: string; readonly of: readonly Anomaly[] }) =>
  of.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <ul>
        {of.map((anomaly) => (
          <li key={anomaly.id}>
            <Link to={addressWith({ open: anomaly.id })}>
              {shownMoment(anomaly.begin)} {shownText(formatSeries(anomaly))}
            </Link>
            : {shownText(anomaly.text)}
          </li>
        ))}
      </ul>
    </>
  );

const RelatedEvents = ({ of }: { readonly of: AnomalyDetails['near'] }) =>
  of.length === 0 ? null : (
    <>
      <h3>Related events</h3>
      <ul>
        {of.map(({ id, kind, time, title }) => (
          <li key={`${kind} ${id}`}>
            {shownMoment(time)} {kind}: {shownText(title)}
          </li>
        ))}
      </ul>
    </>
  );

const KubernetesEvents = ({ of }: { readonly of: AnomalyDetails['kubernetes'] }) =>
  of.length === 0 ? null : (
    <>
      <h3>Related Kubernetes events</h3>
      <ul>
        {of.map(({ id, timestamp, type, reason, object, message }) => (
          <li key={id}>
            {shownMoment(timestamp)} {shownText([type, reason, object.name].filter((part) => part !== null).join(' '))}:{' '}
            {shownText(message)}
          </li>
        ))}
      </ul>
    </>
  );

const Details = ({ anomaly }: { readonly anomaly: AnomalyDetails }) => {
  const { series, begin, end, value, expected, low, high, score, timesPerWeek, sign, detectorId } = anomaly;
  const { unit } = series;
  const formatBound = (bound: number | null): string => shownValue(bound ?? undefined, unit);
  return (
    <>
      <p>{shownText(anomaly.text)}</p>
      <Band anomaly={anomaly} />
      <FeedbackButtons id={anomaly.id} verdict={anomaly.verdict} />
      <Fields
        values={{
          series: formatSeries(anomaly),
          from: shownMoment(begin),
          to: end === null ? 'ongoing' : shownMoment(end),
          'extreme value': shownValue(value, unit),
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
          <Link to={toArea('/anomalies/detectors', { open: detectorId })}>Detector</Link>
        </li>
      </ul>
      <Causes of={{ anomalyId: anomaly.id }} />
      <Contributions of={anomaly.contributions} unit={unit} />
      <RelatedEvents of={anomaly.near} />
      <KubernetesEvents of={anomaly.kubernetes} />
      <AnomalyLinks title="Concurrent anomalies" of={anomaly.concurrent} />
      <AnomalyLinks title="Similar anomalies" of={anomaly.similar} />
      {anomaly.partial.map(({ message }) => (
        <p key={message} class="soft">
          Incomplete: {shownText(message)}.
        </p>
      ))}
    </>
  );
};

export const AnomalyPanel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { answer, error } = useQuery(anomalyCall, { params: { id } });
  return (
    <SidePanel label="Anomaly" title={answer?.detectorName ?? 'Anomaly'} onClose={onClose}>
      <Problem error={error} />
      {answer === undefined ? null : <Details anomaly={answer} />}
    </SidePanel>
  );
};
