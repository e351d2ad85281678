/** Form for a maintenance window, with a preview of the alerts that it would mute */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { MaintenanceWindowFields } from '../../../schemas/resources/maintenance-window.ts';
import { Field } from '../../editors/field.tsx';
import { useSaving } from '../../editors/form-state.tsx';
import { createPlan, PlanProjectFields, PlanSloField, PlanTimeFields } from '../../editors/plan.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { formatMatchers, parseMatchers } from './alert-format.ts';
import { createMaintenanceWindowCall, type MaintenanceWindow, replaceMaintenanceWindowCall } from './calls.ts';
import { SilencePreview } from './silence-preview.tsx';

type MaintenanceWindowInput = z.input<typeof MaintenanceWindowFields>;

const newWindow = (): MaintenanceWindowInput => ({ ...createPlan(), matchers: [] });

const pickWritableFields = ({
  id: _,
  version: __,
  createdAt: ___,
  updatedAt: ____,
  createdBy: _____,
  isActive: ______,
  times: _______,
  ...fields
}: MaintenanceWindow): MaintenanceWindowInput => fields;

export const MaintenanceForm = ({ savedItem: storedWindow }: { readonly savedItem: MaintenanceWindow | undefined }) => {
  const [draftWindow, setDraftWindow] = useState<MaintenanceWindowInput>(() =>
    storedWindow === undefined ? newWindow() : pickWritableFields(storedWindow),
  );
  const { save, findProblem, error, isRunning } = useSaving(
    createMaintenanceWindowCall,
    replaceMaintenanceWindowCall,
    storedWindow,
  );
  const { matchers = [], projectIds = [] } = draftWindow;
  const updateDraft = (fields: Partial<MaintenanceWindowInput>): void =>
    setDraftWindow((previous) => ({ ...previous, ...fields }));
  const planProps = { plan: draftWindow, findProblem, onChange: updateDraft };
  return (
    <div class="form">
      <PlanTimeFields {...planProps} />
      <Field label="Matchers" problem={findProblem('matchers')} hint={'team=shop, service=~"ca.*"'}>
        <input
          defaultValue={formatMatchers({ matchers })}
          maxLength={4096}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={findProblem('matchers') !== undefined}
          onChange={({ currentTarget }) => updateDraft({ matchers: parseMatchers(currentTarget.value) })}
        />
      </Field>
      <PlanProjectFields {...planProps} />
      {matchers.length === 0 ? null : <SilencePreview matchers={matchers} />}
      {matchers.length === 0 || projectIds.length === 0 ? null : (
        <p class="soft">Only alerts from rules in these projects are muted.</p>
      )}
      <PlanSloField {...planProps} />
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(draftWindow)}>
          {storedWindow === undefined ? 'Create window' : 'Save window'}
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};
