/** Team settings of a rule, in addition to its text: note, risk, suppression, and test events */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { createProblemFinder } from '../../editors/form-state.tsx';
import { CheckInput, JsonInput, ListInput, MultilineInput, NumberInput } from '../../editors/inputs.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { refresh } from '../../frame/time-range.ts';
import { type Rule, type RuleSettings, updateRuleCall } from './rule-editor.tsx';

const identity = (text: string): string => text;
const secondsPerMinute = 60;
const defaultMinutes = 60;

const pickSettings = ({ note, risk, suppression, anySource, tests, mayFailTests }: Rule): RuleSettings => ({
  note,
  risk,
  suppression,
  anySource,
  tests,
  mayFailTests,
});

const SuppressionFields = ({
  storedSuppression,
  wrong,
  onChange,
}: {
  readonly storedSuppression: RuleSettings['suppression'];
  readonly wrong: (path: string) => string | undefined;
  readonly onChange: (suppression: NonNullable<RuleSettings['suppression']>) => void;
}) => {
  const suppression = storedSuppression ?? { by: [], forSeconds: defaultMinutes * secondsPerMinute };
  return (
    <>
      <ListInput
        label="Group signals by"
        hint="User, Computer"
        value={suppression.by}
        parseItem={identity}
        formatItem={identity}
        problem={wrong('suppression.by')}
        onChange={(by) => onChange({ ...suppression, by: [...by] })}
      />
      <NumberInput
        label="Suppression period (minutes)"
        value={suppression.forSeconds / secondsPerMinute}
        problem={wrong('suppression.forSeconds')}
        onChange={(minutes) => onChange({ ...suppression, forSeconds: Math.round((minutes ?? 0) * secondsPerMinute) })}
      />
    </>
  );
};

export const TeamSettings = ({ rule }: { readonly rule: Rule }) => {
  const [action] = useState(() => new Action(updateRuleCall));
  const [settings, setSettings] = useState(() => pickSettings(rule));
  const error = action.error.value;
  const wrong = (path: string): string | undefined => createProblemFinder(error)(path);
  const updateSettings = (fields: Partial<RuleSettings>): void =>
    setSettings((currentSettings) => ({ ...currentSettings, ...fields }));
  const { suppression = null, tests = { mustMatch: [], mustNotMatch: [] } } = settings;
  const save = async (): Promise<void> => {
    if ((await action.run({ params: { id: rule.id }, body: settings, ifMatch: rule.version })) !== undefined) refresh();
  };
  return (
    <details>
      <summary>Team settings</summary>
      <ActionForm action={action} label="Save settings" onSubmit={save}>
        <div class="form">
          <MultilineInput
            label="Note"
            value={settings.note ?? ''}
            problem={wrong('note')}
            onChange={(note) => updateSettings({ note })}
          />
          <NumberInput
            label="Risk score (up to 100)"
            hint="Default: from the level"
            value={settings.risk ?? null}
            problem={wrong('risk')}
            onChange={(risk) => updateSettings({ risk })}
          />
          <CheckInput
            label="Suppress duplicate signals"
            value={suppression !== null}
            onChange={(isEnabled) =>
              updateSettings({
                suppression: isEnabled ? { by: [], forSeconds: defaultMinutes * secondsPerMinute } : null,
              })
            }
          />
          {suppression === null ? null : (
            <SuppressionFields
              storedSuppression={suppression}
              wrong={wrong}
              onChange={(newSuppression) => updateSettings({ suppression: newSuppression })}
            />
          )}
          <CheckInput
            label="Match records of unknown log sources"
            value={settings.anySource === true}
            onChange={(anySource) => updateSettings({ anySource })}
          />
          <JsonInput
            label="Events that must match, as a JSON array"
            rows={4}
            value={tests.mustMatch}
            problem={wrong('tests.mustMatch')}
            onChange={(mustMatch) =>
              updateSettings({ tests: { ...tests, mustMatch: mustMatch as typeof tests.mustMatch } })
            }
          />
          <JsonInput
            label="Events that must not match, as a JSON array"
            rows={4}
            value={tests.mustNotMatch}
            problem={wrong('tests.mustNotMatch')}
            onChange={(mustNotMatch) =>
              updateSettings({ tests: { ...tests, mustNotMatch: mustNotMatch as typeof tests.mustNotMatch } })
            }
          />
          <CheckInput
            label="Save even if the tests fail"
            value={settings.mayFailTests === true}
            onChange={(mayFailTests) => updateSettings({ mayFailTests })}
          />
        </div>
      </ActionForm>
    </details>
  );
};
