/** Imports SLOs from other formats, with a preview of each */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { type ImportedFile, ImportForm } from '../../editors/import-form.tsx';
import type { ImportOutcome } from '../../editors/import-outcomes.tsx';
import { TakeOverInput } from '../../editors/take-over-input.tsx';
import { toArea } from '../../frame/address.ts';
import { importCall } from './calls.ts';

export const SloImport = () => {
  const [action] = useState(() => new Action(importCall));
  const [takeOver, setTakeOver] = useState(false);
  const importFile = async (
    [file]: readonly ImportedFile[],
    dryRun: boolean,
  ): Promise<readonly ImportOutcome[] | undefined> => {
    const response = await action.run({ body: { source: file?.source ?? '', dryRun, takeOver } });
    return response?.items.map(({ document, line, id, name, outcome, problems, warnings }) => ({
      location: `document ${document}, line ${line}`,
      name: name ?? '',
      outcome,
      reasons: [...problems, ...warnings.map((message) => ({ path: '', message }))],
      url: id === null ? undefined : toArea('/slos', { open: id }),
    }));
  };
  return (
    <>
      <p>Import SLOs from OpenSLO, Sloth or Pyrra. An SLO replaces the one from an earlier import of its document.</p>
      <ImportForm language="YAML" accept=".yaml,.yml" action={action} run={importFile}>
        <TakeOverInput value={takeOver} onChange={setTakeOver} />
      </ImportForm>
    </>
  );
};
