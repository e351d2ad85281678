/** Imports a Prometheus rule file, with a preview of each rule */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { createProblemFinder } from '../../editors/form-state.tsx';
import { type ImportedFile, ImportForm } from '../../editors/import-form.tsx';
import type { ImportOutcome } from '../../editors/import-outcomes.tsx';
import { TextInput } from '../../editors/inputs.tsx';
import { TakeOverInput } from '../../editors/take-over-input.tsx';
import { explainDenial } from '../../frame/rights.ts';
import { importRulesCall } from './calls.ts';

export const RuleImport = () => {
  const [action] = useState(() => new Action(importRulesCall));
  const [fileName, setFileName] = useState('');
  const [takeOver, setTakeOver] = useState(false);
  const findProblem = createProblemFinder(action.error.value);
  const denial = explainDenial(importRulesCall, 'Importing rules');
  if (denial !== '') return <p class="said">{denial}</p>;
  const importFile = async (
    [file]: readonly ImportedFile[],
    dryRun: boolean,
  ): Promise<readonly ImportOutcome[] | undefined> => {
    const response = await action.run({
      body: { file: file?.source ?? '', fileName: fileName.trim(), dryRun, takeOver },
    });
    return response?.items.map(({ place, name, outcome, problems }) => ({
      location: place,
      name: name ?? '',
      outcome,
      reasons: problems,
    }));
  };
  return (
    <>
      <p>
        Accepts Prometheus alerting and recording rules. Rules from an earlier import of the same file are replaced;
        rules that are no longer in the file remain.
      </p>
      <ImportForm language="YAML" accept=".yaml,.yml" action={action} problem={findProblem('file')} run={importFile}>
        <TextInput
          label="File name"
          hint="Distinguishes files that contain groups or alerts of the same name"
          value={fileName}
          problem={findProblem('fileName')}
          onChange={setFileName}
        />
        <TakeOverInput value={takeOver} onChange={setTakeOver} />
      </ImportForm>
    </>
  );
};
