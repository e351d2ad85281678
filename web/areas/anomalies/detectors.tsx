/** Detectors with their status */
import { createItemPanel, createNewButton } from '../../editors/form-state.tsx';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { noDataFilter } from '../../lists/empty-results-filter.ts';
import { RawText } from '../../lists/raw.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import { createDetectorCall, type Detector, detectorsCall } from './calls.ts';
import { DetectorForm, directions } from './detector-form.tsx';

const noun = 'detector';

const Details = ({ item: detector }: { readonly item: Detector }) => {
  const { description, status, validity, step, falseAlarmsPerWeek, minChange, direction, labels } = detector;
  return (
    <>
      <p>{renderText(description ?? '', { lines: true })}</p>
      {validity.isValid === false ? (
        <p class="problem">{renderText(validity.problems.map(({ message }) => message).join('; '))}</p>
      ) : null}
      {status?.error == null ? null : <p class="problem">{renderText(status.error)}</p>}
      {detector.hasNoData ? (
        <p class="problem">The query has returned no series so far. Check the names in it.</p>
      ) : null}
      <Fields
        values={{
          state: status?.state ?? 'unknown',
          'learning until': formatIsoTime(status?.learningUntil ?? null),
          'trained from': formatIsoTime(status?.trainedFrom ?? null),
          series: status?.series,
          'learning series': status?.learning,
          'ongoing anomalies': status?.open,
          'scored until': formatIsoTime(status?.lastStep ?? null),
          interval: step,
          'false alarms per week': `${status?.rate.perWeek?.toPrecision(2) ?? status?.rate.reason ?? 'unknown'}; maximum ${falseAlarmsPerWeek}`,
          'minimum change': minChange,
          direction: directions[direction ?? 'both'],
          ...labels,
        }}
      />
      <ul class="links">
        <li>
          <Link url={toArea('/anomalies', { detectorId: detector.id })}>Anomalies</Link>
        </li>
      </ul>
      <h3>Query</h3>
      <RawText label="Query" text={JSON.stringify(detector.query, null, 2)} />
    </>
  );
};

export const Detectors = createListView({
  title: 'Detectors',
  call: detectorsCall,
  isOfProject: true,
  search: 'Search by name',
  choices: [noDataFilter],
  emptyText: 'No detectors yet.',
  toKey: ({ id }) => id,
  columns: {
    Detector: ({ name }) => name,
    State: ({ status, hasNoData }) =>
      hasNoData ? (
        <span class="text-warn">no data</span>
      ) : (
        <span class={status?.state === 'failed' || status?.state === 'behind' ? 'text-error' : ''}>
          {status?.state ?? 'unknown'}
        </span>
      ),
    Series: ({ status }) => status?.series,
    'Ongoing anomalies': ({ status }) => status?.open,
    'False alarms per week': ({ status }) => status?.rate.perWeek?.toPrecision(2),
    'Scored until': ({ status }) => formatIsoTime(status?.lastStep ?? null),
  },
  numericColumns: ['Series', 'Ongoing anomalies', 'False alarms per week'],
  Tools: createNewButton(noun, createDetectorCall),
  ItemPanel: createItemPanel({ noun, path: '/api/ai/detectors/{id}', Form: DetectorForm, Details }),
});
