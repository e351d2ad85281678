/** Imports a dashboard of this platform or of Grafana, and tells first what becomes of each part. */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import type { Answered } from '../../client/call.ts';
import { type ImportedFile, ImportForm } from '../../editors/import-form.tsx';
import { go } from '../../frame/address.ts';
import { shownText } from '../../frame/shown-text.tsx';
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
  const [problem, setProblem] = useState<string>();
  const [report, setReport] = useState<Report>();
  const [action] = useState(() => new Action(importCall));
  const run = async ([file]: readonly ImportedFile[], isTrial: boolean): Promise<void> => {
    setProblem(undefined);
    let body: object;
    try {
      body = JSON.parse(file?.source ?? '') as object;
    } catch (error) {
      setProblem(`This is no JSON: ${String(error)}`);
      return;
    }
    const done = await action.run({
      query: { dryRun: isTrial ? 'true' : 'false' },
      body: body as Record<string, unknown>,
    });
    setReport(done?.report);
    if (done !== undefined && !isTrial) go(placeOf(done.dashboard.id));
  };
  return (
    <>
      <ImportForm
        language="JSON"
        accept=".json,application/json"
        isRunning={action.isRunning.value}
        error={action.error.value}
        problem={problem}
        run={run}
      />
      {report === undefined ? null : <Told report={report} />}
    </>
  );
};
