/** Imports objectives that are written elsewhere, and tells first what becomes of each. */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import type { Answered } from '../../client/call.ts';
import { ImportOutcomes, TextImport } from '../../editors/text-import.tsx';
import { toArea } from '../../frame/address.ts';
import { importCall } from './calls.ts';

type Item = Answered<NonNullable<typeof importCall.of>>['items'][number];

export const Import = () => {
  const [action] = useState(() => new Action(importCall));
  const [told, setTold] = useState<{ readonly items: readonly Item[]; readonly wasDry: boolean }>();
  const run = async (source: string, dryRun: boolean): Promise<void> => {
    const answer = await action.run({ body: { source, dryRun } });
    setTold(answer === undefined ? undefined : { items: answer.items, wasDry: dryRun });
  };
  return (
    <>
      <p>Objectives of OpenSLO, Sloth or Pyrra. One that has the name of an objective here changes it.</p>
      <TextImport
        accept=".yaml,.yml"
        label="or its YAML"
        problem={action.error.value?.of('source')}
        action={action}
        onRun={run}
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
