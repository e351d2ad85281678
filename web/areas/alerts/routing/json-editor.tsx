/** The routing as a JSON document, and the import of an Alertmanager configuration */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import type { ResponseBody } from '../../../client/call.ts';
import { type CallError, requestVersioned } from '../../../client/request.ts';
import { FieldProblem } from '../../../editors/field.tsx';
import { ActionForm } from '../../../frame/action-form.tsx';
import { renderText } from '../../../frame/display-text.tsx';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import { refresh } from '../../../frame/time-range.ts';
import { importRoutingCall, routingCall, setRoutingCall } from '../calls.ts';

type Routing = ResponseBody<NonNullable<typeof routingCall.operation>>;

interface VersionedRouting {
  readonly body: Routing;
  readonly version: number;
}

/** Converts an Alertmanager configuration to the document, which is then saved like any other. */
const AlertmanagerImport = ({ onRead }: { readonly onRead: (routing: object) => void }) => {
  const [action] = useState(() => new Action(importRoutingCall));
  const [notes, setNotes] = useState<readonly string[]>();
  const { details = [] } = action.error.value ?? {};
  const run = async (form: HTMLFormElement): Promise<void> => {
    const response = await action.run({ body: { yaml: String(new FormData(form).get('yaml')) } });
    setNotes(response?.notes);
    if (response !== undefined) onRead(response.routing);
  };
  return (
    <details>
      <summary>Import Alertmanager config</summary>
      <ActionForm action={action} label="Import" onSubmit={run}>
        <div class="form">
          <label>
            YAML <textarea name="yaml" rows={8} cols={80} required={true} spellcheck={false} />
          </label>
          <FieldProblem message={details.length === 0 ? undefined : details.map(({ message }) => message).join('; ')} />
        </div>
      </ActionForm>
      {notes === undefined ? null : (
        <div role="status">
          The configuration was imported into the document below and is not saved yet.
          <ul>
            {notes.map((note) => (
              <li key={note}>{renderText(note)}</li>
            ))}
          </ul>
        </div>
      )}
    </details>
  );
};

const RoutingEditor = ({
  editedRouting,
  onDone,
}: {
  readonly editedRouting: VersionedRouting;
  readonly onDone: () => void;
}) => {
  const [saveAction] = useState(() => new Action(setRoutingCall));
  const [text, setText] = useState(() => JSON.stringify(editedRouting.body, null, 2));
  const [parseError, setParseError] = useState('');
  const run = async (): Promise<void> => {
    setParseError('');
    let body: never;
    try {
      body = JSON.parse(text) as never;
    } catch (error) {
      setParseError(`This is not valid JSON: ${(error as Error).message}`);
      return;
    }
    if ((await saveAction.run({ body, ifMatch: editedRouting.version })) === undefined) return;
    onDone();
    refresh();
  };
  return (
    <>
      <AlertmanagerImport onRead={(routing) => setText(JSON.stringify(routing, null, 2))} />
      <ActionForm action={saveAction} label="Save routing" onSubmit={run}>
        <div class="form">
          <label>
            Document{' '}
            <textarea
              rows={24}
              cols={80}
              spellcheck={false}
              aria-invalid={parseError !== '' || saveAction.error.value !== undefined}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          </label>
          <FieldProblem message={parseError} />
        </div>
        <button type="button" class="plain" onClick={onDone}>
          Cancel
        </button>
      </ActionForm>
    </>
  );
};

/** Loads the stored routing once, and edits it as JSON. */
export const RoutingJson = ({ onDone }: { readonly onDone: () => void }) => {
  const [editedRouting, setEditedRouting] = useState<VersionedRouting>();
  const [loadError, setLoadError] = useState<CallError>();
  useEffect(() => {
    void requestVersioned(routingCall).then(setEditedRouting, setLoadError);
  }, []);
  return editedRouting === undefined ? (
    <ErrorMessage error={loadError} />
  ) : (
    <RoutingEditor editedRouting={editedRouting} onDone={onDone} />
  );
};
