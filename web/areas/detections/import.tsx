/** Import of Sigma rules from files, with a preview of each document */
import { useState } from 'preact/hooks';
import type { importDetectionRules } from '../../../api/groups/siem/import-rules.ts';
import { Action } from '../../client/action.ts';
import { declareCall } from '../../client/call.ts';
import { createProblemFinder } from '../../editors/form-state.tsx';
import { type ImportedFile, ImportForm } from '../../editors/import-form.tsx';
import type { ImportOutcome } from '../../editors/import-outcomes.tsx';
import { CheckInput, SelectInput, TextInput } from '../../editors/inputs.tsx';
import { toArea } from '../../frame/address.ts';
import { ScrollRegion } from '../../lists/scrolled.tsx';

const importCall = declareCall<typeof importDetectionRules>('POST', '/api/siem/rules/import');

const levelOptions = [
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
    isDryRun: boolean,
  ): Promise<readonly ImportOutcome[] | undefined> => {
    const answer = await action.run({
      query: {
        dryRun: isDryRun ? 'true' : 'false',
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
      url:
        ruleId === '' || outcome === 'refused' || outcome === 'deleted'
          ? undefined
          : toArea('/detections/rules', { open: ruleId }),
    }));
  };
  return (
    <ScrollRegion class="scrolled" label="Rule import">
      <p>Sigma rules as YAML, any number of documents. Importing the same rules again changes nothing.</p>
      <ImportForm language="YAML" accept=".yml,.yaml" allowsMultiple={true} action={action} run={run}>
        <CheckInput label="Enable new rules" value={enabled} onChange={setEnabled} />
        <SelectInput
          label="Levels"
          value={minLevel}
          problem={createProblemFinder(error)('minLevel')}
          options={levelOptions}
          onChange={setMinLevel}
        />
        <TextInput
          label="Scope"
          hint="Name of the source, such as a repository. Its rules that are missing from this import are listed"
          maxLength={128}
          value={scope}
          problem={createProblemFinder(error)('scope')}
          onChange={setScope}
        />
        {scope.trim() === '' ? null : (
          <CheckInput
            label="Delete rules of the scope that are missing from this import"
            value={prune}
            onChange={setPrune}
          />
        )}
      </ImportForm>
    </ScrollRegion>
  );
};
