/** Import of Sigma rules from files, with a preview of each document */
import { useState } from 'preact/hooks';
import type { importDetectionRules } from '../../../api/groups/siem/import-rules.ts';
import { Action } from '../../client/action.ts';
import { declareCall } from '../../client/call.ts';
import { createProblemFinder } from '../../editors/form-state.tsx';
import { type ImportedFile, ImportForm } from '../../editors/import-form.tsx';
import type { ImportOutcome } from '../../editors/import-outcomes.tsx';
import { CheckInput, SelectInput, TextInput } from '../../editors/inputs.tsx';
import { TakeOverInput } from '../../editors/take-over-input.tsx';
import { toArea } from '../../frame/address.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';

const importRulesCall = declareCall<typeof importDetectionRules>('POST', '/api/siem/rules/import');

const levelOptions = [
  ['', 'all'],
  ['low', 'low and above'],
  ['medium', 'medium and above'],
  ['high', 'high and above'],
  ['critical', 'critical'],
] as const;

export const RuleImport = () => {
  const [action] = useState(() => new Action(importRulesCall));
  const [shouldEnable, setShouldEnable] = useState(true);
  const [minLevel, setMinLevel] = useState('');
  const [scope, setScope] = useState('');
  const [takeOver, setTakeOver] = useState(false);
  const [shouldPrune, setShouldPrune] = useState(false);
  const error = action.error.value;
  const importFiles = async (
    files: readonly ImportedFile[],
    isDryRun: boolean,
  ): Promise<readonly ImportOutcome[] | undefined> => {
    const response = await action.run({
      query: {
        dryRun: isDryRun ? 'true' : 'false',
        enabled: shouldEnable ? 'true' : 'false',
        takeOver: takeOver ? 'true' : 'false',
        ...(minLevel === '' ? {} : { minLevel: minLevel as 'low' }),
        ...(scope.trim() === '' ? {} : { scope: scope.trim(), prune: shouldPrune ? 'true' : 'false' }),
      },
      body: { files: [...files] },
    });
    return response?.items.map(({ ruleId, title, outcome, message }) => ({
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
      <p>Accepts Sigma rules as YAML, with any number of documents. Importing the same rules again changes nothing.</p>
      <ImportForm language="YAML" accept=".yml,.yaml" allowsMultiple={true} action={action} run={importFiles}>
        <CheckInput label="Enable new rules" value={shouldEnable} onChange={setShouldEnable} />
        <TakeOverInput value={takeOver} onChange={setTakeOver} />
        <SelectInput
          label="Levels"
          value={minLevel}
          problem={createProblemFinder(error)('minLevel')}
          options={levelOptions}
          onChange={setMinLevel}
        />
        <TextInput
          label="Scope"
          hint="Name of the source, such as a repository. The preview lists its rules that are missing from this import"
          maxLength={128}
          value={scope}
          problem={createProblemFinder(error)('scope')}
          onChange={setScope}
        />
        {scope.trim() === '' ? null : (
          <CheckInput
            label="Delete rules of the scope that are missing from this import"
            value={shouldPrune}
            onChange={setShouldPrune}
          />
        )}
      </ImportForm>
    </ScrollRegion>
  );
};
