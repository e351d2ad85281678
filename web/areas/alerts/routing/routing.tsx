/** Alert routing: the tree of routes with the routes that match a label set, receivers, and time intervals */
import { Plus } from 'lucide';
import { useState } from 'preact/hooks';
import type { ResponseBody } from '../../../client/call.ts';
import { Button } from '../../../components/button.tsx';
import { formatInterval } from '../../../editors/intervals.tsx';
import { RemovalForm } from '../../../editors/removal.tsx';
import { readParam, setParams } from '../../../frame/address.ts';
import { renderText } from '../../../frame/display-text.tsx';
import { useEscape } from '../../../frame/escape.ts';
import { ErrorMessage, Freshness } from '../../../frame/freshness.tsx';
import { lazyLoad } from '../../../frame/lazy-load.tsx';
import { explainDenial, isPermitted } from '../../../frame/rights.ts';
import { useQuery } from '../../../frame/use-query.ts';
import { ScrollRegion } from '../../../lists/scroll-region.tsx';
import { SidePanel } from '../../../lists/side-panel.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import { parseMatchers } from '../alert-format.ts';
import { routingCall, routingTestCall, setRoutingCall } from '../calls.ts';
import {
  type AlertRouting,
  deleteReceiver,
  deleteRoute,
  deleteTimeIntervals,
  findRoute,
  findRoutesTo,
  listRoutes,
  moveRouteUp,
  type NamedTimeIntervals,
  type Receiver,
  type Route,
  type RouteId,
  rootId,
} from './changes.ts';
import { ReceiverForm, RouteForm, TimeIntervalsForm } from './forms.tsx';
import { formatRoute } from './names.ts';
import { formatTargets, useTargetNames } from './target-fields.tsx';
import { useRoutingChange } from './use-routing-change.ts';

const RoutingJson = lazyLoad(async () => (await import('./json-editor.tsx')).RoutingJson);

type Step = ResponseBody<NonNullable<typeof routingTestCall.operation>>['routes'][number];

/** What the side panel shows, in the parameter `open` of the URL: a kind, and a position or name */
const panelKinds = ['route', 'child-of', 'receiver', 'times'] as const;
type PanelKind = (typeof panelKinds)[number];

const openPanel = (kind: PanelKind, key: string): void => setParams({ open: `${kind}:${key}` });
const closePanel = (): void => setParams({ open: '', notify: '', receiver: '' });

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
  readonly routing: AlertRouting;
  /** Steps by the route's position in the tree; empty if there are no labels to route */
  readonly steps: ReadonlyMap<RouteId, Step>;
  readonly formatReceiver: (receiver: string) => string;
}

const RouteButtons = ({
  id,
  title,
  routing,
}: {
  readonly id: RouteId;
  readonly title: string;
  readonly routing: AlertRouting;
}) => {
  const change = useRoutingChange();
  if (!isPermitted(setRoutingCall)) return null;
  return (
    <span class="row-actions">
      <button type="button" class="mini" onClick={() => openPanel('route', id)}>
        Edit<span class="sr-only"> {renderText(title)}</span>
      </button>
      <button type="button" class="mini" onClick={() => openPanel('child-of', id)}>
        Add child route<span class="sr-only"> to {renderText(title)}</span>
      </button>
      {id === rootId || id.endsWith('/0') ? null : (
        <button
          type="button"
          class="mini"
          disabled={change.isRunning}
          onClick={() => void change.run((current) => moveRouteUp(current, id), routing)}
        >
          Move up<span class="sr-only"> {renderText(title)}</span>
        </button>
      )}
      <ErrorMessage error={change.error} />
    </span>
  );
};

