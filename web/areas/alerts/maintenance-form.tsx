/** The form in which a maintenance window is written, with what it would mute. */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { MaintenanceWindowFields } from '../../../schemas/resources/maintenance-window.ts';
import { Field } from '../../editors/field.tsx';
import { NumberInput, TextInput, WallTimeInput } from '../../editors/inputs.tsx';
import { useSaving } from '../../editors/opened.tsx';
import { projects } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { Problem } from '../../frame/standing.tsx';
import { createWindowCall, type MaintenanceWindow, replaceWindowCall } from './calls.ts';
import { Muted } from './muted.tsx';
import { matchersIn, shownMatchers } from './shown.ts';

type Written = z.input<typeof MaintenanceWindowFields>;

/** The next full hour, on the clock of this browser. */
const nextHour = (): string => {
  const at = new Date(Date.now() + 3_600_000);
  return `${new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 13)}:00`;
};

const empty = (): Written => ({
  ...{ name: '', description: '', timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone },
  ...{ startsAt: nextHour(), durationMinutes: 60, recurrence: null, matchers: [], projectIds: [] },
  excludedFromSlos: false,
});

const fieldsIn = ({
  id: _,
  version: __,
  createdAt: ___,
  updatedAt: ____,
  createdBy: _____,
  isActive: ______,
  times: _______,
  ...fields
}: MaintenanceWindow): Written => fields;

/** Rules as people say them. */
export const recurrences: Readonly<Record<string, string>> = {
  '': 'once',
  'FREQ=DAILY': 'every day',
  'FREQ=WEEKLY': 'every week',
  'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR': 'Monday to Friday',
  'FREQ=MONTHLY': 'every month',
};

const Projects = ({
  chosen,
  onChange,
}: {
  readonly chosen: readonly string[];
  readonly onChange: (ids: string[]) => void;
}) =>
  projects.value.length === 0 ? null : (
    <fieldset>
      <legend>Only of these projects</legend>
      {projects.value.map(({ id, name }) => (
        <label class="choice" key={id}>
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={({ currentTarget }) =>
              onChange(currentTarget.checked ? [...chosen, id] : chosen.filter((each) => each !== id))
            }
          />{' '}
          {shownText(name)}
        </label>
      ))}
    </fieldset>
  );

export const MaintenanceForm = ({ before }: { readonly before: MaintenanceWindow | undefined }) => {
  const [written, setWritten] = useState<Written>(() => (before === undefined ? empty() : fieldsIn(before)));
  const { save, wrong, error, isRunning } = useSaving(createWindowCall, replaceWindowCall, before);
  const { matchers = [], recurrence = null, projectIds = [] } = written;
  const set = (fields: Partial<Written>): void => setWritten((now) => ({ ...now, ...fields }));
  return (
    <div class="form">
      <TextInput label="Name" value={written.name} problem={wrong('name')} onChange={(name) => set({ name })} />
      <TextInput
        label="Because"
        most={4096}
        value={written.description ?? ''}
        problem={wrong('description')}
        onChange={(description) => set({ description })}
      />
      <WallTimeInput
        label="From"
        value={written.startsAt}
        problem={wrong('startsAt')}
        onChange={(startsAt) => set({ startsAt })}
      />
      <TextInput
        label="On the clock of"
        value={written.timeZone}
        problem={wrong('timeZone')}
        onChange={(timeZone) => set({ timeZone })}
      />
      <NumberInput
        label="For so many minutes"
        value={written.durationMinutes}
        problem={wrong('durationMinutes')}
        onChange={(minutes) => set({ durationMinutes: minutes ?? 0 })}
      />
      <label>
        Again{' '}
        <select
          value={(recurrence ?? '') in recurrences ? (recurrence ?? '') : 'own'}
          onChange={({ currentTarget: { value } }) =>
            set({ recurrence: value === 'own' ? 'FREQ=WEEKLY;BYDAY=SU' : value || null })
          }
        >
          {Object.entries({ ...recurrences, own: 'by a rule of its own' }).map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {recurrence === null ? null : (
        <TextInput
          label="Rule"
          hint="As calendars write it (RRULE): FREQ=MONTHLY;BYDAY=1SU"
          most={512}
          value={recurrence}
          problem={wrong('recurrence')}
          onChange={(rule) => set({ recurrence: rule.trim() || null })}
        />
      )}
      <Field label="Mute alerts with" problem={wrong('matchers')} hint={'team=shop, service=~"ca.*"'}>
        <input
          defaultValue={shownMatchers({ matchers })}
          maxLength={4096}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={wrong('matchers') !== undefined}
          onChange={({ currentTarget }) => set({ matchers: matchersIn(currentTarget.value) })}
        />
      </Field>
      <Projects chosen={projectIds} onChange={(ids) => set({ projectIds: ids })} />
      {matchers.length === 0 ? null : <Muted matchers={matchers} />}
      {matchers.length === 0 || projectIds.length === 0 ? null : (
        <p class="soft">Of those it mutes what rules of the projects found.</p>
      )}
      <label class="choice">
        <input
          type="checkbox"
          checked={written.excludedFromSlos === true}
          onChange={({ currentTarget }) => set({ excludedFromSlos: currentTarget.checked })}
        />{' '}
        Objectives leave its times out
      </label>
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(written)}>
          {before === undefined ? 'Create the window' : 'Save the window'}
        </button>
        <Problem error={error} />
      </div>
    </div>
  );
};
