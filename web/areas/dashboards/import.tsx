/** Imports a dashboard of this platform or of Grafana, and tells first what becomes of each part. */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import type { Answered } from '../../client/call.ts';
import { Wrong } from '../../editors/field.tsx';
import { go } from '../../frame/address.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { Problem } from '../../frame/standing.tsx';
import { Heads } from '../../lists/heads.tsx';
import { Scrolled } from '../../lists/scrolled.tsx';
import { importCall } from './calls.ts';
import { placeOf } from './list.tsx';

type Report = Answered<NonNullable<(typeof importCall)['of']>>['report'];

const outcomes = { carried: 'as it was', reduced: 'in part', placeholder: 'a placeholder', gone: 'left out' } as const;

const Told = ({ report }: { readonly report: Report }) => {
  const { leaves, panels, variables, rest, from } = report;
  const parts = [
    ...panels.map(({ panelId, title, sourceType, outcome, losses }) => ({
      ...{ key: `panel ${panelId}`, what: `Panel “${title || panelId}” (${sourceType})`, outcome, losses },
    })),
    ...variables.map(({ name, outcome, losses }) => ({
      key: `variable ${name}`,
      what: `Variable ${name}`,
      outcome,
      losses,
    })),
  ];
  return (
    <>
      <p>
        Read as {shownText(from)}. Of {leaves.total} values {leaves.carried} are carried over, {leaves.default} are what
        Grafana has anyway, and {leaves.named} are named below.
      </p>
      <Scrolled class="scrolled" label="What becomes of each part">
        <table class="figures texts">
          <Heads columns={['Part', 'Becomes', 'What is lost']} />
          <tbody>
            {parts.map(({ key, what, outcome, losses }) => (
              <tr key={key}>
                <td>{shownText(what)}</td>
                <td>{outcomes[outcome]}</td>
                <td>
                  {losses.map(({ path, message }) => (
                    <p key={path} class="soft">
                      <code>{shownText(path)}</code>: {shownText(message)}
                    </p>
                  ))}
                </td>
              </tr>
            ))}
            {rest.length === 0 ? null : (
              <tr>
                <td>The rest</td>
                <td>in part</td>
                <td>
                  {rest.map(({ path, message }) => (
                    <p key={path} class="soft">
                      <code>{shownText(path)}</code>: {shownText(message)}
                    </p>
                  ))}
                </td>
              </tr>
            )}
          </tbody>
        </table>
      </Scrolled>
    </>
  );
};

export const Import = () => {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const [report, setReport] = useState<Report>();
  const [action] = useState(() => new Action(importCall));
  const run = async (dryRun: 'true' | 'false'): Promise<void> => {
    setProblem('');
    let body: object;
    try {
      body = JSON.parse(text) as object;
    } catch (error) {
      setProblem(`This is no JSON: ${String(error)}`);
      return;
    }
    const done = await action.run({ query: { dryRun }, body: body as Record<string, unknown> });
    setReport(done?.report);
    if (done !== undefined && dryRun === 'false') go(placeOf(done.dashboard.id));
  };
  return (
    <>
      <div class="form">
        <label>
          A file{' '}
          <input
            type="file"
            accept=".json,application/json"
            onChange={({ currentTarget }) => void currentTarget.files?.[0]?.text().then(setText)}
          />
        </label>
        <label>
          or its JSON{' '}
          <textarea
            rows={8}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <div class="act">
          <button type="button" class="plain" disabled={text === ''} onClick={() => void run('true')}>
            Tell what becomes of it
          </button>
          <button type="button" disabled={text === '' || action.isRunning.value} onClick={() => void run('false')}>
            Import
          </button>
        </div>
        <Wrong message={problem} />
      </div>
      <Problem error={action.error.value} />
      {report === undefined ? null : <Told report={report} />}
    </>
  );
};
