/** Postmortem of an incident: impact, cause, and actions to prevent a recurrence */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { parseLines } from '../../editors/lines.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { type Postmortem, postmortemCall, setPostmortemCall } from './calls.ts';

/** Formats actions, one per line; `[x]` marks a completed one. */
const formatActions = (actions: Postmortem['actions']): string =>
  actions.map(({ text, isDone }) => `${isDone ? '[x] ' : ''}${text}`).join('\n');

/** Parses actions from lines. Other fields, such as the owner, are preserved for an action with the same text. */
const parseActions = (input: string, storedActions: Postmortem['actions']): Postmortem['actions'] =>
  parseLines(input).map((line) => {
    const isDone = /^\[x\]/i.test(line);
    const text = isDone ? line.slice(3).trimStart() : line;
    const storedAction = storedActions.find((action) => action.text === text) ?? { text, ownerId: null, dueOn: null };
    return { ...storedAction, text, isDone };
  });

const PostmortemForm = ({
  id,
  storedPostmortem,
  onDone,
}: {
  readonly id: string;
  readonly storedPostmortem: Postmortem;
  readonly onDone: () => void;
}) => {
  const [action] = useState(() => new Action(setPostmortemCall));
  const savePostmortem = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const getText = (name: string): string => String(formData.get(name));
    const actions = parseActions(getText('actions'), storedPostmortem.actions);
    const body = { impact: getText('impact'), causes: getText('causes'), actions: [...actions] };
    if ((await action.run({ params: { id }, body, ifMatch: storedPostmortem.version })) === undefined) return;
    onDone();
    refresh();
  };
  return (
    <ActionForm action={action} label="Save postmortem" onSubmit={savePostmortem}>
      <div class="form">
        <label>
          Impact <textarea name="impact" rows={3} maxLength={65_536} defaultValue={storedPostmortem.impact} />
        </label>
        <label>
          Causes <textarea name="causes" rows={3} maxLength={65_536} defaultValue={storedPostmortem.causes} />
        </label>
        <label>
          Action items, one per line; [x] marks a completed item{' '}
          <textarea name="actions" rows={4} defaultValue={formatActions(storedPostmortem.actions)} />
        </label>
      </div>
    </ActionForm>
  );
};

const PostmortemDetails = ({ postmortem: { impact, causes, actions } }: { readonly postmortem: Postmortem }) => (
  <>
    {Object.entries({ Impact: impact, Causes: causes }).map(([title, text]) =>
      text === '' ? null : (
        <p key={title}>
          <b>{title}:</b> {renderText(text, { lines: true })}
        </p>
      ),
    )}
    <ul>
      {actions.map(({ text, isDone, dueOn }) => (
        <li key={text}>
          {isDone ? 'Done: ' : 'To do: '}
          {renderText(text)}
          {dueOn === null ? '' : `, due on ${dueOn}`}
        </li>
      ))}
    </ul>
  </>
);

export const PostmortemSection = ({ id }: { readonly id: string }) => {
  const { response, error } = useQuery(postmortemCall, { params: { id } });
  const [isEditing, setIsEditing] = useState(false);
  return (
    <>
      <h3>Postmortem</h3>
      <ErrorMessage error={error} />
      {response === undefined ? null : isEditing ? (
        <PostmortemForm key={response.version} id={id} storedPostmortem={response} onDone={() => setIsEditing(false)} />
      ) : (
        <>
          {response.version === 0 ? (
            <p class="soft">No postmortem yet.</p>
          ) : (
            <PostmortemDetails postmortem={response} />
          )}
          {isPermitted(setPostmortemCall) ? (
            <button type="button" class="plain" onClick={() => setIsEditing(true)}>
              {response.version === 0 ? 'Create postmortem' : 'Edit postmortem'}
            </button>
          ) : null}
        </>
      )}
    </>
  );
};
