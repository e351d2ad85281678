/** Rules of Sigma that are imported from files: what becomes of each document, before it is done. */
import { useState } from 'preact/hooks';
import type { importDetectionRules } from '../../../api/groups/siem/import-rules.ts';
import { Action } from '../../client/action.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { type ImportedFile, ImportForm } from '../../editors/import-form.tsx';
import { CheckInput, SelectInput, TextInput } from '../../editors/inputs.tsx';
import { wrongIn } from '../../editors/opened.tsx';
import { toArea } from '../../frame/address.ts';
import { Link } from '../../frame/link.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { Heads } from '../../lists/heads.tsx';
import { Scrolled } from '../../lists/scrolled.tsx';

const importCall = callOf<typeof importDetectionRules>('POST', '/api/siem/rules/import');
type Item = Answered<typeof importDetectionRules>['items'][number];

const levels = [
  ['', 'all'],
  ['low', 'low and above'],
  ['medium', 'medium and above'],
  ['high', 'high and above'],
  ['critical', 'critical'],
] as const;

/** How many of each outcome: `2 created, 1 refused`. */
const counted = (items: readonly Item[]): string =>
  [...Map.groupBy(items, ({ outcome }) => outcome)].map(([outcome, of]) => `${of.length} ${outcome}`).join(', ');

const Outcomes = ({ of }: { readonly of: readonly Item[] }) => (
  <table class="figures texts">
    <Heads columns={['Rule', 'Becomes', 'Because']} />
    <tbody>
      {of.map(({ ruleId, title, outcome, message }, at) => (
        <tr key={at}>
          <td>
            {ruleId === '' || outcome === 'refused' || outcome === 'deleted' ? (
              <bdi>{shownText(title || ruleId)}</bdi>
            ) : (
              <Link to={toArea('/detections/rules', { open: ruleId })}>{shownText(title)}</Link>
            )}
          </td>
          <td class={outcome === 'refused' ? 'text-error' : ''}>{outcome}</td>
          <td>{shownText(message, { lines: true })}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

export const Import = () => {
  const [action] = useState(() => new Action(importCall));
  const [enabled, setEnabled] = useState(true);
  const [minLevel, setMinLevel] = useState('');
  const [scope, setScope] = useState('');
  const [prune, setPrune] = useState(false);
  const [told, setTold] = useState<{ readonly items: readonly Item[]; readonly isTrial: boolean }>();
  const error = action.error.value;
  const run = async (files: readonly ImportedFile[], isTrial: boolean): Promise<void> => {
    setTold(undefined);
    const answer = await action.run({
      query: {
        ...{ dryRun: isTrial ? 'true' : 'false', enabled: enabled ? 'true' : 'false' },
        ...(minLevel === '' ? {} : { minLevel: minLevel as 'low' }),
        ...(scope.trim() === '' ? {} : { scope: scope.trim(), prune: prune ? 'true' : 'false' }),
      },
      body: { files: [...files] },
    });
    setTold(answer && { items: answer.items, isTrial });
  };
  return (
    <Scrolled class="scrolled" label="Import of rules">
      <p>Documents of Sigma as YAML, as many as there are. The same again changes nothing.</p>
      <ImportForm
        language="YAML"
        accept=".yml,.yaml"
        isMany={true}
        isRunning={action.isRunning.value}
        error={error}
        run={run}
      >
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
          most={128}
          value={scope}
          problem={wrongIn(error)('scope')}
          onChange={setScope}
        />
        {scope.trim() === '' ? null : (
          <CheckInput label="Rules of the scope that are missing here are deleted" value={prune} onChange={setPrune} />
        )}
      </ImportForm>
      {told === undefined ? null : (
        <>
          <p role="status">
            {told.isTrial ? 'Nothing was written. This would be' : 'This was done'}: {counted(told.items)}.
          </p>
          <Outcomes of={told.items} />
        </>
      )}
    </Scrolled>
  );
};
