/** Checks as code: written as YAML, and read from it or from recordings of a browser, with what becomes of each. */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import type { Answered } from '../../client/call.ts';
import { type ImportedFile, ImportForm } from '../../editors/import-form.tsx';
import { toArea } from '../../frame/address.ts';
import { Link } from '../../frame/link.tsx';
import { may, whyNot } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { refresh } from '../../frame/time-range.ts';
import { Heads } from '../../lists/heads.tsx';
import { Scrolled } from '../../lists/scrolled.tsx';
import { exportCall, importCall } from './calls.ts';

type Outcome = Answered<NonNullable<(typeof importCall)['of']>>['items'][number];

const Outcomes = ({ of }: { readonly of: readonly Outcome[] }) => (
  <Scrolled class="scrolled" label="What becomes of each check">
    <table class="figures texts">
      <Heads columns={['Document', 'Line', 'Check', 'Becomes', 'Because']} />
      <tbody>
        {of.map(({ document, line, name, outcome, id, problems, losses }) => (
          <tr key={document}>
            <td>{document}</td>
            <td>{line}</td>
            <td>
              {id === null ? (
                <bdi>{shownText(name ?? 'not read')}</bdi>
              ) : (
                <Link to={toArea('/checks', { open: id })}>{shownText(name ?? id)}</Link>
              )}
            </td>
            <td class={outcome === 'refused' ? 'text-error' : ''}>{outcome}</td>
            <td>
              {[...problems, ...losses].map((one) => (
                <p key={`${one.line} ${one.path} ${one.message}`}>
                  Line {one.line}
                  {one.path === '' ? '' : ', '}
                  <code>{shownText(one.path)}</code>: {shownText(one.message)}
                </p>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scrolled>
);

const Import = () => {
  const [action] = useState(() => new Action(importCall));
  const [told, setTold] = useState<{ readonly items: readonly Outcome[]; readonly isTrial: boolean }>();
  const run = async ([file]: readonly ImportedFile[], isTrial: boolean): Promise<void> => {
    const answer = await action.run({ body: { source: file?.source ?? '', dryRun: isTrial } });
    setTold(answer && { items: answer.items, isTrial });
    if (answer !== undefined && !isTrial) refresh();
  };
  return (
    <>
      <h2>Import</h2>
      <p>Documents of YAML, a check each, or a recording of Chrome’s Recorder, which is JSON.</p>
      <ImportForm
        language="YAML or JSON"
        accept=".yaml,.yml,.json"
        isRunning={action.isRunning.value}
        error={action.error.value}
        run={run}
      />
      {told === undefined ? null : (
        <>
          <p role="status">{told.isTrial ? 'Nothing was written. This would be:' : 'This was done:'}</p>
          <Outcomes of={told.items} />
        </>
      )}
    </>
  );
};

export const AsCode = () => (
  <Scrolled class="scrolled" label="Checks as code">
    <h2>Export</h2>
    <a href={exportCall.path} download="checks.yaml">
      All checks as YAML
    </a>
    {may(importCall) ? <Import /> : <p class="soft">{whyNot(importCall, 'Importing checks')}</p>}
  </Scrolled>
);
