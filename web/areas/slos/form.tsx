/** Form of an SLO: indicator, target and window, and alerts */
import { useState } from 'preact/hooks';
import type { budgetings } from '../../../schemas/slo-slices.ts';
import { useSaving } from '../../editors/form-state.tsx';
import { CheckInput, ChoiceInput, NumberInput, TextInput } from '../../editors/inputs.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { AlertingFields } from './alerting-fields.tsx';
import { changeSloCall, createSloCall, type Slo, type WrittenQuery, type WrittenSlo, type WrongAt } from './calls.ts';
import { convertSli, kindOf, kinds, SliFields } from './sli-fields.tsx';
import { calendarOf, WindowFields } from './window-fields.tsx';

const empty: WrittenSlo = {
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

const fieldsIn = ({ id: _, version: __, createdAt: ___, updatedAt: ____, status: _____, ...fields }: Slo) =>
  fields as WrittenSlo;

const countings: Readonly<Record<(typeof budgetings)[number], string>> = {
  occurrences: 'Events',
  timeslices: 'Time slices',
  'ratio-timeslices': 'Time slices by ratio',
};

/** Counting method of the SLO: events or time slices. */
const CountingFields = ({
  query,
  wrong,
  onChange,
}: {
  readonly query: WrittenQuery;
  readonly wrong: WrongAt;
  readonly onChange: (query: WrittenQuery) => void;
}) => {
  const { budgeting = 'occurrences', sliceTarget, minimumEvents, ...others } = query;
  const all = { ...query, budgeting };
  return (
    <fieldset>
      <legend>Budgeting method</legend>
      <ChoiceInput
        label="Method"
        options={countings}
        value={budgeting}
        problem={wrong('query.budgeting')}
        onChange={(next) => {
          const rest = { ...others, ...(minimumEvents === undefined ? {} : { minimumEvents }), budgeting: next };
          onChange(next === 'timeslices' ? { ...rest, sliceTarget: sliceTarget ?? 0.95 } : rest);
        }}
      />
      {budgeting === 'timeslices' ? (
        <NumberInput
          label="Minimum good ratio of a time slice (0 to 1)"
          value={sliceTarget ?? null}
          problem={wrong('query.sliceTarget')}
          onChange={(value) => onChange({ ...all, sliceTarget: value ?? 0 })}
        />
      ) : null}
      <TextInput
        label="Slice length"
        hint="Whole minutes that divide the window: 1m, 5m, 1h"
        maxLength={16}
        value={query.slice ?? '1m'}
        problem={wrong('query.slice')}
        onChange={(text) => onChange({ ...all, slice: text.trim() })}
      />
      <NumberInput
        label="Minimum events (empty: at least two bad events)"
        value={minimumEvents ?? null}
        problem={wrong('query.minimumEvents')}
        onChange={(value) => {
          const { minimumEvents: _, ...rest } = all;
          onChange(value === null ? rest : { ...rest, minimumEvents: value });
        }}
      />
      <CheckInput
        label="Exclude maintenance"
        value={query.excludeMaintenance ?? false}
        onChange={(excludeMaintenance) => onChange({ ...all, excludeMaintenance })}
      />
    </fieldset>
  );
};

export const SloForm = ({ before }: { readonly before: Slo | undefined }) => {
  const [written, setWritten] = useState<WrittenSlo>(() => (before === undefined ? empty : fieldsIn(before)));
  const { save, wrong, error, isRunning } = useSaving(createSloCall, changeSloCall, before);
  const set = (fields: Partial<WrittenSlo>): void => setWritten((now) => ({ ...now, ...fields }));
  const setQuery = (query: WrittenQuery): void => set({ query });
  const { query } = written;
  return (
    <div class="form">
      <TextInput label="Name" value={written.name} problem={wrong('name')} onChange={(name) => set({ name })} />
      <TextInput
        label="Description"
        maxLength={4096}
        value={written.description ?? ''}
        problem={wrong('description')}
        onChange={(description) => set({ description })}
      />
      <ChoiceInput
        label="SLI type"
        options={kinds}
        value={kindOf(written)}
        problem={wrong('type')}
        onChange={(kind) => set(convertSli(written, kind))}
      />
      <TextInput
        label={query.sli === undefined ? 'Service' : 'Service (empty: none)'}
        value={written.service ?? ''}
        problem={wrong('service')}
        onChange={(service) => set({ service })}
      />
      {written.type === 'latency' && query.sli === undefined ? (
        <NumberInput
          label="Latency threshold (ms)"
          value={written.latencyThresholdMs ?? null}
          problem={wrong('latencyThresholdMs')}
          onChange={(latencyThresholdMs) => set({ latencyThresholdMs })}
        />
      ) : null}
      {query.sli === undefined ? null : (
        <SliFields sli={query.sli} wrong={wrong} onChange={(sli) => setQuery({ ...query, sli })} />
      )}
      <NumberInput
        label="Target %"
        value={written.targetPct ?? null}
        problem={wrong('targetPct')}
        onChange={(value) => set({ targetPct: value ?? 0 })}
      />
      <WindowFields
        days={written.windowDays ?? 30}
        calendar={calendarOf(query)}
        wrong={wrong}
        onDays={(windowDays) => set({ windowDays })}
        onCalendar={(calendar) => {
          const { calendar: _, ...rest } = query;
          setQuery(calendar === undefined ? rest : { ...rest, calendar });
        }}
      />
      <CountingFields query={query} wrong={wrong} onChange={setQuery} />
      <AlertingFields
        alerting={query.alerting ?? {}}
        wrong={wrong}
        onChange={(alerting) => setQuery({ ...query, alerting })}
      />
      <CheckInput label="Enabled" value={written.enabled ?? true} onChange={(enabled) => set({ enabled })} />
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(written)}>
          {before === undefined ? 'Create SLO' : 'Save SLO'}
        </button>
        <Problem error={error} />
      </div>
    </div>
  );
};
