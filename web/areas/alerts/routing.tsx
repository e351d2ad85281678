/** Alert routing: the route tree, the routes that match a label set, and the JSON editor */
import { useState } from 'preact/hooks';
import type { Route } from '../../../schemas/resources/alert-routing.ts';
import { Action } from '../../client/action.ts';
import type { ResponseBody } from '../../client/call.ts';
import { type CallError, requestVersioned } from '../../client/request.ts';
import { FieldProblem } from '../../editors/field.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { readParam, setParams } from '../../frame/address.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scrolled.tsx';
import { importRoutingCall, routingCall, routingTestCall, setRoutingCall } from './calls.ts';
import { channelsCall } from './channels/calls.ts';
import { formatMatchers, parseMatchers } from './shown.ts';

type Routing = ResponseBody<NonNullable<typeof routingCall.operation>>;
type Step = ResponseBody<NonNullable<typeof routingTestCall.operation>>['routes'][number];

/** Returns a description of a route's own settings, without inherited ones. */
const describeSettings = ({
  groupBy,
  groupWait,
  groupInterval,
  repeatInterval,
  continue: continuesToSiblings,
  ...route
}: Route): string =>
  [
    ...(groupBy === undefined ? [] : [groupBy.length === 0 ? 'all in one group' : `grouped by ${groupBy.join(', ')}`]),
    ...(groupWait === undefined ? [] : [`waits ${groupWait}`]),
    ...(groupInterval === undefined ? [] : [`changes after ${groupInterval}`]),
    ...(repeatInterval === undefined ? [] : [`repeats after ${repeatInterval}`]),
    ...(route.muteTimeIntervals.length === 0 ? [] : [`muted during ${route.muteTimeIntervals.join(', ')}`]),
    ...(route.activeTimeIntervals.length === 0 ? [] : [`only during ${route.activeTimeIntervals.join(', ')}`]),
    ...(continuesToSiblings ? ['continues to sibling routes'] : []),
  ].join('; ');

interface RoutingView {
  /** Steps by the route's position in the tree; empty if there are no labels to route */
  readonly steps: ReadonlyMap<string, Step>;
  readonly formatChannels: (receiver: string) => string;
}

const RouteLine = ({ route, id, view }: { readonly route: Route; readonly id: string; readonly view: RoutingView }) => {
  const step = view.steps.get(id);
  const settings = describeSettings(route);
  return (
    <li>
      <p class={step?.outcome === 'reached' || step?.outcome === 'passed on' ? 'way' : ''}>
        <code>{route.matchers.length === 0 ? 'all alerts' : renderText(formatMatchers(route))}</code>
        {route.receiver === undefined ? null : (
          <>
            {' → '}
            <b>{renderText(route.receiver)}</b>{' '}
            <span class="soft">{renderText(view.formatChannels(route.receiver))}</span>
          </>
        )}
        {settings === '' ? null : <span class="soft"> {renderText(settings)}</span>}
        {step === undefined ? null : (
          <>
            <br />
            <b>{step.outcome}</b>: {renderText(step.reason)}
          </>
        )}
      </p>
      {route.routes.length === 0 ? null : (
        <ul>
          {route.routes.map((childRoute, index) => (
            <RouteLine key={`${id}/${index}`} route={childRoute} id={`${id}/${index}`} view={view} />
          ))}
        </ul>
      )}
    </li>
  );
};

const Tree = ({ routing, steps }: { readonly routing: Routing; readonly steps: readonly Step[] }) => {
  const { response: channels } = useQuery(channelsCall, { query: { limit: 500 } });
  const names = new Map(channels?.items.map(({ id, name }) => [id, name]));
  const formatChannels = (receiver: string): string => {
    const ids = routing.receivers.find(({ name }) => name === receiver)?.channelIds ?? [];
    return ids.length === 0 ? '(no channel)' : `(${ids.map((id) => names.get(id) ?? id).join(', ')})`;
  };
  return (
    <ul class="routes">
      <RouteLine
        route={routing.route}
        id="0"
        view={{ steps: new Map(steps.map((step) => [step.id, step])), formatChannels }}
      />
    </ul>
  );
};

/** The routing tree, with the result of each route for the labels in the URL. */
const TestedTree = ({ routing, labels }: { readonly routing: Routing; readonly labels: string }) => {
  const labelValues = Object.fromEntries(parseMatchers(labels).map(({ name, value }) => [name, value]));
  const { response, error } = useQuery(routingTestCall, { body: { labels: labelValues } });
  return (
    <>
      <ErrorMessage error={error} />
      <p role="status">
        {response === undefined
          ? ''
          : response.receivers.length === 0
            ? 'No receiver matches.'
            : renderText(`Receivers: ${response.receivers.map(({ name }) => name).join(', ')}.`)}
      </p>
      <Tree routing={routing} steps={response?.routes ?? []} />
    </>
  );
};

const LabelsForm = () => (
  <form
    class="act"
    onSubmit={(event) => {
      event.preventDefault();
      setParams({ labels: String(new FormData(event.currentTarget).get('labels')).trim() });
    }}
  >
    <label>
      Alert labels{' '}
      <input
        name="labels"
        key={readParam('labels')}
        defaultValue={readParam('labels')}
        placeholder="team=shop, severity=critical"
        maxLength={4096}
        spellcheck={false}
        autocomplete="off"
      />
    </label>
    <button type="submit">Test</button>
  </form>
);

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

export const Routing = () => {
  const { response, error, ...queryState } = useQuery(routingCall, {});
  const [editedRouting, setEditedRouting] = useState<VersionedRouting>();
  const [loadError, setLoadError] = useState<CallError>();
  const loadForEditing = (): Promise<void> => requestVersioned(routingCall).then(setEditedRouting, setLoadError);
  const labels = readParam('labels');
  return (
    <>
      <div class="toolbar">
        {isPermitted(routingTestCall) ? (
          <LabelsForm />
        ) : (
          <p class="soft">{explainDenial(routingTestCall, 'Testing the route')}</p>
        )}
        {isPermitted(setRoutingCall) && editedRouting === undefined ? (
          <button type="button" class="plain" onClick={() => void loadForEditing()}>
            Edit as JSON
          </button>
        ) : null}
      </div>
      <ErrorMessage error={error ?? loadError} />
      <ScrollRegion class="scrolled" label="Routing">
        {editedRouting !== undefined ? (
          <RoutingEditor editedRouting={editedRouting} onDone={() => setEditedRouting(undefined)} />
        ) : response === undefined ? null : labels === '' || !isPermitted(routingTestCall) ? (
          <Tree routing={response} steps={[]} />
        ) : (
          <TestedTree routing={response} labels={labels} />
        )}
      </ScrollRegion>
      <Freshness queryState={{ response, error, ...queryState }} />
    </>
  );
};
