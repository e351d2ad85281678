/** Side panel of an anomaly: expected values, contributing series, changes near it, and feedback */
import { useState } from 'preact/hooks';
import { formatQuantity } from '../../charts/values.ts';
import { Action } from '../../client/action.ts';
import { toArea, toChangedUrl } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Anomaly, type AnomalyDetails, anomalyCall, feedbackCall } from './calls.ts';
import { formatSeries, formatShare } from './shown.ts';

const Causes = lazyLoad(async () => (await import('../../lists/causes.tsx')).Causes);
const Band = lazyLoad(async () => (await import('./band.tsx')).ExpectedRangeChart);

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
        ? `Changes of this series below ${formatQuantity(answer.minChange, '')} are no longer reported as anomalies.`
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
  of: { by, change, groups, others, reason },
  unit,
}: {
  readonly of: AnomalyDetails['contributions'];
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
            {[...groups, ...(others === null ? [] : [{ ...others, group: 'all others' }])].map((part) => (
              <tr key={part.group}>
                <td>
                  <bdi>{renderText(part.group || '(empty)')}</bdi>
                </td>
                <td>{formatQuantity(part.change, unit)}</td>
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
            <Link url={toChangedUrl({ open: anomaly.id })}>
              {formatIsoTime(anomaly.begin)} {renderText(formatSeries(anomaly))}
            </Link>
            : {renderText(anomaly.text)}
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
            {formatIsoTime(time)} {kind}: {renderText(title)}
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
      <Band anomaly={anomaly} />
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
      <Contributions of={anomaly.contributions} unit={unit} />
      <RelatedEvents of={anomaly.near} />
      <KubernetesEvents of={anomaly.kubernetes} />
      <AnomalyLinks title="Concurrent anomalies" of={anomaly.concurrent} />
      <AnomalyLinks title="Similar anomalies" of={anomaly.similar} />
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
