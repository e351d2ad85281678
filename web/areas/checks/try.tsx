/** Runs a check as it is not saved: a changed one is tried before anybody sets it up so. */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { Wrong } from '../../editors/field.tsx';
import { may } from '../../frame/rights.ts';
import { Problem } from '../../frame/standing.tsx';
import { type Check, tryCall } from './calls.ts';
import { Came, type Result } from './came.tsx';

type Fields = NonNullable<Parameters<Action<NonNullable<typeof tryCall.of>>['run']>[0]['body']>['check'];

/** What of a check is written, and not told. */
const writtenOf = (check: Check): object => {
  const { id, version, createdAt, updatedAt, state, since, uptime, nextDueAt, tokenPrefix, token, ...written } = check;
  return written;
};

/** `nameOf`: a location by its id. */
export const Try = ({ check, nameOf }: { readonly check: Check; readonly nameOf: (id: string) => string }) => {
  const [action] = useState(() => new Action(tryCall));
  const [text, setText] = useState(() => JSON.stringify(writtenOf(check), null, 2));
  const [problem, setProblem] = useState('');
  const [came, setCame] = useState<readonly Result[]>([]);
  if (!may(tryCall)) return null;
  const run = async (): Promise<void> => {
    setProblem('');
    setCame([]);
    let changed: Fields;
    try {
      changed = JSON.parse(text) as Fields;
    } catch (error) {
      setProblem(`This is no JSON: ${String(error)}`);
      return;
    }
    const answer = await action.run({ body: { check: changed } });
    if (answer !== undefined) setCame(answer.items);
  };
  return (
    <details>
      <summary>Try it with changes</summary>
      <div class="form">
        <label>
          The check as JSON; nothing of it is saved{' '}
          <textarea
            rows={12}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <div class="act">
          <button type="button" disabled={action.isRunning.value} onClick={() => void run()}>
            {action.isRunning.value ? 'Waiting for results …' : 'Try'}
          </button>
        </div>
        <Wrong message={problem} />
      </div>
      <Came of={came} nameOf={nameOf} />
      <Problem error={action.error.value} />
    </details>
  );
};
