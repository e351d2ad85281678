/** Team settings of a rule, in addition to its text: note, risk, suppression, and test events */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { createProblemFinder } from '../../editors/form-state.tsx';
import { CheckInput, JsonInput, ListInput, MultilineInput, NumberInput } from '../../editors/inputs.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { refresh } from '../../frame/time-range.ts';
import { changeRuleCall, type Rule, type RuleSettings } from './rule-editor.tsx';

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

const Suppression = ({
  of,
  wrong,
  onChange,
}: {
  readonly of: RuleSettings['suppression'];
  readonly wrong: (path: string) => string | undefined;
  readonly onChange: (suppression: NonNullable<RuleSettings['suppression']>) => void;
}) => {
  const suppression = of ?? { by: [], forSeconds: defaultMinutes * secondsPerMinute };
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
  const [action] = useState(() => new Action(changeRuleCall));
  const [settings, setSettings] = useState(() => pickSettings(rule));
  const error = action.error.value;
  const wrong = (path: string): string | undefined => createProblemFinder(error)(path);
  const set = (fields: Partial<RuleSettings>): void => setSettings((now) => ({ ...now, ...fields }));
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
            onChange={(note) => set({ note })}
          />
          <NumberInput
            label="Risk score (up to 100)"
            hint="Default: from the level"
            value={settings.risk ?? null}
            problem={wrong('risk')}
            onChange={(risk) => set({ risk })}
          />
          <CheckInput
            label="Suppress duplicate signals"
            value={suppression !== null}
            onChange={(isEnabled) =>
              set({ suppression: isEnabled ? { by: [], forSeconds: defaultMinutes * secondsPerMinute } : null })
            }
          />
          {suppression === null ? null : (
            <Suppression of={suppression} wrong={wrong} onChange={(changed) => set({ suppression: changed })} />
          )}
          <CheckInput
            label="Match records of unknown log sources"
            value={settings.anySource === true}
            onChange={(anySource) => set({ anySource })}
          />
          <JsonInput
            label="Events that must match, as a JSON array"
            rows={4}
            value={tests.mustMatch}
            problem={wrong('tests.mustMatch')}
            onChange={(mustMatch) => set({ tests: { ...tests, mustMatch: mustMatch as typeof tests.mustMatch } })}
          />
          <JsonInput
            label="Events that must not match, as a JSON array"
            rows={4}
            value={tests.mustNotMatch}
            problem={wrong('tests.mustNotMatch')}
            onChange={(mustNotMatch) =>
              set({ tests: { ...tests, mustNotMatch: mustNotMatch as typeof tests.mustNotMatch } })
            }
          />
          <CheckInput
            label="Save even if the tests fail"
            value={settings.mayFailTests === true}
            onChange={(mayFailTests) => set({ mayFailTests })}
          />
        </div>
      </ActionForm>
    </details>
  );
};
