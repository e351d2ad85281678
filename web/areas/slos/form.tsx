/** Form to create or edit an SLO: SLI, target, window and alerts */
import { useState } from 'preact/hooks';
import type { budgetingMethods } from '../../../schemas/slo-slices.ts';
import { Button } from '../../components/button.tsx';
import { FormStep } from '../../components/form-step.tsx';
import { Field } from '../../editors/field.tsx';
import { useSaving } from '../../editors/form-state.tsx';
import { CheckInput, NumberInput, RecordSelectInput, TextInput } from '../../editors/inputs.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { nameFormat } from '../../search/completion.ts';
import { suggestServices } from '../../search/suggest-span-fields.ts';
import { SuggestedInput } from '../../search/suggested-input.tsx';
import { AlertingFields } from './alerting-fields.tsx';
import {
  createSloCall,
  type FindProblem,
  replaceSloCall,
  type Slo,
  type SloInput,
  type SloQueryInput,
} from './calls.ts';
import { convertSli, SliFields, sliKinds, toSliKind } from './sli-fields.tsx';
import { readCalendar, WindowFields } from './window-fields.tsx';

const emptySlo: SloInput = {
  name: '',
  description: '',
  type: 'availability',
  service: '',
  targetPct: 99.9,
  windowDays: 30,
  signal: 'traces',
  latencyThresholdMs: null,
  enabled: true,
  query: {},
};

const toFields = ({ id: _, version: __, createdAt: ___, updatedAt: ____, status: _____, ...fields }: Slo) =>
  fields as SloInput;

const budgetingTitles: Readonly<Record<(typeof budgetingMethods)[number], string>> = {
  occurrences: 'Events',
  timeslices: 'Time slices',
  'ratio-timeslices': 'Time slices by ratio',
};

/** Form fields for the budgeting method: events or time slices */
const BudgetingFields = ({
  query,
  findProblem,
  onChange,
}: {
  readonly query: SloQueryInput;
  readonly findProblem: FindProblem;
  readonly onChange: (query: SloQueryInput) => void;
}) => {
  const { budgeting = 'occurrences', sliceTarget, minimumEvents, ...otherFields } = query;
  const queryWithBudgeting = { ...query, budgeting };
  return (
    <fieldset>
      <legend>Budgeting method</legend>
      <RecordSelectInput
        label="Method"
        options={budgetingTitles}
        value={budgeting}
        problem={findProblem('query.budgeting')}
        onChange={(newBudgeting) => {
          const newQuery = {
            ...otherFields,
            ...(minimumEvents === undefined ? {} : { minimumEvents }),
            budgeting: newBudgeting,
          };
          onChange(newBudgeting === 'timeslices' ? { ...newQuery, sliceTarget: sliceTarget ?? 0.95 } : newQuery);
        }}
      />
      {budgeting === 'timeslices' ? (
        <NumberInput
          label="Minimum good ratio of a time slice (0 to 1)"
          value={sliceTarget ?? null}
          problem={findProblem('query.sliceTarget')}
          onChange={(value) => onChange({ ...queryWithBudgeting, sliceTarget: value ?? 0 })}
        />
      ) : null}
      <TextInput
        label="Slice length"
        hint="Whole minutes that divide the window: 1m, 5m, 1h"
        maxLength={16}
        value={query.slice ?? '1m'}
        problem={findProblem('query.slice')}
        onChange={(text) => onChange({ ...queryWithBudgeting, slice: text.trim() })}
      />
      <NumberInput
        label="Minimum events (if empty: two bad events)"
        value={minimumEvents ?? null}
        problem={findProblem('query.minimumEvents')}
        onChange={(value) => {
          const { minimumEvents: _, ...withoutMinimum } = queryWithBudgeting;
          onChange(value === null ? withoutMinimum : { ...withoutMinimum, minimumEvents: value });
        }}
      />
      <CheckInput
        label="Exclude maintenance windows"
        value={query.excludeMaintenance ?? false}
        onChange={(excludeMaintenance) => onChange({ ...queryWithBudgeting, excludeMaintenance })}
      />
    </fieldset>
  );
};

export const SloForm = ({ savedItem }: { readonly savedItem: Slo | undefined }) => {
  const [written, setWritten] = useState<SloInput>(() => (savedItem === undefined ? emptySlo : toFields(savedItem)));
  const { save, findProblem, error, isRunning } = useSaving(createSloCall, replaceSloCall, savedItem);
  const updateDraft = (fields: Partial<SloInput>): void =>
    setWritten((currentDraft) => ({ ...currentDraft, ...fields }));
  const setQuery = (query: SloQueryInput): void => updateDraft({ query });
  const { query } = written;
  const serviceLabel = query.sli === undefined ? 'Service' : 'Service (optional)';
  return (
    <div class="form">
      <FormStep number={1} title="Indicator">
        <RecordSelectInput
          label="SLI type"
          options={sliKinds}
          value={toSliKind(written)}
          problem={findProblem('type')}
          onChange={(kind) => updateDraft(convertSli(written, kind))}
        />
        <Field label={serviceLabel} problem={findProblem('service')}>
          <SuggestedInput
            label={serviceLabel}
            value={written.service ?? ''}
            format={nameFormat}
            suggest={suggestServices}
            isInvalid={findProblem('service') !== undefined}
            maxLength={256}
            onChange={(service) => updateDraft({ service })}
          />
        </Field>
        {written.type === 'latency' && query.sli === undefined ? (
          <NumberInput
            label="Latency threshold (ms)"
            value={written.latencyThresholdMs ?? null}
            problem={findProblem('latencyThresholdMs')}
            onChange={(latencyThresholdMs) => updateDraft({ latencyThresholdMs })}
          />
        ) : null}
        {query.sli === undefined ? null : (
          <SliFields sli={query.sli} findProblem={findProblem} onChange={(sli) => setQuery({ ...query, sli })} />
        )}
      </FormStep>
      <FormStep number={2} title="Objective">
        <NumberInput
          label="Target %"
          value={written.targetPct ?? null}
          problem={findProblem('targetPct')}
          onChange={(value) => updateDraft({ targetPct: value ?? 0 })}
        />
        <WindowFields
          days={written.windowDays ?? 30}
          calendar={readCalendar(query)}
          findProblem={findProblem}
          onDaysChange={(windowDays) => updateDraft({ windowDays })}
          onCalendarChange={(calendar) => {
            const { calendar: _, ...withoutCalendar } = query;
            setQuery(calendar === undefined ? withoutCalendar : { ...withoutCalendar, calendar });
          }}
        />
        <BudgetingFields query={query} findProblem={findProblem} onChange={setQuery} />
      </FormStep>
      <FormStep number={3} title="Burn-rate alerts">
        <AlertingFields
          alerting={query.alerting ?? {}}
          findProblem={findProblem}
          onChange={(alerting) => setQuery({ ...query, alerting })}
        />
      </FormStep>
      <FormStep number={4} title="Name">
        <TextInput
          label="Name"
          value={written.name}
          problem={findProblem('name')}
          onChange={(name) => updateDraft({ name })}
        />
        <TextInput
          label="Description"
          maxLength={4096}
          value={written.description ?? ''}
          problem={findProblem('description')}
          onChange={(description) => updateDraft({ description })}
        />
        <CheckInput label="Enabled" value={written.enabled ?? true} onChange={(enabled) => updateDraft({ enabled })} />
      </FormStep>
      <div class="act">
        <Button kind="primary" disabled={isRunning} onClick={() => void save(written)}>
          {savedItem === undefined ? 'Create SLO' : 'Save SLO'}
        </Button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};
