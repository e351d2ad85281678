/** Imports SLOs from other formats, with a preview of each */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { type ImportedFile, ImportForm } from '../../editors/import-form.tsx';
import type { ImportOutcome } from '../../editors/import-outcomes.tsx';
import { toArea } from '../../frame/address.ts';
import { importCall } from './calls.ts';

export const Import = () => {
  const [action] = useState(() => new Action(importCall));
  const run = async (
    [file]: readonly ImportedFile[],
    dryRun: boolean,
  ): Promise<readonly ImportOutcome[] | undefined> => {
    const answer = await action.run({ body: { source: file?.source ?? '', dryRun } });
    return answer?.items.map(({ document, line, id, name, outcome, problems }) => ({
      at: `document ${document}, line ${line}`,
      name: name ?? '',
      outcome,
      reasons: problems,
      to: id === null ? undefined : toArea('/slos', { open: id }),
    }));
  };
  return (
    <>
      <p>SLOs in the format of OpenSLO, Sloth or Pyrra. An SLO with the name of an existing SLO updates it.</p>
      <ImportForm language="YAML" accept=".yaml,.yml" action={action} run={run} />
    </>
  );
};