const RouteLine = ({
  route,
  id,
  view,
}: {
  readonly route: Route;
  readonly id: RouteId;
  readonly view: RoutingView;
}) => {
  const step = view.steps.get(id);
  const settings = describeSettings(route);
  const title = id === rootId ? 'default route' : formatRoute(route);
  return (
    <li>
      <div class={step?.outcome === 'reached' || step?.outcome === 'passed on' ? 'route way' : 'route'}>
        <p>
          {id === rootId ? <b>Default route</b> : <code>{renderText(title)}</code>}
          {route.receiver === undefined ? null : (
            <>
              {' → '}
              <b>{renderText(route.receiver)}</b>{' '}
              <span class="soft">({renderText(view.formatReceiver(route.receiver))})</span>
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
        <RouteButtons id={id} title={title} routing={view.routing} />
      </div>
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

const Receivers = ({ routing, formatReceiver }: Pick<RoutingView, 'routing' | 'formatReceiver'>) => (
  <section aria-labelledby="receivers">
    <div class="act">
      <h2 id="receivers">Receivers</h2>
      {isPermitted(setRoutingCall) ? (
        <button type="button" class="plain" onClick={() => openPanel('receiver', '')}>
          New receiver
        </button>
      ) : null}
    </div>
    <table class="figures texts">
      <TableHeader columns={['Receiver', 'Notifies', 'Resolved alerts', 'Routes']} />
      <tbody>
        {routing.receivers.map(({ name, sendResolved }) => (
          <tr key={name}>
            <td>
              <button type="button" class="value opens" onClick={() => openPanel('receiver', name)}>
                {renderText(name)}
              </button>
            </td>
            <td>{renderText(formatReceiver(name))}</td>
            <td>{sendResolved ? 'notified' : 'not notified'}</td>
            <td>
              {findRoutesTo(routing, (receiver) => receiver.name === name).length || (
                <span class="text-warn">no route</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

const TimeIntervals = ({ routing: { timeIntervals } }: { readonly routing: AlertRouting }) => (
  <section aria-labelledby="time-intervals">
    <div class="act">
      <h2 id="time-intervals">Time intervals</h2>
      {isPermitted(setRoutingCall) ? (
        <button type="button" class="plain" onClick={() => openPanel('times', '')}>
          New time interval
        </button>
      ) : null}
    </div>
    {timeIntervals.length === 0 ? (
      <p class="soft">Routes can be muted, or active only, during named time intervals such as weekends.</p>
    ) : (
      <table class="figures texts">
        <TableHeader columns={['Name', 'Times']} />
        <tbody>
          {timeIntervals.map((intervals) => (
            <tr key={intervals.name}>
              <td>
                <button type="button" class="value opens" onClick={() => openPanel('times', intervals.name)}>
                  {renderText(intervals.name)}
                </button>
              </td>
              <td>{renderText(intervals.timeIntervals.map(formatInterval).join(' or '))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
);

const Tree = ({ routing, steps }: { readonly routing: AlertRouting; readonly steps: readonly Step[] }) => {
  const names = useTargetNames();
  const formatReceiver = (receiverName: string): string =>
    formatTargets(routing.receivers.find(({ name }) => name === receiverName) ?? { channelIds: [] }, names);
  const view = { routing, steps: new Map(steps.map((step) => [step.id, step])), formatReceiver };
  return (
    <>
      <ul class="routes">
        <RouteLine route={routing.route} id={rootId} view={view} />
      </ul>
      <Receivers {...view} />
      <TimeIntervals routing={routing} />
    </>
  );
};

/** The routing tree, with the result of each route for the labels in the URL. */
const TestedTree = ({ routing, labels }: { readonly routing: AlertRouting; readonly labels: string }) => {
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
      Test routing{' '}
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
    <button type="submit" class="plain">
      Test
    </button>
  </form>
);

/** Deletes a part of the routing, or explains why it cannot be deleted. */
const DeletePart = ({
  routing,
  title,
  uses,
  change: applyDeletion,
}: {
  readonly routing: AlertRouting;
  readonly title: string;
  /** Routes that use the part */
  readonly uses: number;
  readonly change: (routing: AlertRouting) => AlertRouting;
}) => {
  const change = useRoutingChange();
  if (uses > 0)
    return <p class="soft">{uses === 1 ? 'One route uses it' : `${uses} routes use it`}, so it cannot be deleted.</p>;
  return (
    <RemovalForm
      action={change.action}
      labels={['Delete', `Delete “${title}”`]}
      remove={async () => ((await change.run(applyDeletion, routing)) ? true : undefined)}
      onRemoved={closePanel}
    />
  );
};

const RoutePanel = ({ routing, id }: { readonly routing: AlertRouting; readonly id: RouteId }) => {
  const route = findRoute(routing, id);
  if (route === undefined) return <p class="soft">This route does not exist any more.</p>;
  const childCount = listRoutes({ ...routing, route }).length - 1;
  return (
    <>
      <RouteForm routing={routing} id={id} onDone={closePanel} />
      {id === rootId ? null : (
        <>
          {childCount === 0 ? null : <p class="soft">Its {childCount} child routes are deleted with it.</p>}
          <DeletePart
            routing={routing}
            title={formatRoute(route)}
            uses={0}
            change={(current) => deleteRoute(current, id)}
          />
        </>
      )}
    </>
  );
};

const ReceiverPanel = ({
  routing,
  receiver,
}: {
  readonly routing: AlertRouting;
  readonly receiver: Receiver | undefined;
}) => (
  <>
    <ReceiverForm routing={routing} receiver={receiver} onDone={closePanel} />
    {receiver === undefined ? null : (
      <DeletePart
        routing={routing}
        title={receiver.name}
        uses={listRoutes(routing).filter(({ route }) => route.receiver === receiver.name).length}
        change={(current) => deleteReceiver(current, receiver.name)}
      />
    )}
  </>
);

const TimesPanel = ({
  routing,
  intervals,
}: {
  readonly routing: AlertRouting;
  readonly intervals: NamedTimeIntervals | undefined;
}) => (
  <>
    <TimeIntervalsForm routing={routing} intervals={intervals} onDone={closePanel} />
    {intervals === undefined ? null : (
      <DeletePart
        routing={routing}
        title={intervals.name}
        uses={
          listRoutes(routing).filter(({ route: { muteTimeIntervals, activeTimeIntervals } }) =>
            [...muteTimeIntervals, ...activeTimeIntervals].includes(intervals.name),
          ).length
        }
        change={(current) => deleteTimeIntervals(current, intervals.name)}
      />
    )}
  </>
);

const Panel = ({ routing, open }: { readonly routing: AlertRouting; readonly open: string }) => {
  const separator = open.indexOf(':');
  const key = open.slice(separator + 1);
  if (!isPermitted(setRoutingCall))
    return (
      <SidePanel label="Routing" title="Routing" onClose={closePanel}>
        <p class="soft">{explainDenial(setRoutingCall, 'Editing the routing')}</p>
      </SidePanel>
    );
  switch (open.slice(0, separator) as PanelKind) {
    case 'route':
      return (
        <SidePanel label="Route" title={key === rootId ? 'Default route' : 'Route'} onClose={closePanel}>
          <RoutePanel key={open} routing={routing} id={key} />
        </SidePanel>
      );
    case 'child-of':
      return (
        <SidePanel label="Route" title="New route" onClose={closePanel}>
          <RouteForm key={open} routing={routing} parentId={key} onDone={closePanel} />
        </SidePanel>
      );
    case 'receiver':
      return (
        <SidePanel label="Receiver" title={key || 'New receiver'} onClose={closePanel}>
          <ReceiverPanel key={open} routing={routing} receiver={routing.receivers.find(({ name }) => name === key)} />
        </SidePanel>
      );
    case 'times':
      return (
        <SidePanel label="Time interval" title={key || 'New time interval'} onClose={closePanel}>
          <TimesPanel key={open} routing={routing} intervals={routing.timeIntervals.find(({ name }) => name === key)} />
        </SidePanel>
      );
    default:
      return null;
  }
};

export const Routing = () => {
  const { response, error, ...queryState } = useQuery(routingCall, {});
  const [isEditingJson, setIsEditingJson] = useState(false);
  const labels = readParam('labels');
  const open = readParam('open');
  useEscape(() => {
    if (readParam('open') !== '') closePanel();
  });
  return (
    <>
      <div class="toolbar">
        {isPermitted(routingTestCall) ? (
          <LabelsForm />
        ) : (
          <p class="soft">{explainDenial(routingTestCall, 'Testing the route')}</p>
        )}
        {isPermitted(setRoutingCall) && !isEditingJson ? (
          <>
            <button type="button" class="plain" onClick={() => setIsEditingJson(true)}>
              Edit as JSON
            </button>
            <Button kind="primary" icon={Plus} onClick={() => openPanel('child-of', rootId)}>
              New route
            </Button>
          </>
        ) : null}
      </div>
      <ErrorMessage error={error} />
      <div class={open === '' || isEditingJson ? 'list' : 'list with-record'}>
        <ScrollRegion class="scrolled" label="Routing">
          {isEditingJson ? (
            <RoutingJson onDone={() => setIsEditingJson(false)} />
          ) : response === undefined ? null : labels === '' || !isPermitted(routingTestCall) ? (
            <Tree routing={response} steps={[]} />
          ) : (
            <TestedTree routing={response} labels={labels} />
          )}
        </ScrollRegion>
        {response === undefined || isEditingJson || open === '' ? null : <Panel routing={response} open={open} />}
      </div>
      <Freshness queryState={{ response, error, ...queryState }} />
    </>
  );
};
