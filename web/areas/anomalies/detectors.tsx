/** Detectors with their status */
import { openedOf, writeOf } from '../../editors/form-state.tsx';
import { toArea } from '../../frame/address.ts';
import { Link } from '../../frame/link.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import { createDetectorCall, type Detector, detectorsCall } from './calls.ts';
import { DetectorForm, directions } from './detector-form.tsx';

const noun = 'detector';

const Details = ({ item: detector }: { readonly item: Detector }) => {
  const { description, status, validity, step, falseAlarmsPerWeek, minChange, direction, labels } = detector;
  return (
    <>
      <p>{shownText(description ?? '', { lines: true })}</p>
      {validity.isValid === false ? (
        <p class="problem">{shownText(validity.problems.map(({ message }) => message).join('; '))}</p>
      ) : null}
      {status?.error == null ? null : <p class="problem">{shownText(status.error)}</p>}
      <Fields
        values={{
          state: status?.state ?? 'unknown',
          'learning until': shownMoment(status?.learningUntil ?? null),
          'trained from': shownMoment(status?.trainedFrom ?? null),
          series: status?.series,
          'learning series': status?.learning,
          'ongoing anomalies': status?.open,
          'scored until': shownMoment(status?.lastStep ?? null),
          interval: step,
          'false alarms per week': `${status?.rate.perWeek?.toPrecision(2) ?? status?.rate.reason ?? 'unknown'}; maximum ${falseAlarmsPerWeek}`,
          'minimum change': minChange,
          direction: directions[direction ?? 'both'],
          ...labels,
        }}
      />
      <ul class="links">
        <li>
          <Link to={toArea('/anomalies', { detectorId: detector.id })}>Anomalies</Link>
        </li>
      </ul>
      <h3>Query</h3>
      <pre class="body">{shownText(JSON.stringify(detector.query, null, 2), { lines: true })}</pre>
    </>
  );
};

export const Detectors = listed({
  title: 'Detectors',
  call: detectorsCall,
  isOfProject: true,
  search: 'Search by name',
  nothing: 'No detectors yet.',
  keyOf: ({ id }) => id,
  columns: {
    Detector: ({ name }) => name,
    State: ({ status }) => (
      <span class={status?.state === 'failed' || status?.state === 'behind' ? 'text-error' : ''}>
        {status?.state ?? 'unknown'}
      </span>
    ),
    Series: ({ status }) => status?.series,
    'Ongoing anomalies': ({ status }) => status?.open,
    'False alarms per week': ({ status }) => status?.rate.perWeek?.toPrecision(2),
    'Scored until': ({ status }) => shownMoment(status?.lastStep ?? null),
  },
  numbers: ['Series', 'Ongoing anomalies', 'False alarms per week'],
  Tools: writeOf(noun, createDetectorCall),
  Open: openedOf({ noun, path: '/api/ai/detectors/{id}', Form: DetectorForm, Details }),
});
