/** Import of Sigma rules from files, with a preview of each document */
import { useState } from 'preact/hooks';
import type { importDetectionRules } from '../../../api/groups/siem/import-rules.ts';
import { Action } from '../../client/action.ts';
import { callOf } from '../../client/call.ts';
import { wrongIn } from '../../editors/form-state.tsx';
import { type ImportedFile, ImportForm } from '../../editors/import-form.tsx';
import type { ImportOutcome } from '../../editors/import-outcomes.tsx';
import { CheckInput, SelectInput, TextInput } from '../../editors/inputs.tsx';
import { toArea } from '../../frame/address.ts';
import { Scrolled } from '../../lists/scrolled.tsx';

const importCall = callOf<typeof importDetectionRules>('POST', '/api/siem/rules/import');

const levels = [
  ['', 'all'],
  ['low', 'low and above'],
  ['medium', 'medium and above'],
  ['high', 'high and above'],
  ['critical', 'critical'],
] as const;

export const Import = () => {
  const [action] = useState(() => new Action(importCall));
  const [enabled, setEnabled] = useState(true);
  const [minLevel, setMinLevel] = useState('');
  const [scope, setScope] = useState('');
  const [prune, setPrune] = useState(false);
  const error = action.error.value;
  const run = async (
    files: readonly ImportedFile[],
    isTrial: boolean,
  ): Promise<readonly ImportOutcome[] | undefined> => {
    const answer = await action.run({
      query: {
        dryRun: isTrial ? 'true' : 'false',
        enabled: enabled ? 'true' : 'false',
        ...(minLevel === '' ? {} : { minLevel: minLevel as 'low' }),
        ...(scope.trim() === '' ? {} : { scope: scope.trim(), prune: prune ? 'true' : 'false' }),
      },
      body: { files: [...files] },
    });
    return answer?.items.map(({ ruleId, title, outcome, message }) => ({
      name: title || ruleId,
      outcome,
      reasons: message === '' ? [] : [{ message }],
      to:
        ruleId === '' || outcome === 'refused' || outcome === 'deleted'
          ? undefined
          : toArea('/detections/rules', { open: ruleId }),
    }));
  };
  return (
    <Scrolled class="scrolled" label="Import of rules">
      <p>Documents of Sigma as YAML, as many as there are. The same again changes nothing.</p>
      <ImportForm language="YAML" accept=".yml,.yaml" isMany={true} action={action} run={run}>
        <CheckInput label="New rules are enabled" value={enabled} onChange={setEnabled} />
        <SelectInput
          label="Of these levels"
          value={minLevel}
          problem={wrongIn(error)('minLevel')}
          options={levels}
          onChange={setMinLevel}
        />
        <TextInput
          label="They are all of the scope"
          hint="A name, such as of the repository they are from; rules of it that are missing here are named"
          maxLength={128}
          value={scope}
          problem={wrongIn(error)('scope')}
          onChange={setScope}
        />
        {scope.trim() === '' ? null : (
          <CheckInput label="Rules of the scope that are missing here are deleted" value={prune} onChange={setPrune} />
        )}
      </ImportForm>
    </Scrolled>
  );
};
