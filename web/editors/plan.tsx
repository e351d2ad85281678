/** Form fields of maintenance windows and check downtimes: time, recurrence and projects */
import type { z } from 'zod';
import type { MaintenanceWindowFields } from '../../schemas/resources/maintenance-window.ts';
import { formatIsoMinute } from '../frame/format-time.ts';
import { projects } from '../frame/project.ts';
import { TableHeader } from '../lists/table-header.tsx';
import { CheckboxGroup, CheckInput, LocalTimeInput, NumberInput, SelectInput, TextInput } from './inputs.tsx';

type DowntimePlan = Omit<z.input<typeof MaintenanceWindowFields>, 'matchers'>;

/** Returns the next full hour in the time zone of the browser, for example `2026-03-23T09:00`. */
const toNextHour = (): string => {
  const nextHourTime = new Date(Date.now() + 3_600_000);
  return `${new Date(nextHourTime.getTime() - nextHourTime.getTimezoneOffset() * 60_000).toISOString().slice(0, 13)}:00`;
};

export const createPlan = (): DowntimePlan => ({
  name: '',
  description: '',
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  startsAt: toNextHour(),
  durationMinutes: 60,
  recurrence: null,
  projectIds: [],
  excludedFromSlos: false,
});

/** Titles of preset recurrence rules */
const recurrences: Readonly<Record<string, string>> = {
  '': 'once',
  'FREQ=DAILY': 'every day',
  'FREQ=WEEKLY': 'every week',
  'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR': 'Monday to Friday',
  'FREQ=MONTHLY': 'every month',
};

export const formatRecurrence = ({ recurrence }: Pick<DowntimePlan, 'recurrence'>): string =>
  recurrences[recurrence ?? ''] ?? recurrence ?? '';

interface PlanFieldsProps {
  readonly plan: DowntimePlan;
  readonly findProblem: (path: string) => string | undefined;
  readonly onChange: (fields: Partial<DowntimePlan>) => void;
}

/** Fields for name, comment, time and recurrence */
export const PlanTimeFields = ({ plan, findProblem, onChange }: PlanFieldsProps) => {
  const { recurrence = null } = plan;
  return (
    <>
      <TextInput label="Name" value={plan.name} problem={findProblem('name')} onChange={(name) => onChange({ name })} />
      <TextInput
        label="Comment"
        maxLength={4096}
        value={plan.description ?? ''}
        problem={findProblem('description')}
        onChange={(description) => onChange({ description })}
      />
      <LocalTimeInput
        label="From"
        value={plan.startsAt}
        problem={findProblem('startsAt')}
        onChange={(startsAt) => onChange({ startsAt })}
      />
      <TextInput
        label="Time zone"
        value={plan.timeZone}
        problem={findProblem('timeZone')}
        onChange={(timeZone) => onChange({ timeZone })}
      />
      <NumberInput
        label="Duration (minutes)"
        value={plan.durationMinutes}
        problem={findProblem('durationMinutes')}
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
          problem={findProblem('recurrence')}
          onChange={(rule) => onChange({ recurrence: rule.trim() || null })}
        />
      )}
    </>
  );
};

export const PlanProjectFields = ({ plan, findProblem, onChange }: PlanFieldsProps) =>
  projects.value.length === 0 ? null : (
    <CheckboxGroup
      label="Projects"
      value={plan.projectIds ?? []}
      problem={findProblem('projectIds')}
      options={projects.value.map(({ id, name }) => [id, name] as const)}
      onChange={(ids) => onChange({ projectIds: [...ids] })}
    />
  );

export const PlanSloField = ({ plan, onChange }: Omit<PlanFieldsProps, 'findProblem'>) => (
  <CheckInput
    label="Exclude from SLOs"
    value={plan.excludedFromSlos === true}
    onChange={(excludedFromSlos) => onChange({ excludedFromSlos })}
  />
);

export const NextOccurrences = ({
  times,
}: {
  readonly times: readonly { readonly from: string; readonly to: string }[];
}) => (
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
              <td>{formatIsoMinute(from)}</td>
              <td>{formatIsoMinute(to)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </>
);
