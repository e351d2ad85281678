/** Time and recurrence of maintenance windows and check downtimes, and their projects */
import type { z } from 'zod';
import type { MaintenanceWindowFields } from '../../schemas/resources/maintenance-window.ts';
import { projects } from '../frame/project.ts';
import { shownMoment } from '../frame/shown-time.ts';
import { TableHeader } from '../lists/table-header.tsx';
import { CheckInput, NumberInput, SelectInput, SomeInput, TextInput, WallTimeInput } from './inputs.tsx';

type Planned = Omit<z.input<typeof MaintenanceWindowFields>, 'matchers'>;

/** Returns the next full hour, in the time zone of the browser. */
const nextHour = (): string => {
  const at = new Date(Date.now() + 3_600_000);
  return `${new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 13)}:00`;
};

export const newPlan = (): Planned => ({
  name: '',
  description: '',
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  startsAt: nextHour(),
  durationMinutes: 60,
  recurrence: null,
  projectIds: [],
  excludedFromSlos: false,
});

/** Recurrence rules with their titles */
const recurrences: Readonly<Record<string, string>> = {
  '': 'once',
  'FREQ=DAILY': 'every day',
  'FREQ=WEEKLY': 'every week',
  'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR': 'Monday to Friday',
  'FREQ=MONTHLY': 'every month',
};

export const againOf = ({ recurrence }: Pick<Planned, 'recurrence'>): string =>
  recurrences[recurrence ?? ''] ?? recurrence ?? '';

interface Written {
  readonly plan: Planned;
  readonly wrong: (path: string) => string | undefined;
  readonly onChange: (fields: Partial<Planned>) => void;
}

/** Name and times. */
export const PlanTimes = ({ plan, wrong, onChange }: Written) => {
  const { recurrence = null } = plan;
  return (
    <>
      <TextInput label="Name" value={plan.name} problem={wrong('name')} onChange={(name) => onChange({ name })} />
      <TextInput
        label="Comment"
        maxLength={4096}
        value={plan.description ?? ''}
        problem={wrong('description')}
        onChange={(description) => onChange({ description })}
      />
      <WallTimeInput
        label="From"
        value={plan.startsAt}
        problem={wrong('startsAt')}
        onChange={(startsAt) => onChange({ startsAt })}
      />
      <TextInput
        label="Time zone"
        value={plan.timeZone}
        problem={wrong('timeZone')}
        onChange={(timeZone) => onChange({ timeZone })}
      />
      <NumberInput
        label="Duration (minutes)"
        value={plan.durationMinutes}
        problem={wrong('durationMinutes')}
        onChange={(minutes) => onChange({ durationMinutes: minutes ?? 0 })}
      />
      <SelectInput
        label="Recurrence"
        value={(recurrence ?? '') in recurrences ? (recurrence ?? '') : 'own'}
        problem={undefined}
        options={Object.entries({ ...recurrences, own: 'Custom rule' })}
        onChange={(value) => onChange({ recurrence: value === 'own' ? 'FREQ=WEEKLY;BYDAY=SU' : value || null })}
      />
      {recurrence === null ? null : (
        <TextInput
          label="Rule"
          hint="RRULE (RFC 5545): FREQ=MONTHLY;BYDAY=1SU"
          maxLength={512}
          value={recurrence}
          problem={wrong('recurrence')}
          onChange={(rule) => onChange({ recurrence: rule.trim() || null })}
        />
      )}
    </>
  );
};

export const PlanProjects = ({ plan, wrong, onChange }: Written) =>
  projects.value.length === 0 ? null : (
    <SomeInput
      label="Projects"
      value={plan.projectIds ?? []}
      problem={wrong('projectIds')}
      options={projects.value.map(({ id, name }) => [id, name] as const)}
      onChange={(ids) => onChange({ projectIds: [...ids] })}
    />
  );

export const PlanObjectives = ({ plan, onChange }: Omit<Written, 'wrong'>) => (
  <CheckInput
    label="Exclude from SLOs"
    value={plan.excludedFromSlos === true}
    onChange={(excludedFromSlos) => onChange({ excludedFromSlos })}
  />
);

export const NextTimes = ({ times }: { readonly times: readonly { readonly from: string; readonly to: string }[] }) => (
  <>
    <h3>Next occurrences</h3>
    {times.length === 0 ? (
      <p class="soft">The schedule has ended or has no occurrence within a year.</p>
    ) : (
      <table class="figures times">
        <TableHeader columns={['From', 'Until']} />
        <tbody>
          {times.map(({ from, to }) => (
            <tr key={from}>
              <td>{shownMoment(from).slice(0, 16)}</td>
              <td>{shownMoment(to).slice(0, 16)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </>
);
