/** Changes of the stored routing, each based on its newest version */
import { useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import { CallError, requestVersioned } from '../../../client/request.ts';
import { refresh } from '../../../frame/time-range.ts';
import { routingCall, setRoutingCall } from '../calls.ts';
import type { AlertRouting } from './changes.ts';

/**
 * Returns an action that applies a change to the stored routing and resolves to `true` if the result was stored. With
 * `displayed`, the change is refused if the stored routing differs from the displayed one.
 */
export const useRoutingChange = () => {
  const [action] = useState(() => new Action(setRoutingCall));
  const { isRunning, error } = action;
  return {
    action,
    isRunning: isRunning.value,
    error: error.value,
    async run(change: (routing: AlertRouting) => AlertRouting, displayed?: AlertRouting): Promise<boolean> {
      const current = await requestVersioned(routingCall).catch((reason: unknown) => {
        if (!(reason instanceof CallError)) throw reason;
        error.value = reason;
        return undefined;
      });
      if (current === undefined) return false;
      if (displayed !== undefined && JSON.stringify(displayed) !== JSON.stringify(current.body)) {
        error.value = new CallError('Somebody else has changed the routing. Check the new version, and try again.', {
          status: 412,
          code: 'PRECONDITION_FAILED',
        });
        refresh();
        return false;
      }
      const body = change(current.body);
      if (JSON.stringify(body) === JSON.stringify(current.body)) return true;
      if ((await action.run({ body, ifMatch: current.version } as never)) === undefined) return false;
      refresh();
      return true;
    },
  };
};
