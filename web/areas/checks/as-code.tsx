/** Checks as code: exported as YAML, and imported from YAML or browser recordings with a preview */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { type ImportedFile, ImportForm } from '../../editors/import-form.tsx';
import type { ImportOutcome } from '../../editors/import-outcomes.tsx';
import { TakeOverInput } from '../../editors/take-over-input.tsx';
import { toArea } from '../../frame/address.ts';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { exportChecksCall, importChecksCall } from './calls.ts';

const ChecksImport = () => {
  const [action] = useState(() => new Action(importChecksCall));
  const [takeOver, setTakeOver] = useState(false);
  const importFile = async (
    [file]: readonly ImportedFile[],
    isDryRun: boolean,
  ): Promise<readonly ImportOutcome[] | undefined> => {
    const response = await action.run({ body: { source: file?.source ?? '', dryRun: isDryRun, takeOver } });
    if (response !== undefined && !isDryRun) refresh();
    return response?.items.map(({ document, line, name, outcome, id, problems, losses }) => ({
      location: `document ${document}, line ${line}`,
      name: name ?? 'invalid',
      outcome,
      reasons: [...problems, ...losses],
      url: id === null ? undefined : toArea('/checks', { open: id }),
    }));
  };
  return (
    <>
      <h2>Import</h2>
      <p>YAML documents with one check each, or a JSON recording from the Recorder of Chrome DevTools.</p>
      <ImportForm language="YAML or JSON" accept=".yaml,.yml,.json" action={action} run={importFile}>
        <TakeOverInput value={takeOver} onChange={setTakeOver} />
      </ImportForm>
    </>
  );
};

export const ChecksAsCode = () => (
  <ScrollRegion class="scrolled" label="Checks as code">
    <h2>Export</h2>
    <a href={exportChecksCall.path} download="checks.yaml">
      All checks as YAML
    </a>
    {isPermitted(importChecksCall) ? (
      <ChecksImport />
    ) : (
      <p class="soft">{explainDenial(importChecksCall, 'Importing checks')}</p>
    )}
  </ScrollRegion>
);
