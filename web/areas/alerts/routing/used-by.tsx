/** Routes that notify a contact point or an escalation policy, and a way to add one */
import { useEffect } from 'preact/hooks';
import { ApiQuery } from '../../../client/query.ts';
import { toArea } from '../../../frame/address.ts';
import { renderText } from '../../../frame/display-text.tsx';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import { Link } from '../../../frame/link.tsx';
import { isPermitted } from '../../../frame/rights.ts';
import { refreshCount } from '../../../frame/time-range.ts';
import { routingCall, setRoutingCall } from '../calls.ts';
import { addDefaultTargets, findRoutesTo, type NotificationTargets, type Receiver, rootId } from './changes.ts';
import { formatRoute } from './names.ts';
import { useRoutingChange } from './use-routing-change.ts';

const storedRouting = new ApiQuery(routingCall);

/** Loads the routing for the components below, once for all rows of a list. */
export const useStoredRouting = (): void =>
  useEffect(() => {
    storedRouting.run({});
    return () => storedRouting.cancel();
  }, [refreshCount.value]);

interface Props {
  /** Whether a receiver notifies the contact point or the escalation policy */
  readonly isRequested: (receiver: Receiver) => boolean;
}

/** Number of routes, with a warning if there is none. */
export const RouteCount = ({ isRequested }: Props) => {
  const { response } = storedRouting.state.value;
  if (response === undefined) return null;
  const count = findRoutesTo(response, isRequested).length;
  return count === 0 ? <span class="text-warn">no route</span> : <span>{count}</span>;
};

/** List of routes. If there is none, a button adds the targets to the default route. */
export const RoutesToTargets = ({
  noun,
  name,
  targets,
  isRequested,
}: Props & {
  /** What the targets are, for example `contact point` */
  readonly noun: string;
  readonly name: string;
  readonly targets: NotificationTargets;
}) => {
  const change = useRoutingChange();
  const { response, error } = storedRouting.state.value;
  if (response === undefined) return <ErrorMessage error={error} />;
  const routes = findRoutesTo(response, isRequested);
  return (
    <section aria-label="Routes">
      <h3>Routes</h3>
      {routes.length === 0 ? (
        <p class="text-warn">No route notifies this {noun}, so no alert reaches it.</p>
      ) : (
        <ul>
          {routes.map(({ id, route }) => (
            <li key={id}>
              <Link url={toArea('/alerts/routing', { open: `route:${id}` })}>
                {id === rootId ? 'Default route' : renderText(formatRoute(route))}
              </Link>
            </li>
          ))}
        </ul>
      )}
      <div class="act">
        {routes.length > 0 || !isPermitted(setRoutingCall) ? null : (
          <button
            type="button"
            disabled={change.isRunning}
            onClick={() => void change.run((routing) => addDefaultTargets(routing, targets))}
          >
            Add to the default route
          </button>
        )}
        <Link
          url={toArea('/alerts/routing', {
            open: `child-of:${rootId}`,
            notify: JSON.stringify(targets),
            receiver: name,
          })}
        >
          Add route
        </Link>
      </div>
      <ErrorMessage error={change.error} />
    </section>
  );
};
