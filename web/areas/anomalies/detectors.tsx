/** Detectors: how each stands. */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { change, inAddress, toArea } from '../../frame/address.ts';
import { Link } from '../../frame/link.tsx';
import { may } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { Beside, Fields } from '../../lists/beside.tsx';
import { listed } from '../../lists/listed.tsx';
import { createDetectorCall, type Detector, detectorsCall, removeDetectorCall } from './calls.ts';
import { DetectorForm, directions } from './detector-form.tsx';

const saved = (id: string): void => {
  change({ open: id, edit: '' });
  refresh();
};

const Remove = ({
  detector: { id, version },
  onClose,
}: {
  readonly detector: Detector;
  readonly onClose: () => void;
}) => {
  const [action] = useState(() => new Action(removeDetectorCall));
  const [isAsked, setAsked] = useState(false);
  const run = async (): Promise<void> => {
    if (!isAsked) return setAsked(true);
    if ((await action.run({ params: { id }, ifMatch: version })) === undefined) return;
    onClose();
    refresh();
  };
  return (
    <ActionForm action={action} label={isAsked ? 'Remove it for good' : 'Remove'} onSubmit={run}>
      <button type="button" class="plain" onClick={() => change({ edit: id })}>
        Edit
      </button>
    </ActionForm>
  );
};

const Told = ({ detector }: { readonly detector: Detector }) => {
  const { description, status, validity, step, falseAlarmsPerWeek, leastChange, direction, labels } = detector;
  return (
    <>
      <p>{shownText(description ?? '', { lines: true })}</p>
      {validity.isValid === false ? (
        <p class="problem">{shownText(validity.problems.map(({ message }) => message).join('; '))}</p>
      ) : null}
      {status?.error == null ? null : <p class="problem">{shownText(status.error)}</p>}
      <Fields
        values={{
          ...{ state: status?.state ?? 'not known', 'learns until': shownMoment(status?.learningUntil ?? null) },
          ...{ series: status?.series, 'that learn': status?.learning, 'anomalies that last': status?.open },
          ...{ 'scored up to': shownMoment(status?.lastStep ?? null), 'a point each': step },
          'false alarms a week': `${status?.rate.perWeek?.toPrecision(2) ?? status?.rate.reason ?? 'not known'}; allowed are ${falseAlarmsPerWeek}`,
          ...{ 'least change': leastChange, direction: directions[direction ?? 'both'], ...labels },
        }}
      />
      <ul class="links">
        <li>
          <Link to={toArea('/anomalies', { detectorId: detector.id })}>What it found</Link>
        </li>
      </ul>
      <h3>Query</h3>
      <pre class="body">{shownText(JSON.stringify(detector.query, null, 2), { lines: true })}</pre>
    </>
  );
};

const OpenDetector = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: Detector | undefined;
  readonly onClose: () => void;
}) => {
  const isEdited = inAddress('edit') === id;
  if (id === 'new')
    return (
      <Beside label="Detector" title="A new detector" onClose={onClose}>
        <DetectorForm before={undefined} onSaved={saved} />
      </Beside>
    );
  return (
    <Beside label="Detector" title={item?.name ?? 'Detector'} onClose={onClose}>
      {item === undefined ? (
        <p>This detector is not on the pages that were read.</p>
      ) : isEdited ? (
        <DetectorForm key={`${id} ${item.version}`} before={item} onSaved={saved} />
      ) : (
        <>
          {may(removeDetectorCall) ? <Remove detector={item} onClose={onClose} /> : null}
          <Told detector={item} />
        </>
      )}
    </Beside>
  );
};

const Tools = () =>
  may(createDetectorCall) ? (
    <button type="button" class="plain" onClick={() => change({ open: 'new' })}>
      Write a detector
    </button>
  ) : null;

export const Detectors = listed({
  title: 'Detectors',
  call: detectorsCall,
  search: 'part of a name',
  nothing: 'Nothing is watched for anomalies.',
  keyOf: ({ id }) => id,
  columns: {
    Detector: ({ name }) => name,
    State: ({ status }) => (
      <span class={status?.state === 'failed' || status?.state === 'behind' ? 'text-error' : ''}>
        {status?.state ?? 'not known'}
      </span>
    ),
    Series: ({ status }) => status?.series,
    'Last now': ({ status }) => status?.open,
    'False alarms a week': ({ status }) => status?.rate.perWeek?.toPrecision(2),
    'Scored up to': ({ status }) => shownMoment(status?.lastStep ?? null),
  },
  numbers: ['Series', 'Last now', 'False alarms a week'],
  Tools,
  Open: OpenDetector,
});
