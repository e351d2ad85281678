/** Form to edit and test a detector */
import { useState } from 'preact/hooks';
import type { Query } from '../../../queries/query.ts';
import { Action } from '../../client/action.ts';
import { Field } from '../../editors/field.tsx';
import { useSaving } from '../../editors/form-state.tsx';
import { QueryFormFields } from '../../editors/query-fields.tsx';
import { recordKinds, toQuery, toQueryParams } from '../../editors/query-form.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectId } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import {
  createDetectorCall,
  type Detector,
  type DetectorInput,
  detectAnomaliesCall,
  replaceDetectorCall,
} from './calls.ts';

/** Directions of a change */
export const directions = { both: 'any', up: 'up', down: 'down' } as const;

const newDetector = (): DetectorInput => ({
  name: '',
  projectId: projectId.peek() || null,
  step: '1m',
  falseAlarmsPerWeek: 1,
  minChange: 0,
  direction: 'both',
  query: toQuery('count logs', { ...toQueryParams(undefined), groupBy: ['service'] }) as Query,
});

const pickWritableFields = ({
  validity: _,
  status: __,
  id,
  version,
  createdAt,
  updatedAt,
  ...fields
}: Detector): DetectorInput => fields as DetectorInput;

/** Anomalies that the detector would have found in the selected time range. */
const DetectorTest = ({ detector }: { readonly detector: DetectorInput }) => {
  const [action] = useState(() => new Action(detectAnomaliesCall));
  const [testResult, setTestResult] = useState<Awaited<ReturnType<typeof action.run>>>();
  const testDetector = async (): Promise<void> => {
    const { query, step, falseAlarmsPerWeek } = detector;
    setTestResult(
      await action.run({
        body: {
          query,
          ...timeRange.peek(),
          ...(step ? { step } : {}),
          ...(falseAlarmsPerWeek ? { falseAlarmsPerWeek } : {}),
        },
      }),
    );
  };
  const anomalies = testResult?.series.flatMap(({ name, labels, anomalies }) =>
    anomalies.map((anomaly) => ({ ...anomaly, series: [name, ...Object.values(labels)].join(' ') })),
  );
  const learningCount = testResult?.series.filter(({ isLearning }) => isLearning).length ?? 0;
  return (
    <>
      <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void testDetector()}>
        Test detector
      </button>
      <ErrorMessage error={action.error.value} />
      {testResult === undefined || anomalies === undefined ? null : (
        <>
          <p role="status">
            {testResult.series.length} series; {anomalies.length} anomalies.
            {learningCount === 0 ? '' : ` ${learningCount} series have too little data in this range.`}
          </p>
          {anomalies.length === 0 ? null : (
            <table class="figures texts">
              <TableHeader columns={['Series', 'From', 'To', 'Anomalies']} />
              <tbody>
                {anomalies.slice(0, 50).map(({ series, from, to, sign }) => (
                  <tr key={`${series} ${from}`}>
                    <td>
                      <bdi>{renderText(series)}</bdi>
                    </td>
                    <td>{formatIsoTime(new Date(from).toISOString())}</td>
                    <td>{to === null ? 'ongoing' : formatIsoTime(new Date(to).toISOString())}</td>
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

/** Form of a detector: its query, its settings, and the anomalies that it would have found. */
export const DetectorForm = ({ savedItem: storedDetector }: { readonly savedItem: Detector | undefined }) => {
  const [detector, setDetector] = useState<DetectorInput>(() =>
    storedDetector === undefined ? newDetector() : pickWritableFields(storedDetector),
  );
  const { save, findProblem, error, isRunning } = useSaving(createDetectorCall, replaceDetectorCall, storedDetector);
  const updateDetector = (fields: Partial<DetectorInput>): void => setDetector({ ...detector, ...fields });
  const textFields = [
    ['Name', 'name', 256],
    ['Interval', 'step', 16],
  ] as const;
  const numberFields = [
    ['Maximum false alarms per week', 'falseAlarmsPerWeek'],
    ['Minimum change', 'minChange'],
  ] as const;
  return (
    <div class="form">
      {textFields.map(([label, name, maxLength]) => (
        <Field key={name} label={label} problem={findProblem(name)}>
          <input
            value={detector[name] ?? ''}
            maxLength={maxLength}
            autocomplete="off"
            aria-invalid={findProblem(name) !== undefined}
            onInput={({ currentTarget }) => updateDetector({ [name]: currentTarget.value })}
          />
        </Field>
      ))}
      <fieldset>
        <legend>Data source</legend>
        <QueryFormFields
          name="Query"
          query={detector.query as Query}
          excludedKinds={recordKinds}
          problem={findProblem('query')}
          onChange={(query) => updateDetector({ query })}
        />
      </fieldset>
      {numberFields.map(([label, name]) => (
        <Field key={name} label={label} problem={findProblem(name)}>
          <input
            type="number"
            step="any"
            min={0}
            defaultValue={String(detector[name] ?? '')}
            aria-invalid={findProblem(name) !== undefined}
            onInput={({ currentTarget }) => updateDetector({ [name]: Number(currentTarget.value) })}
          />
        </Field>
      ))}
      <label>
        Direction{' '}
        <select
          value={detector.direction ?? 'both'}
          onChange={({ currentTarget }) =>
            updateDetector({ direction: currentTarget.value as keyof typeof directions })
          }
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
          onChange={({ currentTarget }) => updateDetector({ enabled: currentTarget.checked })}
        />{' '}
        Enabled
      </label>
      <DetectorTest detector={detector} />
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(detector)}>
          {storedDetector === undefined ? 'Create detector' : 'Save detector'}
        </button>
        {error === undefined || error.details.length > 0 ? null : <ErrorMessage error={error} />}
      </div>
    </div>
  );
};
