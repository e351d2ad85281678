/** Imports objectives that are written elsewhere, and tells first what becomes of each. */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import type { Answered } from '../../client/call.ts';
import { type ImportedFile, ImportForm } from '../../editors/import-form.tsx';
import { ImportOutcomes } from '../../editors/import-outcomes.tsx';
import { toArea } from '../../frame/address.ts';
import { importCall } from './calls.ts';

type Item = Answered<NonNullable<typeof importCall.of>>['items'][number];

export const Import = () => {
  const [action] = useState(() => new Action(importCall));
  const [told, setTold] = useState<{ readonly items: readonly Item[]; readonly wasDry: boolean }>();
  const run = async ([file]: readonly ImportedFile[], dryRun: boolean): Promise<void> => {
    const answer = await action.run({ body: { source: file?.source ?? '', dryRun } });
    setTold(answer === undefined ? undefined : { items: answer.items, wasDry: dryRun });
  };
  return (
    <>
      <p>Objectives of OpenSLO, Sloth or Pyrra. One that has the name of an objective here changes it.</p>
      <ImportForm
        language="YAML"
        accept=".yaml,.yml"
        isRunning={action.isRunning.value}
        error={action.error.value}
        run={run}
      />
      {told === undefined ? null : (
        <ImportOutcomes
          wasDry={told.wasDry}
          of={told.items.map(({ document, line, id, ...item }) => ({
            ...item,
            at: `document ${document}, line ${line}`,
            to: id === null ? undefined : toArea('/slos', { open: id }),
          }))}
        />
      )}
    </>
  );
};
