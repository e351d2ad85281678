/** Form of an on-call schedule: rotation layers, and a preview of the changed shifts */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { replaceSchedule, scheduleResource } from '../../../api/groups/incidents/schedules.ts';
import type { OnCallScheduleFields } from '../../../schemas/resources/on-call-schedule.ts';
import { declareCall, declareCreateCall, type ResourceView, type ResponseBody } from '../../client/call.ts';
import { ApiQuery } from '../../client/query.ts';
import { FieldProblem } from '../../editors/field.tsx';
import { useSaving } from '../../editors/form-state.tsx';
import { LocalTimeInput, NumberInput, SelectListInput, TextInput } from '../../editors/inputs.tsx';
import { IntervalListFields } from '../../editors/intervals.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { formatNames, type NamesById, useNames } from '../../frame/people.ts';
import { TableHeader } from '../../lists/table-header.tsx';

export type Schedule = ResourceView<typeof scheduleResource>;
type ScheduleInput = z.input<typeof OnCallScheduleFields>;
type Layer = ScheduleInput['layers'][number];

export const createScheduleCall = declareCreateCall<typeof scheduleResource, typeof OnCallScheduleFields>(
  '/api/on-call/schedules',
);
const replaceScheduleCall = declareCall<typeof replaceSchedule>('PUT', '/api/on-call/schedules/{id}');

const createLayer = (name: string): Layer => ({
  name,
  startsAt: `${new Date().toISOString().slice(0, 10)}T09:00`,
  rotation: { every: 1, unit: 'weeks' },
  participants: [[]],
  restrictions: [],
});

const createEmptySchedule = (): ScheduleInput => ({
  name: '',
  description: '',
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  layers: [createLayer('Primary')],
});

const units = ['hours', 'days', 'weeks', 'months'] as const;

const LayerFields = ({
  layer,
  path,
  names,
  findProblem,
  onChange,
  onRemove,
}: {
  readonly layer: Layer;
  /** Path: `layers.0` */
  readonly path: string;
  readonly names: NamesById;
  readonly findProblem: (path: string) => string | undefined;
  readonly onChange: (layer: Layer) => void;
  readonly onRemove: () => void;
}) => {
  const updateLayer = (fields: Partial<Layer>): void => onChange({ ...layer, ...fields });
  const { rotation, participants, restrictions = [] } = layer;
  return (
    <fieldset>
      <legend>Layer {renderText(layer.name)}</legend>
      <TextInput
        label="Layer name"
        value={layer.name}
        problem={findProblem(`${path}.name`)}
        onChange={(name) => updateLayer({ name })}
      />
      <LocalTimeInput
        label="First shift begins"
        value={layer.startsAt}
        problem={findProblem(`${path}.startsAt`)}
        onChange={(startsAt) => updateLayer({ startsAt })}
      />
      <div class="act">
        <NumberInput
          label="Shift length"
          value={rotation.every}
          problem={findProblem(`${path}.rotation`)}
          onChange={(every) => updateLayer({ rotation: { ...rotation, every: every ?? 0 } })}
        />
        <select
          aria-label="Unit"
          value={rotation.unit}
          onChange={({ currentTarget }) =>
            updateLayer({ rotation: { ...rotation, unit: currentTarget.value as (typeof units)[number] } })
          }
        >
          {units.map((unit) => (
            <option key={unit} value={unit}>
              {unit}
            </option>
          ))}
        </select>
      </div>
      {participants.map((group, index) => (
        <fieldset key={index}>
          <legend>Shift {index + 1}</legend>
          {group.length === 0 ? <p class="soft">No one assigned</p> : null}
          <SelectListInput
            label="Responders"
            addLabel="Add responder"
            options={{ People: Object.entries(names) }}
            value={group}
            problem={undefined}
            onChange={(userIds) => updateLayer({ participants: participants.with(index, [...userIds]) })}
          />
          {participants.length === 1 ? null : (
            <button
              type="button"
              class="plain"
              onClick={() => updateLayer({ participants: participants.toSpliced(index, 1) })}
            >
              Remove shift {index + 1}
            </button>
          )}
        </fieldset>
      ))}
      <button type="button" class="plain" onClick={() => updateLayer({ participants: [...participants, []] })}>
        Add shift
      </button>
      <FieldProblem message={findProblem(`${path}.participants`)} />
      <IntervalListFields
        title="Only during"
        value={restrictions}
        listPath={`${path}.restrictions`}
        findProblem={findProblem}
        onChange={(intervals) => updateLayer({ restrictions: intervals })}
      />
      <button type="button" class="plain" onClick={onRemove}>
        Remove layer
      </button>
    </fieldset>
  );
};

