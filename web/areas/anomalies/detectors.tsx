/** Detectors: how each stands, and one that is written. */
import { useState } from 'preact/hooks';
import type { Query } from '../../../queries/query.ts';
import { Action } from '../../client/action.ts';
import { ofRecords, queryOf, writtenOf } from '../../editors/question.ts';
import { QuestionFields } from '../../editors/question-fields.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { change, inAddress, toArea } from '../../frame/address.ts';
import { Link } from '../../frame/link.tsx';
import { projectId } from '../../frame/project.ts';
import { may } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { Problem } from '../../frame/standing.tsx';
import { refresh, writtenRange } from '../../frame/time-range.ts';
import { Beside, Fields } from '../../lists/beside.tsx';
import { Heads } from '../../lists/heads.tsx';
import { listed } from '../../lists/listed.tsx';
import {
  createDetectorCall,
  type Detector,
  detectCall,
  detectorsCall,
  removeDetectorCall,
  replaceDetectorCall,
  type WrittenDetector,
} from './calls.ts';

const directions = { both: 'either way', up: 'up', down: 'down' } as const;

const empty = (): WrittenDetector => ({
  ...{ name: '', projectId: projectId.peek() || null, step: '1m', falseAlarmsPerWeek: 1, leastChange: 0 },
  ...{ direction: 'both', query: queryOf('count logs', { ...writtenOf(undefined), groupBy: ['service'] }) as Query },
});

const fieldsIn = ({
  validity: _,
  status: __,
  id,
  version,
  createdAt,
  updatedAt,
  ...fields
}: Detector): WrittenDetector => fields as WrittenDetector;

const At = ({ message }: { readonly message: string | undefined }) => (
  <p class="problem-text" role="alert">
    {message === undefined ? '' : shownText(message)}
  </p>
);

/** What it would have found in the range of the page. */
const Tried = ({ detector }: { readonly detector: WrittenDetector }) => {
  const [action] = useState(() => new Action(detectCall));
  const [found, setFound] = useState<Awaited<ReturnType<typeof action.run>>>();
  const run = async (): Promise<void> => {
    const { query, step, falseAlarmsPerWeek } = detector;
    setFound(
      await action.run({
        body: {
          query,
          ...writtenRange.peek(),
          ...(step ? { step } : {}),
          ...(falseAlarmsPerWeek ? { falseAlarmsPerWeek } : {}),
        },
      }),
    );
  };
  const episodes = found?.series.flatMap(({ name, labels, anomalies }) =>
    anomalies.map((each) => ({ ...each, series: [name, ...Object.values(labels)].join(' ') })),
  );
  const learning = found?.series.filter(({ isLearning }) => isLearning).length ?? 0;
  return (
    <>
      <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void run()}>
        Try it over the range
      </button>
      <Problem error={action.error.value} />
      {found === undefined || episodes === undefined ? null : (
        <>
          <p role="status">
            {found.series.length} series; {episodes.length} anomalies.
            {learning === 0 ? '' : ` Of ${learning} too little is in this range to tell.`}
          </p>
          {episodes.length === 0 ? null : (
            <table class="figures texts">
              <Heads columns={['Series', 'From', 'To', 'What was unusual']} />
              <tbody>
                {episodes.slice(0, 50).map(({ series, from, to, sign }) => (
                  <tr key={`${series} ${from}`}>
                    <td>
                      <bdi>{shownText(series)}</bdi>
                    </td>
                    <td>{shownMoment(new Date(from).toISOString())}</td>
                    <td>{to === null ? 'it lasts' : shownMoment(new Date(to).toISOString())}</td>
                    <td>{sign}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </>
      )}
    </>
  );
};

const Form = ({
  before,
  onSaved,
}: {
  readonly before: Detector | undefined;
  readonly onSaved: (id: string) => void;
}) => {
  const [detector, setDetector] = useState<WrittenDetector>(() => (before === undefined ? empty() : fieldsIn(before)));
  const [create] = useState(() => new Action(createDetectorCall));
  const [replace] = useState(() => new Action(replaceDetectorCall));
  const set = (fields: Partial<WrittenDetector>): void => setDetector({ ...detector, ...fields });
  const save = async (): Promise<void> => {
    const saved =
      before === undefined
        ? await create.run({ body: detector })
        : await replace.run({ params: { id: before.id }, body: detector, ifMatch: before.version });
    if (saved !== undefined) onSaved(saved.id);
  };
  const action = before === undefined ? create : replace;
  const error = action.error.value;
  const wrong = (path: string): string | undefined =>
    error?.details.find((detail) => detail.path === path || detail.path.startsWith(`${path}.`))?.message;
  const texts = [
    ['Name', 'name', 256],
    ['A point each', 'step', 16],
  ] as const;
  const numbers = [
    ['False alarms that are allowed a week', 'falseAlarmsPerWeek'],
    ['Least change that matters', 'leastChange'],
  ] as const;
  return (
    <div class="form">
      {texts.map(([label, name, most]) => (
        <div key={name}>
          <label>
            {label}{' '}
            <input
              value={detector[name] ?? ''}
              maxLength={most}
              autocomplete="off"
              aria-invalid={wrong(name) !== undefined}
              onInput={({ currentTarget }) => set({ [name]: currentTarget.value })}
            />
          </label>
          <At message={wrong(name)} />
        </div>
      ))}
      <fieldset>
        <legend>Watches</legend>
        <QuestionFields
          name="Query"
          query={detector.query as Query}
          without={ofRecords}
          problem={wrong('query')}
          onChange={(query) => set({ query })}
        />
      </fieldset>
      {numbers.map(([label, name]) => (
        <div key={name}>
          <label>
            {label}{' '}
            <input
              type="number"
              step="any"
              min={0}
              defaultValue={String(detector[name] ?? '')}
              aria-invalid={wrong(name) !== undefined}
              onInput={({ currentTarget }) => set({ [name]: Number(currentTarget.value) })}
            />
          </label>
          <At message={wrong(name)} />
        </div>
      ))}
      <label>
        A change matters that goes{' '}
        <select
          value={detector.direction ?? 'both'}
          onChange={({ currentTarget }) => set({ direction: currentTarget.value as keyof typeof directions })}
        >
          {Object.entries(directions).map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        <input
          type="checkbox"
          checked={detector.enabled !== false}
          onChange={({ currentTarget }) => set({ enabled: currentTarget.checked })}
        />{' '}
        It watches
      </label>
      <Tried detector={detector} />
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
          {before === undefined ? 'Create the detector' : 'Save the detector'}
        </button>
        {error === undefined || error.details.length > 0 ? null : <Problem error={error} />}
      </div>
    </div>
  );
};

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
        <Form before={undefined} onSaved={saved} />
      </Beside>
    );
  return (
    <Beside label="Detector" title={item?.name ?? 'Detector'} onClose={onClose}>
      {item === undefined ? (
        <p>This detector is not on the pages that were read.</p>
      ) : isEdited ? (
        <Form key={`${id} ${item.version}`} before={item} onSaved={saved} />
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
