/** Form of a maintenance window, with the alerts that it would mute */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { MaintenanceWindowFields } from '../../../schemas/resources/maintenance-window.ts';
import { Field } from '../../editors/field.tsx';
import { useSaving } from '../../editors/form-state.tsx';
import { newPlan, PlanObjectives, PlanProjects, PlanTimes } from '../../editors/plan.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { createWindowCall, type MaintenanceWindow, replaceWindowCall } from './calls.ts';
import { Muted } from './muted.tsx';
import { matchersIn, shownMatchers } from './shown.ts';

type Written = z.input<typeof MaintenanceWindowFields>;

const empty = (): Written => ({ ...newPlan(), matchers: [] });

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

export const MaintenanceForm = ({ before }: { readonly before: MaintenanceWindow | undefined }) => {
  const [written, setWritten] = useState<Written>(() => (before === undefined ? empty() : fieldsIn(before)));
  const { save, wrong, error, isRunning } = useSaving(createWindowCall, replaceWindowCall, before);
  const { matchers = [], projectIds = [] } = written;
  const set = (fields: Partial<Written>): void => setWritten((now) => ({ ...now, ...fields }));
  const plan = { plan: written, wrong, onChange: set };
  return (
    <div class="form">
      <PlanTimes {...plan} />
      <Field label="Matchers" problem={wrong('matchers')} hint={'team=shop, service=~"ca.*"'}>
        <input
          defaultValue={shownMatchers({ matchers })}
          maxLength={4096}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={wrong('matchers') !== undefined}
          onChange={({ currentTarget }) => set({ matchers: matchersIn(currentTarget.value) })}
        />
      </Field>
      <PlanProjects {...plan} />
      {matchers.length === 0 ? null : <Muted matchers={matchers} />}
      {matchers.length === 0 || projectIds.length === 0 ? null : (
        <p class="soft">Only alerts of rules of the projects are muted.</p>
      )}
      <PlanObjectives {...plan} />
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(written)}>
          {before === undefined ? 'Create window' : 'Save window'}
        </button>
        <Problem error={error} />
      </div>
    </div>
  );
};