type Differences = NonNullable<ResponseBody<typeof replaceSchedule>['differences']>;

const DifferenceTable = ({ differences, names }: { readonly differences: Differences; readonly names: NamesById }) => (
  <table class="figures texts differences">
    <TableHeader columns={['From', 'Until', 'Current', 'New']} />
    <tbody>
      {differences.map(({ from, to, before, after }) => (
        <tr key={from}>
          <td>{formatIsoMinute(from)}</td>
          <td>{formatIsoMinute(to)}</td>
          {[before, after].map((userIds, index) => (
            <td key={index} class={userIds.length === 0 ? 'text-error' : ''}>
              {userIds.length === 0 ? 'no one' : renderText(formatNames(userIds, names))}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

/** Preview of the shifts in the next 30 days that the edited schedule would change. */
const ChangesPreview = ({
  id,
  draftSchedule,
  names,
}: {
  readonly id: string;
  readonly draftSchedule: ScheduleInput;
  readonly names: NamesById;
}) => {
  const [query] = useState(() => new ApiQuery(replaceScheduleCall));
  const { response, error, isLoading } = query.state.value;
  const { differences } = response ?? {};
  return (
    <>
      <button
        type="button"
        class="plain"
        disabled={isLoading}
        onClick={() => query.run({ params: { id }, query: { dryRun: 'true' }, body: draftSchedule })}
      >
        Preview changes
      </button>
      <ErrorMessage error={error} />
      <p role="status">
        {differences === undefined || error !== undefined
          ? ''
          : differences.length === 0
            ? 'No on-call changes in the next 30 days.'
            : `${differences.length} on-call changes in the next 30 days.`}
      </p>
      {differences === undefined || error !== undefined || differences.length === 0 ? null : (
        <DifferenceTable differences={differences} names={names} />
      )}
    </>
  );
};

export const ScheduleForm = ({ savedItem: storedSchedule }: { readonly savedItem: Schedule | undefined }) => {
  const [draftSchedule, setDraftSchedule] = useState<ScheduleInput>(() => {
    if (storedSchedule === undefined) return createEmptySchedule();
    const { name, description, timeZone, layers } = storedSchedule;
    return { name, description, timeZone, layers };
  });
  const { save, findProblem, error, isRunning } = useSaving(createScheduleCall, replaceScheduleCall, storedSchedule);
  const names = useNames();
  const { layers } = draftSchedule;
  const updateSchedule = (fields: Partial<ScheduleInput>): void =>
    setDraftSchedule((currentSchedule) => ({ ...currentSchedule, ...fields }));
  return (
    <div class="form">
      <TextInput
        label="Name"
        value={draftSchedule.name}
        problem={findProblem('name')}
        onChange={(name) => updateSchedule({ name })}
      />
      <TextInput
        label="Description"
        maxLength={4096}
        value={draftSchedule.description ?? ''}
        problem={findProblem('description')}
        onChange={(description) => updateSchedule({ description })}
      />
      <TextInput
        label="Time zone"
        value={draftSchedule.timeZone}
        problem={findProblem('timeZone')}
        onChange={(timeZone) => updateSchedule({ timeZone })}
      />
      <p class="hint">If several layers cover a time, the lowest layer on this page wins.</p>
      {layers.map((layer, index) => (
        <LayerFields
          key={index}
          layer={layer}
          names={names}
          findProblem={findProblem}
          path={`layers.${index}`}
          onChange={(updatedLayer) => updateSchedule({ layers: layers.with(index, updatedLayer) })}
          onRemove={() => updateSchedule({ layers: layers.toSpliced(index, 1) })}
        />
      ))}
      <button
        type="button"
        class="plain"
        onClick={() => updateSchedule({ layers: [...layers, createLayer(`Layer ${layers.length + 1}`)] })}
      >
        Add layer
      </button>
      {storedSchedule === undefined ? null : (
        <ChangesPreview id={storedSchedule.id} draftSchedule={draftSchedule} names={names} />
      )}
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(draftSchedule)}>
          {storedSchedule === undefined ? 'Create schedule' : 'Save schedule'}
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};
